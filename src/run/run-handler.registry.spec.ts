import { expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { RunHandlerRegistry, type RunHandler } from './run-handler.registry.js';
import type { RunRecord } from './run.types.js';

Logger.overrideLogger(false);
const END = { statements: [{ sql: 'DELETE FROM state', params: [] }] };

function registryOf(ending?: RunHandler['ending']): RunHandlerRegistry {
  const registry = new RunHandlerRegistry();
  const execute = () => Promise.reject(new Error('It breaks.'));
  registry.register({ kind: 'test', loopVersions: [1], execute, ...(ending && { ending }) });
  return registry;
}

it.each<[string, RunHandlerRegistry, unknown]>([
  ['the statements of its handler', registryOf(async () => END), END],
  ['nothing when its handler has no ending', registryOf(), { statements: [] }],
  [
    'nothing when the ending of its handler rejects',
    registryOf(() => Promise.reject(new Error('away'))),
    { statements: [] },
  ],
  ['nothing when its kind has no handler', new RunHandlerRegistry(), { statements: [] }],
])('ends a failed run with %s', async (_, registry, expected) => {
  expect(await registry.ending({ id: 'r', kind: 'test' } as RunRecord)).toEqual(expected);
});
