import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ALICE, aRun, openDatabase, RunHost, type OpenDatabase } from '../../../test/support/run-host.js';
import type { Statement } from '../../persistence/statement/index.js';
import { endsStream } from '../event/run-event.types.js';

let opened: OpenDatabase;
let host: RunHost;
beforeEach(async () => {
  opened = await openDatabase();
  host = new RunHost(opened.database);
});
afterEach(async () => {
  vi.useRealTimers();
  await host.executor.drain(0);
  await opened.close();
});

describe('a run queued behind one that changes to waiting', () => {
  it('closes its stream, stays queued, and starts when the first one is decided', async () => {
    const go = Promise.withResolvers<void>();
    let executions = 0;
    host.scripts.set('first', async () => {
      await go.promise;
      return ++executions === 1 ? { kind: 'waiting', requests: [] } : undefined;
    });
    await host.runs.start(aRun('first', 's'));
    const second = await host.runs.start(aRun('second', 's'));
    const items = host.listen('second');
    go.resolve();
    expect(await second.done).toBe('queued');
    expect(items.map(({ event }) => event)).toMatchObject([{ type: 'stream.closed', code: 'SESSION_BUSY' }]);
    expect((await host.journal.find('second'))?.status).toBe('queued');
    await expect(host.runs.start(aRun('third', 's'))).rejects.toMatchObject({
      code: 'SESSION_BUSY',
      details: { run_id: 'first' },
    });
    const end = host.ended('second');
    await host.runs.cancel(ALICE, 'first');
    await end;
    expect(host.executed).toEqual(['first', 'first', 'second']);
  });
});

describe('a cancel requested while the run changes to waiting', () => {
  it('is not lost', async () => {
    let executions = 0;
    host.scripts.set('a', async (_context, run) => {
      if (++executions > 1) return undefined;
      // The flag is set, and the wake-up comes too late to stop this execution.
      await host.journal.requestCancel(run, 1);
      return { kind: 'waiting', requests: [] };
    });
    const end = host.ended('a');
    await host.runs.start(aRun('a', 's'));
    await end;
    expect(executions).toBe(2);
  });
});

describe('a journal that cannot be written for a while', () => {
  it('relinquishes the run, closes its streams and resumes it later, without counting a crash', async () => {
    const commit = opened.database.commit.bind(opened.database);
    let isBroken = false;
    vi.spyOn(opened.database, 'commit').mockImplementation((batch: readonly Statement[]) =>
      isBroken ? Promise.reject(new Error('disk full')) : commit(batch),
    );
    vi.useFakeTimers({ toNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    const attempts: number[] = [];
    host.scripts.set('a', async (context, run) => {
      attempts.push(run.attempts);
      isBroken = attempts.length === 1;
      await context.step({ kind: 'model', place: '1', subject: 'm' }, async () => 'answer');
    });
    const items = host.listen('a');
    const { done } = await host.runs.start(aRun('a', 's'));
    await expect(done).rejects.toMatchObject({ code: 'JOURNAL_UNAVAILABLE' });
    expect(items.at(-1)?.event).toMatchObject({ type: 'stream.closed', code: 'JOURNAL_UNAVAILABLE' });
    const end = host.ended('a');
    await vi.advanceTimersByTimeAsync(1_000);
    isBroken = false;
    await vi.advanceTimersByTimeAsync(2_000);
    await end;
    expect(attempts).toEqual([0, 0]);
    expect(await host.journal.find('a')).toMatchObject({ status: 'completed' });
  });
});

describe('a run whose process crashed three times in the same step, the last time as the only suspect', () => {
  it('is stopped with RUN_POISONED', async () => {
    let reason: unknown;
    host.scripts.set('a', async ({ signal }) => void (reason = signal.reason));
    await host.journal.create(aRun('a', 's'), 'running', 1);
    await opened.database.commit([
      { sql: 'UPDATE run SET attempts = 2, suspicions = 1 WHERE id = ?', params: ['a'], rows: 1 },
    ]);
    const end = new Promise<void>((resolve) => {
      host.bus.subscribe('a', ({ event }) => endsStream(event) && resolve());
    });
    await host.runs.recover();
    await end;
    expect(reason).toMatchObject({ code: 'RUN_POISONED' });
  });
});

describe('runs in flight at a second crash within a minute', () => {
  it('resume one at a time, the next after a recorded step, an end, or 5 s', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const ids = ['a', 'b', 'c', 'd'];
    for (const [at, id] of ids.entries()) {
      host.scripts.set(id, async (context) => {
        if (id === 'a')
          await context.step({ kind: 'tool', place: '1:1', subject: 't' }, async () => {
            context.emit({ type: 'thought', iteration: 1, text: 'a step' });
            return 1;
          });
        if (id === 'b') return;
        // An event without a step, as at the start of a tool.
        context.emit({ type: 'thought', iteration: 2, text: 'an event' });
        await new Promise(() => undefined);
      });
      await host.journal.create(aRun(id, id), 'running', Date.now() + at);
    }
    const sql = 'UPDATE run SET attempts = 1, recovered_at = ?';
    await opened.database.commit([{ sql, params: [Date.now() - 30_000] }]);
    await host.runs.recover();
    const started = (count: number) => () => host.executed.length >= count;
    // A recorded step commits after a timer of its own, before that of a suspect.
    await until(started(3), () => vi.advanceTimersByTimeAsync(10));
    expect(host.executed).toEqual(['a', 'b', 'c']);
    expect(await host.journal.find('d')).toMatchObject({ status: 'queued', attempts: 2, suspicions: 1 });
    let rounds = 0;
    await until(
      () => ++rounds > 40,
      () => vi.advanceTimersByTimeAsync(100),
    );
    expect(host.executed).toHaveLength(3);
    await until(started(4), () => vi.advanceTimersByTimeAsync(500));
    expect(host.executed).toEqual(ids);
    expect(await host.journal.find('a')).toMatchObject({ attempts: 0, suspicions: 0 });
  });
});

describe('a second recovery', () => {
  it('does not start runs that already execute', async () => {
    const go = Promise.withResolvers<void>();
    for (const id of ['a', 'b']) {
      host.scripts.set(id, () => go.promise);
      await host.journal.create(aRun(id, id), 'running', 1);
    }
    const ends = Promise.all([host.ended('a'), host.ended('b')]);
    await host.runs.recover();
    await host.runs.recover();
    await opened.database.query('SELECT 1');
    go.resolve();
    await ends;
    expect(host.executed.toSorted()).toEqual(['a', 'b']);
  });
});

/** Repeats an action until the condition holds. */
async function until(isTrue: () => boolean, action: () => Promise<unknown>): Promise<void> {
  while (!isTrue()) {
    await action();
    await opened.database.query('SELECT 1');
  }
}
