import { describe, expect, it } from '@jest/globals';
import { retryTransient } from './transient-failure.policy.js';

const DEADLOCK = new Error('deadlock');
const isTransient = (error: unknown) => error === DEADLOCK;

/** Fails with each of the errors, then succeeds. */
function work(failures: readonly Error[]): { times: number; run: () => Promise<string> } {
  const counted = {
    times: 0,
    run: async () => {
      const failure = failures[counted.times++];
      if (failure) throw failure;
      return 'done';
    },
  };
  return counted;
}

describe('work with transient failures', () => {
  it('is retried', async () => {
    const one = work([DEADLOCK, DEADLOCK]);
    expect(await retryTransient(one.run, isTransient)).toBe('done');
    expect(one.times).toBe(3);
  });

  it('is not retried after a permanent failure', async () => {
    const broken = new Error('broken');
    const one = work([DEADLOCK, broken]);
    await expect(retryTransient(one.run, isTransient)).rejects.toBe(broken);
    expect(one.times).toBe(2);
  });

  it('fails after five attempts', async () => {
    const one = work(Array.from({ length: 9 }, () => DEADLOCK));
    await expect(retryTransient(one.run, isTransient)).rejects.toBe(DEADLOCK);
    expect(one.times).toBe(5);
  });
});
