import { expect, it } from 'vitest';
import { Worker } from 'node:worker_threads';
import type { SchemaCheckReply } from './schema-check.types.js';

const LEVELS = 21;

/** Each level refers twice to the next one: the last one is evaluated 2^20 times. */
function web(): object {
  const next = (level: number) => ({ $ref: `#/$defs/d${level + 1}` });
  const definition = (level: number) => (level === LEVELS - 1 ? false : { anyOf: [next(level), next(level)] });
  const $defs = Object.fromEntries(Array.from({ length: LEVELS }, (_, level) => [`d${level}`, definition(level)]));
  return { $ref: '#/$defs/d0', $defs };
}

it('a check collects a bounded number of errors, so that its thread does not exhaust the memory', async () => {
  const script = new URL('./schema-check.executor.ts', import.meta.url);
  const worker = new Worker(script, { env: {}, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 64 } });
  const request = { key: 'web', schema: web(), checked: { value: {} } };
  const reply = await new Promise<SchemaCheckReply>((resolve, reject) => {
    worker.on('error', reject);
    worker.on('message', (message: SchemaCheckReply) => {
      if (message.kind !== 'ready') return resolve(message);
      // The rule is for windows of a browser.
      // oxlint-disable-next-line unicorn/require-post-message-target-origin
      worker.postMessage(request);
    });
  });
  await worker.terminate();
  expect(reply).toMatchObject({ kind: 'checked', errors: { length: 300 } });
});
