import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ALICE,
  aRun,
  openDatabase,
  RunHost,
  type OpenDatabase,
  type RunScript,
} from '../../../test/support/run-host.js';
import { endsStream } from '../event/run-event.types.js';
import type { RunStatus } from '../run.types.js';

let opened: OpenDatabase;
let host: RunHost;
let hosts: RunHost[];
beforeEach(async () => {
  opened = await openDatabase();
  hosts = [];
  host = newHost();
});
afterEach(async () => {
  await Promise.all(hosts.map(({ executor }) => executor.drain(0)));
  await opened.close();
});

/** A process; a further one over the same database is the restart after a crash. */
function newHost(shutdownTimeoutMs?: number): RunHost {
  const made = new RunHost(opened.database, shutdownTimeoutMs);
  hosts.push(made);
  return made;
}

/** Runs until it is aborted. */
const ENDLESS: RunScript = ({ signal }) =>
  new Promise((_resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop);
  });

function ended(on: RunHost, ids: readonly string[]): Promise<unknown> {
  return Promise.all(
    ids.map(
      (id) =>
        new Promise<void>((resolve) => {
          on.bus.subscribe(id, ({ event }) => endsStream(event) && resolve());
        }),
    ),
  );
}

async function statuses(ids: readonly string[]): Promise<(RunStatus | undefined)[]> {
  return Promise.all(ids.map(async (id) => (await host.journal.find(id))?.status));
}

describe('a start after a crash', () => {
  it('resumes running and queued runs, in order per session, and counts the crash for running ones', async () => {
    const ids = ['s-1', 's-2', 's-3', 't-1', 't-2', 'alone'];
    for (const id of ids) host.scripts.set(id, ENDLESS);
    for (const id of ids) await host.runs.start(aRun(id, id === 'alone' ? null : id[0]!));
    expect(await statuses(ids)).toEqual(['running', 'queued', 'queued', 'running', 'queued', 'running']);

    const next = newHost();
    const attempts: Record<string, number> = {};
    for (const id of ids) next.scripts.set(id, async (_context, run) => void (attempts[id] = run.attempts));
    const all = ended(next, ids);
    await next.dispatcher.recover();
    await all;
    expect(await statuses(ids)).toEqual(ids.map(() => 'completed'));
    expect(next.executed.filter((id) => id.startsWith('s'))).toEqual(['s-1', 's-2', 's-3']);
    expect(attempts).toEqual({ 's-1': 1, 's-2': 0, 's-3': 0, 't-1': 1, 't-2': 0, alone: 1 });
    expect((await next.events('s-1')).map(({ event }) => event.type)).toEqual([
      'run.started',
      'run.resumed',
      'run.completed',
    ]);
    expect((await next.events('s-2')).map(({ event }) => event.type)).toEqual(['run.started', 'run.completed']);
  });

  it('starts with the run that holds the session, even if a queued one is older', async () => {
    host.scripts.set('b', ENDLESS);
    await host.runs.start(aRun('b', 's'));
    await host.runs.start(aRun('a', 's'));
    await opened.database.commit([{ sql: `UPDATE run SET created_at = 1 WHERE id = 'a'`, params: [], rows: 1 }]);
    const next = newHost();
    const both = ended(next, ['a', 'b']);
    await next.dispatcher.recover();
    await both;
    expect(next.executed).toEqual(['b', 'a']);
  });

  it('leaves runs that wait for a decision', async () => {
    host.scripts.set('a', async () => ({ kind: 'waiting', requests: [] }));
    await (
      await host.runs.start(aRun('a', 's'))
    ).done;
    const next = newHost();
    await next.dispatcher.recover();
    await next.dispatcher.beforeApplicationShutdown();
    expect(next.executed).toEqual([]);
    expect(await statuses(['a'])).toEqual(['waiting']);
  });

  it('stops a run whose cancel was requested before the crash', async () => {
    host.scripts.set('a', ENDLESS);
    await host.runs.start(aRun('a', 's'));
    await host.journal.requestCancel((await host.journal.find('a'))!, 1);
    const next = newHost();
    let reason: unknown;
    next.scripts.set('a', async ({ signal }) => void (reason = signal.reason));
    const end = ended(next, ['a']);
    await next.dispatcher.recover();
    await end;
    expect(reason).toMatchObject({ code: 'RUN_CANCELLED' });
  });
});

describe('a shutdown', () => {
  it('requeues runs that do not end in time, without counting an attempt; queued runs stay queued', async () => {
    host.scripts.set('a', ENDLESS);
    const first = await host.runs.start(aRun('a', 's'));
    const second = await host.runs.start(aRun('b', 's'));
    const items = { a: host.listen('a'), b: host.listen('b') };
    await host.dispatcher.beforeApplicationShutdown();
    expect([await first.done, await second.done]).toEqual(['queued', 'queued']);
    expect(items.a.at(-1)?.event).toMatchObject({ type: 'stream.closed', code: 'SHUTTING_DOWN' });
    expect(items.b.map(({ event }) => event.type)).toEqual(['stream.closed']);
    expect(await host.journal.find('a')).toMatchObject({ status: 'queued', attempts: 0 });
    await expect(host.runs.start(aRun('c', 't'))).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });

    const next = newHost();
    const attempts: number[] = [];
    next.scripts.set('a', async (_context, run) => void attempts.push(run.attempts));
    const both = ended(next, ['a', 'b']);
    await next.dispatcher.recover();
    await both;
    expect(next.executed).toEqual(['a', 'b']);
    expect(attempts).toEqual([0]);
  });

  it('waits for runs that end in time, and starts no queued run after them', async () => {
    const patient = newHost(9000);
    const go = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    patient.scripts.set('a', () => (started.resolve(), go.promise));
    const first = await patient.runs.start(aRun('a', 's'));
    const second = await patient.runs.start(aRun('b', 's'));
    await started.promise;
    const closed = patient.dispatcher.beforeApplicationShutdown();
    go.resolve();
    await closed;
    expect([await first.done, await second.done]).toEqual(['completed', 'queued']);
    expect(await statuses(['a', 'b'])).toEqual(['completed', 'queued']);
  });

  it('also waits for a run admitted just before it', async () => {
    for (const id of ['a', 'b']) host.scripts.set(id, ENDLESS);
    const starting = ['a', 'b'].map((id) => host.runs.start(aRun(id, 's')));
    await host.dispatcher.beforeApplicationShutdown();
    for (const one of starting) expect(await (await one).done).toBe('queued');
    expect(await statuses(['a', 'b'])).toEqual(['queued', 'queued']);
  });

  it('applies a cancel requested after the run was requeued', async () => {
    host.scripts.set('a', ENDLESS);
    const { done } = await host.runs.start(aRun('a', 's'));
    await host.dispatcher.beforeApplicationShutdown();
    await done;
    const next = newHost();
    const reasons: unknown[] = [];
    next.scripts.set('a', async ({ signal }) => void reasons.push(signal.reason));
    const end = ended(next, ['a']);
    await Promise.all([next.dispatcher.recover(), next.runs.cancel(ALICE, 'a')]);
    await end;
    expect(reasons).toMatchObject([{ code: 'RUN_CANCELLED' }]);
  });
});
