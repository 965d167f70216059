// The server as `npm start` runs it, with a tool whose results are as long as requested.
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { serve, Tool } from '../../dist/index.js';

class Archive {
  async read_archive({ bytes }) {
    appendFileSync(join(process.env.DATA_DIR, 'effects'), 'read\n');
    return Buffer.alloc(bytes, 'a').toString();
  }
}
const input = { type: 'object', properties: { bytes: { type: 'integer' } }, required: ['bytes'] };
const { prototype } = Archive;
const descriptor = Object.getOwnPropertyDescriptor(prototype, 'read_archive');
Tool({ description: 'Reads the archive.', effect: 'once', input })(prototype, 'read_archive', descriptor);

const { url } = await serve({ tools: [Archive], config: { PORT: '0' } });
process.stdout.write(`ready ${url}\n`);
