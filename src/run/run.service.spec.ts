import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ALICE, aRun, openDatabase, RunHost, type OpenDatabase, type RunScript } from '../../test/support/run-host.js';
import { isTerminal } from './event/run-event.types.js';
import type { RunStatus } from './run.types.js';

let opened: OpenDatabase;
let host: RunHost;
beforeEach(async () => {
  opened = await openDatabase();
  host = new RunHost(opened.database);
});
afterEach(async () => {
  await expectNothingHeld();
  await host.executor.drain(0);
  await opened.close();
});

async function expectNothingHeld(): Promise<void> {
  const select = `SELECT id, status FROM run WHERE session_slot IS NOT NULL AND status IN ('completed', 'failed', 'cancelled')`;
  expect(await opened.database.query(select)).toEqual([]);
}

interface Held {
  readonly script: RunScript;
  /** Resolves when the run executes. */
  readonly started: Promise<void>;
  release(): void;
}

/** A run that continues when it is released, or stops when it is aborted. */
function held(): Held {
  const started = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const script: RunScript = async ({ signal }) => {
    started.resolve();
    signal.addEventListener('abort', () => released.reject(signal.reason), { once: true });
    if (signal.aborted) released.reject(signal.reason);
    await released.promise;
  };
  return { script, started: started.promise, release: released.resolve };
}

/** A run that waits for a decision in its first execution, and ends as cancelled once it is aborted. */
const WAITS: RunScript = async ({ signal }) => {
  if (!signal.aborted) return { kind: 'waiting', requests: [] };
  return { kind: 'finished', event: { type: 'run.cancelled', run_id: '', ...RESULT }, statements: [] };
};
const RESULT = {
  result: '',
  finish_reason: 'cancelled',
  is_complete: false,
  iterations: 0,
  usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  model: '',
} as const;

/** Starts a run that holds a session until its release. */
async function hold(id: string, sessionId: string | null): Promise<Held & { done: Promise<RunStatus> }> {
  const one = held();
  host.scripts.set(id, one.script);
  const { done } = await host.runs.start(aRun(id, sessionId));
  await one.started;
  return { ...one, done };
}

/** Acts at the moment when a run's end is published. */
function atEndOf<T>(runId: string, act: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    host.bus.subscribe(runId, ({ event }) => {
      if (isTerminal(event)) act().then(resolve, reject);
    });
  });
}

describe('a session', () => {
  it('executes one run at a time, in order of arrival', async () => {
    const first = await hold('a', 's');
    const ids = ['b', 'c', 'd', 'e'];
    const rest = await Promise.all(ids.map((id) => host.runs.start(aRun(id, 's'))));
    expect(host.executed).toEqual(['a']);
    first.release();
    await Promise.all(rest.map(({ done }) => done));
    expect(host.executed).toEqual(['a', ...ids]);
  });

  it('does not let a run that arrives at the end of another overtake queued ones', async () => {
    const first = await hold('a', 's');
    const second = await host.runs.start(aRun('b', 's'));
    const third = atEndOf('a', () => host.runs.start(aRun('c', 's')));
    first.release();
    await Promise.all([second.done, (await third).done]);
    expect(host.executed).toEqual(['a', 'b', 'c']);
  });

  it('does not let it overtake one that has just arrived either', async () => {
    const first = await hold('a', 's');
    const third = atEndOf('a', () => host.runs.start(aRun('c', 's')));
    first.release();
    const second = await host.runs.start(aRun('b', 's'));
    await Promise.all([second.done, (await third).done]);
    expect(host.executed).toEqual(['a', 'b', 'c']);
  });

  it('does not block a session of another tenant with the same id', async () => {
    const first = await hold('a', 's');
    const bob = { id: 'bob', tenant: 'other', roles: [] };
    const other = await host.runs.start(aRun('b', 's', { principal: bob }));
    expect(await other.done).toBe('completed');
    first.release();
    expect(await first.done).toBe('completed');
  });

  it('rejects further runs while a run waits, and names the run to decide', async () => {
    host.scripts.set('a', WAITS);
    expect(await (await host.runs.start(aRun('a', 's'))).done).toBe('waiting');
    await expect(host.runs.start(aRun('b', 's'))).rejects.toMatchObject({
      code: 'SESSION_BUSY',
      details: { run_id: 'a' },
    });
    expect(await host.journal.find('b')).toBeNull();
    expect(host.bus.hasListeners('b')).toBe(false);
  });

  it('starts runs that were queued before its run waited, once that run is cancelled', async () => {
    const decided = held();
    host.scripts.set('a', async (context, run) => {
      if (run.epoch === 1) await decided.script(context, run);
      return WAITS(context, run);
    });
    const first = await host.runs.start(aRun('a', 's'));
    await decided.started;
    const second = await host.runs.start(aRun('b', 's'));
    decided.release();
    expect(await first.done).toBe('waiting');
    expect(await second.done).toBe('queued');
    const end = host.ended('b');
    await host.runs.cancel(ALICE, 'a');
    await end;
    expect(host.executed).toEqual(['a', 'a', 'b']);
    expect(await host.journal.find('a')).toMatchObject({ status: 'cancelled' });
  });
});

describe('cancelling a run', () => {
  it('stops a running run', async () => {
    const one = await hold('a', 's');
    await host.runs.cancel(ALICE, 'a');
    await one.done;
    expect(await host.journal.find('a')).toMatchObject({ status: 'failed', cancelRequestedAt: expect.any(Number) });
  });

  it('ends a queued run at once, and the next one takes its place', async () => {
    const first = await hold('a', 's');
    const second = await host.runs.start(aRun('b', 's'));
    const third = await host.runs.start(aRun('c', 's'));
    expect(await host.runs.cancel(ALICE, 'b')).toMatchObject({ status: 'cancelled', finishedAt: expect.any(Number) });
    expect(await second.done).toBe('cancelled');
    expect((await host.events('b')).map(({ n, event }) => [n, event.type])).toEqual([[1, 'run.cancelled']]);
    first.release();
    expect(await third.done).toBe('completed');
    expect(host.executed).toEqual(['a', 'c']);
  });

  it('does not block the runs behind it at the moment of its start', async () => {
    const first = await hold('a', 's');
    const second = await host.runs.start(aRun('b', 's'));
    const third = await host.runs.start(aRun('c', 's'));
    const cancelled = atEndOf('a', () => host.runs.cancel(ALICE, 'b'));
    first.release();
    await cancelled;
    expect(['cancelled', 'completed', 'failed']).toContain(await second.done);
    expect(await third.done).toBe('completed');
  });

  it('ends a waiting run', async () => {
    host.scripts.set('a', WAITS);
    await (
      await host.runs.start(aRun('a', 's'))
    ).done;
    const closed = atEndOf('a', async () => undefined);
    await host.runs.cancel(ALICE, 'a');
    await closed;
    expect(await host.journal.find('a')).toMatchObject({ status: 'cancelled' });
    const steps = await host.journal.steps('a');
    expect(steps).toMatchObject([{ name: 'answer:1', kind: 'answer', subject: 'cancel' }]);
  });

  it.each(['completed', 'failed', 'cancelled'])('is refused when the run is %s', async (status) => {
    host.scripts.set('a', async (context) => {
      if (status === 'failed') throw new Error('broken');
      if (status === 'completed') return;
      await host.runs.cancel(ALICE, 'a');
      return WAITS(context, (await host.journal.find('a'))!);
    });
    expect(await (await host.runs.start(aRun('a', 's'))).done).toBe(status);
    await expect(host.runs.cancel(ALICE, 'a')).rejects.toMatchObject({
      code: 'RUN_NOT_CANCELLABLE',
      details: { run_status: status },
    });
  });

  it('is refused as not found for a run of another tenant', async () => {
    const one = await hold('a', 's');
    const eve = { id: 'eve', tenant: 'other', roles: ['admin'] };
    await expect(host.runs.cancel(eve, 'a')).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    one.release();
    expect(await one.done).toBe('completed');
  });
});
