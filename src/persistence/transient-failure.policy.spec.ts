import { describe, expect, it } from 'vitest';
import { TransientRetry } from './transient-failure.policy.js';

const DEADLOCK = new Error('deadlock');
const retry = new TransientRetry((error) => error === DEADLOCK);

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
    expect(await retry.run(one.run)).toBe('done');
    expect(one.times).toBe(3);
  });

  it('is not retried after a permanent failure', async () => {
    const broken = new Error('broken');
    const one = work([DEADLOCK, broken]);
    await expect(retry.run(one.run)).rejects.toBe(broken);
    expect(one.times).toBe(2);
  });

  it('fails after five attempts', async () => {
    const one = work(Array.from({ length: 9 }, () => DEADLOCK));
    await expect(retry.run(one.run)).rejects.toBe(DEADLOCK);
    expect(one.times).toBe(5);
  });

  it('is retried one at a time, after the work that still runs', async () => {
    const retried: string[] = [];
    let others = 0;
    const victim = (name: string) => {
      const one = work([DEADLOCK]);
      return retry.run(async () => {
        if (one.times > 0) retried.push(`${name} with ${others} others`);
        return one.run();
      });
    };
    const { promise, resolve } = Promise.withResolvers<void>();
    others++;
    const other = retry.run(async () => {
      await promise;
      others--;
    });
    const victims = [victim('a'), victim('b')];
    await new Promise((done) => setTimeout(done, 50));
    expect(retried).toEqual([]);
    resolve();
    await Promise.all([other, ...victims]);
    expect(retried).toEqual(['a with 0 others', 'b with 0 others']);
  });
});
