// The server as `npm start` runs it, with a tool whose effects are lines of EFFECTS_FILE.
import { appendFileSync } from 'node:fs';
import { serve, Tool } from '../../dist/index.js';

class Parcels {
  async send_parcel({ to, waitMs = 0 }) {
    appendFileSync(process.env.EFFECTS_FILE, `${to}\n`);
    process.stdout.write(`sending ${to}\n`);
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    return `sent to ${to}`;
  }
}
const input = {
  type: 'object',
  properties: { to: { type: 'string' }, waitMs: { type: 'integer' } },
  required: ['to'],
};
const { prototype } = Parcels;
const descriptor = Object.getOwnPropertyDescriptor(prototype, 'send_parcel');
Tool({ description: 'Sends a parcel.', effect: 'once', input })(prototype, 'send_parcel', descriptor);

const { url } = await serve({ tools: [Parcels], config: { PORT: process.env.PORT ?? '0' } });
process.stdout.write(`ready ${url}\n`);
