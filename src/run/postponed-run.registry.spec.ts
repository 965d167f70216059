import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RunHost, aRun, openDatabase, type OpenDatabase } from '../../test/support/run-host.js';
import { AppError } from '../errors/index.js';
import { PostponedRunRegistry } from './postponed-run.registry.js';
import type { RunRecord } from './run.types.js';
import { eventually } from '../../test/support/eventually.js';

const NOW = 1_800_000_000_000;
const HOUR_MS = 3_600_000;

const down = (retryAfterMs: number) =>
  new AppError('MODEL_UNAVAILABLE', 'away', { isRetryable: true, details: { retry_after_ms: retryAfterMs } });

describe('PostponedRunRegistry', () => {
  const started: string[] = [];
  let admit: (requests: number, circuit: string) => void;
  /** The circuits of the models of these outages. */
  const circuits = new WeakMap<Error, string>();
  const outageAt = (circuit: string) => {
    const outage = down(60_000);
    circuits.set(outage, circuit);
    return outage;
  };
  let registry: PostponedRunRegistry;
  const add = (id: string, more: Partial<RunRecord> = {}) => {
    const run = { id, status: 'queued', notBefore: NOW + 60_000, cancelRequestedAt: null, ...more } as RunRecord;
    return registry.add(run, () => started.push(id));
  };

  beforeEach(() => {
    vi.useFakeTimers({ now: NOW });
    started.length = 0;
    registry = new PostponedRunRegistry(
      { outagePatienceMs: HOUR_MS },
      {
        onAdmission: (one) => void (admit = one),
        circuitOf: (error) => circuits.get(error),
      },
    );
  });
  afterEach(() => {
    registry.onModuleDestroy();
    vi.useRealTimers();
  });

  it('starts each run when it is due, also after a jump of the wall clock', () => {
    add('late');
    add('early', { notBefore: NOW + 2_000 });
    vi.setSystemTime(NOW - HOUR_MS);
    vi.advanceTimersByTime(1_999);
    expect(started).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(started).toEqual(['early']);
    vi.advanceTimersByTime(58_000);
    expect(started).toEqual(['early', 'late']);
    expect(registry.has('late')).toBe(false);
  });

  it('starts as many runs earlier as a circuit admits, the first ones first', () => {
    for (const id of ['one', 'two', 'three', 'four']) {
      registry.noteOutage(id, outageAt('a'));
      add(id);
    }
    admit(1, 'a');
    expect(started).toEqual(['one']);
    admit(2, 'a');
    expect(started).toEqual(['one', 'two', 'three']);
    admit(Number.POSITIVE_INFINITY, 'a');
    expect(started).toHaveLength(4);
  });

  it('starts no run earlier whose model is another one, or unknown', () => {
    registry.noteOutage('of b', outageAt('b'));
    registry.noteOutage('of a', outageAt('a'));
    for (const id of ['of b', 'unknown', 'of a']) add(id);
    admit(Number.POSITIVE_INFINITY, 'a');
    expect(started).toEqual(['of a']);
    vi.advanceTimersByTime(60_000);
    expect(started).toEqual(['of a', 'of b', 'unknown']);
  });

  it('starts a parent with the circuit of its child run', () => {
    registry.noteOutage('child', outageAt('a'));
    add('child');
    const outage = new AppError('MODEL_UNAVAILABLE', 'away', { isRetryable: true, details: { run_id: 'child' } });
    registry.noteOutage('parent', outage);
    add('parent');
    admit(Number.POSITIVE_INFINITY, 'a');
    expect(started).toEqual(['child', 'parent']);
  });

  it('does not delay a run that is due or cancelled', () => {
    expect(add('due', { notBefore: NOW })).toBe(false);
    expect(add('cancelled', { cancelRequestedAt: NOW })).toBe(false);
    expect(add('new', { notBefore: null })).toBe(false);
  });
});

describe('a postponed run of one process', () => {
  let opened: OpenDatabase;
  beforeEach(async () => void (opened = await openDatabase()));
  afterEach(() => opened.close());

  /** Starts a background run that its provider postpones for a while. */
  async function postpone(host: RunHost, id: string, forMs: number): Promise<void> {
    host.scripts.set(id, async () => ({ kind: 'postponed', outage: down(forMs) }));
    await host.runs.submit(aRun(id, 'talk'));
    await eventually(async () => expect((await host.journal.find(id))?.notBefore).not.toBeNull());
  }

  it('does not start before its time after a restart, nor does another run of its session; a cancel starts it', async () => {
    await postpone(new RunHost(opened.database), 'held', HOUR_MS);
    const next = new RunHost(opened.database);
    await next.runs.recover();
    await next.runs.submit(aRun('behind', 'talk'));
    await next.runs.submit(aRun('other', 'elsewhere'));
    await eventually(async () => expect((await next.journal.find('other'))?.status).toBe('completed'));
    expect(next.executed).toEqual(['other']);
    expect(await next.journal.find('held')).toMatchObject({ status: 'queued', epoch: 1, attempts: 0 });
    await next.cancels.cancel('held');
    await eventually(async () => expect((await next.journal.find('behind'))?.status).toBe('completed'));
    expect(next.executed).toEqual(['other', 'held', 'behind']);
  });

  it('does not block the recovery of other runs', async () => {
    const first = new RunHost(opened.database);
    for (let i = 0; i < 60; i++) {
      first.scripts.set(`held-${i}`, async () => ({ kind: 'postponed', outage: down(HOUR_MS) }));
      await first.runs.submit(aRun(`held-${i}`));
    }
    await eventually(async () => expect((await first.journal.find('held-59'))?.notBefore).not.toBeNull());
    await first.journal.create(aRun('crashed'), 'running', Date.now());
    const next = new RunHost(opened.database);
    await next.runs.recover();
    await eventually(async () => expect((await next.journal.find('crashed'))?.status).toBe('completed'));
    expect(next.executed).toEqual(['crashed']);
  });
});
