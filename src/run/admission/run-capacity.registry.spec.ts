import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { loadConfig } from '../../config/index.js';
import type { Database } from '../../persistence/index.js';
import { RunCapacityRegistry } from './run-capacity.registry.js';
import { RunLoadStore } from './run-admission.service.js';

const RUN = { tenant: 'a', agent: 'x' };

describe('the capacity of a process', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  /** With one place, which is taken. Without shared limits the store is not read. */
  function full(): RunCapacityRegistry {
    const { config } = loadConfig({ env: { RUN_CONCURRENCY: '1', RUN_QUEUE_WAIT_MS: '60000' } });
    const capacity = new RunCapacityRegistry(new RunLoadStore({} as Database), config.run, config.database);
    expect(capacity.acquire(RUN)).toBe(true);
    return capacity;
  }

  it('goes to a waiting client if no queued run takes the place that was left to it', async () => {
    const capacity = full();
    const chat = capacity.acquireFor(RUN, {});
    // A queued run found no place, and is then cancelled.
    expect(capacity.acquire(RUN)).toBe(false);
    capacity.release(RUN);
    expect(capacity.isTaken).toBe(true);
    await vi.advanceTimersByTimeAsync(500);
    expect(await chat).toBe(true);
  });

  it('goes to a queued run while clients wait, and to a client with the next place', async () => {
    const capacity = full();
    const chat = capacity.acquireFor(RUN, {});
    expect(capacity.acquire(RUN)).toBe(false);
    capacity.release(RUN);
    expect(capacity.acquire(RUN)).toBe(true);
    capacity.release(RUN);
    expect(await chat).toBe(true);
  });

  it('suggests a short delay while its rate is unknown', () => {
    const capacity = full();
    void capacity.acquireFor(RUN, {});
    let delayMs: unknown;
    try {
      capacity.checkWait();
    } catch (error) {
      delayMs = (error as { details: Record<string, unknown> }).details['retry_after_ms'];
    }
    expect(delayMs).toBeGreaterThanOrEqual(1_000);
    expect(delayMs).toBeLessThanOrEqual(2_000);
  });
});
