// A server with tools that WORKERS starts several times, as the program of an application does. Prints "ready <url>" when
// all workers listen; EFFECTS_FILE gets a line for each execution of a tool, with its process.
import cluster from 'node:cluster';
import { appendFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { serve, Tool } from '../../dist/index.js';

class Parcels {
  async send_parcel({ to, waitMs = 0 }) {
    await setTimeout(waitMs);
    appendFileSync(process.env.EFFECTS_FILE, `${to} ${process.pid}\n`);
    return `sent to ${to}`;
  }
  approve_parcel({ to }) {
    return `approved ${to}`;
  }
}
const input = {
  type: 'object',
  properties: { to: { type: 'string' }, waitMs: { type: 'integer' } },
  required: ['to'],
};
const { prototype } = Parcels;
const decorate = (name, handling) =>
  Tool({ description: 'Handles a parcel.', input, ...handling })(
    prototype,
    name,
    Object.getOwnPropertyDescriptor(prototype, name),
  );
decorate('send_parcel', { effect: 'idempotent' });
decorate('approve_parcel', { effect: 'read', approval: 'always' });

const { url } = await serve({ tools: [Parcels], config: { PORT: process.env.PORT ?? '0' } });
if (cluster.isPrimary) process.stdout.write(`ready ${url}\n`);
