import { describe, expect, it } from 'vitest';
import { availableParallelism } from 'node:os';
import { parseWorkers, workerNumber, workersToStart } from './worker.loader.js';

describe('WORKERS', () => {
  it.each([
    ['1', 1],
    ['256', 256],
    ['auto', 'auto'],
    ['0', undefined],
    ['257', undefined],
    ['-1', undefined],
    ['2.0', undefined],
    ['AUTO', undefined],
    ['', undefined],
  ])('is parsed: %j', (text, workers) => {
    expect(parseWorkers(text)).toBe(workers);
  });

  it.each([
    [{}, 1],
    [{ WORKERS: ' 3 ' }, 3],
    [{ WORKERS: '3', JACKDAW_WORKERS: '4' }, 4],
    [{ WORKERS: '3', JACKDAW_WORKERS: '' }, 3],
    [{ WORKERS: 'auto' }, availableParallelism()],
    // The process that serves reports the error.
    [{ WORKERS: 'many' }, 1],
  ])('given in code as %j starts %i processes', (variables, count) => {
    expect(workersToStart(variables, false)).toBe(count);
  });

  it('has no number in a process that no supervisor started', () => {
    expect(workerNumber()).toBeUndefined();
  });
});
