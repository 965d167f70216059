import { afterEach, describe, expect, it } from 'vitest';
import { Worker } from 'node:worker_threads';
import { dayOf, TimeLimit } from './clock.js';

it('returns the UTC day of a time, independent of earlier calls', () => {
  const midnight = Date.UTC(2027, 1, 1);
  const times = [midnight - 1, midnight, midnight - 1, midnight + 86_399_999, midnight + 86_400_000, 0, -1];
  const days = ['2027-01-31', '2027-02-01', '2027-01-31', '2027-02-01', '2027-02-02', '1970-01-01', '1969-12-31'];
  expect(times.map(dayOf)).toEqual(days);
});

/** Blocks the event loop, as a suspension of the process would. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe('TimeLimit', () => {
  let worker: Worker | undefined;
  let limit: TimeLimit;
  afterEach(async () => {
    limit.clear();
    await worker?.terminate();
    worker = undefined;
  });

  /** The end of a wait with a limit of 100 ms; `answered` stops the limit. */
  function outcome(answered?: (clear: () => void) => void): Promise<string> {
    return new Promise((resolve) => {
      limit = new TimeLimit(100, (isLate) => resolve(isLate ? 'late time-out' : 'time-out'));
      answered?.(() => {
        limit.clear();
        resolve('answer');
      });
    });
  }

  it('reports a time-out', async () => {
    expect(await outcome()).toBe('time-out');
  });

  it('reports a time-out after a suspension as late', async () => {
    const ended = outcome();
    block(800);
    expect(await ended).toBe('late time-out');
  });

  it.each([200, 800])('accepts an answer that arrived while the event loop was blocked for %i ms', async (ms) => {
    worker = new Worker(
      `const { parentPort } = require('node:worker_threads');
       parentPort.on('message', () => parentPort.postMessage('answer'));
       parentPort.postMessage('ready');`,
      { eval: true },
    );
    await new Promise((resolve) => worker!.once('message', resolve));
    // Timers follow the immediates, so that the limit is due before the next poll for I/O.
    await new Promise((resolve) => setImmediate(resolve));
    const ended = outcome((clear) => worker!.once('message', clear));
    // The rule is for windows of a browser.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    worker.postMessage('ask');
    block(ms);
    expect(await ended).toBe('answer');
  });

  it('starts again with the same or another limit', async () => {
    const ended = outcome();
    limit.restart();
    limit.restart(50);
    expect(await ended).toBe('time-out');
  });
});
