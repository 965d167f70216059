// A server of its own process, to be killed: the compiled application with tools that leave a mark each time they run.
// EFFECTS_FILE gets a line for every execution; BLOCK_AT names the one ("read_step 3") that never comes to its end.
import { appendFileSync } from 'node:fs';
import { createApp } from '../../dist/bootstrap.js';
import { Tool } from '../../dist/index.js';

const { EFFECTS_FILE, BLOCK_AT, PORT = '0' } = process.env;

/** What every step does: it leaves its mark, then answers, or blocks. */
async function perform(tool, { step }) {
  const mark = `${tool} ${step}`;
  appendFileSync(EFFECTS_FILE, `${mark}\n`);
  process.stdout.write(`performing ${mark}\n`);
  if (mark === BLOCK_AT) await new Promise(() => undefined);
  return `did step ${step}`;
}

class StepTools {
  read_step(input) {
    return perform('read_step', input);
  }
  idempotent_step(input) {
    return perform('idempotent_step', input);
  }
  once_step(input) {
    return perform('once_step', input);
  }
  approved_step(input) {
    return perform('approved_step', input);
  }
}

const input = {
  type: 'object',
  properties: { step: { type: 'integer' } },
  required: ['step'],
  additionalProperties: false,
};
// Plain JavaScript: the decorator is called as a function, so that no build step is needed.
for (const kind of ['read', 'idempotent', 'once', 'approved']) {
  const name = `${kind}_step`;
  const descriptor = Object.getOwnPropertyDescriptor(StepTools.prototype, name);
  const handling = kind === 'approved' ? { approval: 'always' } : { effect: kind };
  Tool({ name, description: `Does a step (${kind}).`, ...handling, input })(StepTools.prototype, name, descriptor);
}

const app = await createApp({ tools: [StepTools] });
await app.listen(Number(PORT), '127.0.0.1');
process.stdout.write(`ready ${await app.getUrl()}\n`);
