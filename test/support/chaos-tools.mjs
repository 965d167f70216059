import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { setTimeout as passes } from 'node:timers/promises';
import { suspend } from '../../dist/tool/index.js';
import { Tool } from '../../dist/index.js';
import { reach } from './chaos-point.mjs';

const { EFFECTS_FILE } = process.env;

/** Tools whose effects are counted: each appends a line to EFFECTS_FILE that survives every crash. */
export class ChaosTools {
  read(input, context) {
    return perform('read', 'read', input, context);
  }
  idempotent(input, context) {
    return perform('idempotent', 'idempotent', input, context);
  }
  once(input, context) {
    return perform('once', 'once', input, context);
  }
  approved(input, context) {
    return perform('once', 'approved', input, context);
  }
  asking(input, context) {
    return context.answer ? perform('once', 'asking', input, context) : suspend({ question: `May ${input.id} be?` });
  }
  known(input, context) {
    return perform('once', 'known', input, context);
  }

  /** The true outcome of a call, as an external service would report it by the call's key. */
  findOut(key) {
    const happened = existsSync(EFFECTS_FILE) && readFileSync(EFFECTS_FILE, 'utf8').includes(`"${key}"`);
    return happened ? { outcome: 'succeeded', result: 'found out' } : { outcome: 'not_happened' };
  }
}

/** The effect happens in the middle of a delay, so that calls overlap and a crash can happen at any moment of it. */
async function perform(effect, tool, { id, before, after }, { key, runId }) {
  await passes(before);
  reach(`${effect}.before`);
  record({ effect, tool, id, key, runId, at: Date.now(), pid: process.pid });
  reach(`${effect}.after`);
  await passes(after);
  return `did ${id}`;
}

function record(line) {
  const file = openSync(EFFECTS_FILE, 'a');
  writeSync(file, `${JSON.stringify(line)}\n`);
  fsyncSync(file);
  closeSync(file);
}

const input = {
  type: 'object',
  properties: { id: { type: 'string' }, before: { type: 'integer' }, after: { type: 'integer' } },
  required: ['id', 'before', 'after'],
  additionalProperties: false,
};
const options = {
  read: { effect: 'read' },
  idempotent: { effect: 'idempotent' },
  once: {},
  approved: { approval: 'always' },
  asking: {},
  known: { reconcile: 'findOut' },
};
// Plain JavaScript: the decorator is called as a function, so that no build step is needed.
for (const [name, more] of Object.entries(options)) {
  const descriptor = Object.getOwnPropertyDescriptor(ChaosTools.prototype, name);
  Tool({ name, description: `Has an effect (${name}).`, input, ...more })(ChaosTools.prototype, name, descriptor);
}
