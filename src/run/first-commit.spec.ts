import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { setImmediate as nextTurn, setTimeout as elapse } from 'node:timers/promises';
import { aRun, openDatabase, RunHost, type OpenDatabase } from '../../test/support/run-host.js';
import type { StartRun } from './run.types.js';

const FIRST = { isFirstOfSession: true } as const;
const UNOBSERVED = { ...FIRST, isPublishedWhole: true } as const;

let opened: OpenDatabase;
let host: RunHost;
beforeEach(async () => {
  opened = await openDatabase();
  host = new RunHost(opened.database);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await host.executor.drain(0);
  await opened.close();
});

/** Starts a run that checks, after `wait`, whether the journal holds it. */
async function isJournaledAfter(wait: () => Promise<unknown>, more: Partial<StartRun>): Promise<boolean> {
  let isJournaled = false;
  host.scripts.set('a', async () => {
    await wait();
    isJournaled = (await host.journal.find('a')) !== null;
  });
  const { done } = await host.runs.start(aRun('a', 's', more));
  await done;
  return isJournaled;
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await nextTurn();
}

describe('the start of a run', () => {
  it('shares one commit with the end of an unobserved run', async () => {
    expect(await isJournaledAfter(nextTurn, UNOBSERVED)).toBe(false);
    expect(await host.journal.find('a')).toMatchObject({ status: 'completed' });
    expect((await host.events('a')).map(({ n, event }) => [n, event.type])).toEqual([
      [1, 'run.started'],
      [2, 'run.completed'],
    ]);
  });

  it('waits at most 2 ms', async () => {
    expect(await isJournaledAfter(() => elapse(50), UNOBSERVED)).toBe(true);
  });

  it('is committed with the first step of the run', async () => {
    let isJournaled = false;
    host.scripts.set('a', async (context) => {
      await context.step({ kind: 'tool', place: '1:1', subject: 'look' }, async () => 1);
      isJournaled = (await host.journal.find('a')) !== null;
    });
    await (
      await host.runs.start(aRun('a', 's', UNOBSERVED))
    ).done;
    expect(isJournaled).toBe(true);
    expect(await host.journal.steps('a')).toMatchObject([{ name: 'tool:1:1' }]);
  });

  it.each([
    ['that a client follows', FIRST],
    ['in a session that may have another run', { isPublishedWhole: true }],
  ])('commits at once for a run %s', async (_which, more) => {
    expect(await isJournaledAfter(turns, more)).toBe(true);
  });

  it('commits at once for a submitted run', async () => {
    const setTimer = vi.spyOn(globalThis, 'setTimeout');
    await host.runs.submit(aRun('a', 's', UNOBSERVED));
    expect(setTimer.mock.calls.filter(([, ms]) => ms === 2)).toEqual([]);
    expect(await host.journal.find('a')).not.toBeNull();
  });

  it('ends the run without a trace when its commit fails', async () => {
    const broken = new Error('disk I/O error');
    vi.spyOn(opened.database, 'commit').mockRejectedValue(broken);
    await expect(host.runs.start(aRun('a', 's', UNOBSERVED))).rejects.toBe(broken);
    await host.executor.drain(1_000);
    vi.restoreAllMocks();
    expect(await host.journal.find('a')).toBeNull();
    expect(host.executor.has('a')).toBe(false);
  });
});
