import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aRun, openDatabase, RunHost, type OpenDatabase } from '../../../test/support/run-host.js';
import { runJournal } from '../../../test/support/run-parts.js';
import { loadConfig } from '../../config/index.js';
import { fence } from '../run-statement.factory.js';
import type { RunRecord } from '../run.types.js';
import { OpenRunStore } from './open-run.store.js';
import { SuspectRunService } from './suspect-run.service.js';

let opened: OpenDatabase;
let host: RunHost;
let suspects: SuspectRunService;
beforeEach(async () => {
  opened = await openDatabase();
  host = new RunHost(opened.database);
  suspects = newProcess();
});
afterEach(() => opened.close());

function newProcess(): SuspectRunService {
  const { config } = loadConfig({ env: {} });
  return new SuspectRunService(host.journal, host.bus, new OpenRunStore(opened.database), config.run);
}

async function find(id: string): Promise<RunRecord> {
  return (await host.journal.find(id))!;
}

/** A process claims these runs, each of them records a step or not, and the process crashes. */
async function crashWith(ids: readonly string[], isProgress = false): Promise<void> {
  const node = crypto.randomUUID();
  const journal = runJournal(opened.database, { lease: { node, isSure: () => true } });
  for (const id of ids) {
    const { run } = await journal.claim(await find(id), Date.now());
    await journal.commit([fence(run, isProgress)]);
  }
  await suspects.record(node);
}

describe('the runs of a crashed process', () => {
  beforeEach(async () => {
    for (const id of ['a', 'b']) await host.journal.create(aRun(id), 'queued', 1);
  });

  it('are suspects after the second crash, and only one in flight at the third has reached the limit', async () => {
    await crashWith(['a', 'b']);
    expect(await find('a')).toMatchObject({ status: 'running', attempts: 0, suspicions: 0 });
    await crashWith(['a', 'b']);
    for (const id of ['a', 'b']) expect(await find(id)).toMatchObject({ status: 'queued', attempts: 2, suspicions: 1 });
    await crashWith(['b']);
    expect(await find('a')).toMatchObject({ attempts: 2, suspicions: 1 });
    expect(await find('b')).toMatchObject({ status: 'queued', attempts: 3, suspicions: 2 });
  });

  it('never reach the limit if they record a step between the crashes', async () => {
    for (let crash = 1; crash <= 6; crash++) {
      await crashWith(['a'], true);
      expect((await find('a')).attempts).toBeLessThanOrEqual(1);
    }
  });

  it('are separated in the same way by two processes at once', async () => {
    await crashWith(['a', 'b']);
    await crashWith(['a', 'b']);
    const { owner } = await find('a');
    await Promise.all([suspects.record(owner!), newProcess().record(owner!)]);
    expect(await find('a')).toMatchObject({ attempts: 2, suspicions: 1 });
  });
});

describe('a process', () => {
  beforeEach(async () => {
    for (const id of ['a', 'b']) await host.journal.create(aRun(id), 'queued', 1);
    for (let crash = 1; crash <= 2; crash++) await crashWith(['a', 'b']);
  });

  it('executes one suspect at a time, the likeliest first', async () => {
    const [first, second] = (await Promise.all(['a', 'b'].map(find))).toSorted(
      (x, y) => y.recoveredAt! - x.recoveredAt!,
    );
    expect(await suspects.reserve(second!)).toBe(false);
    expect(await suspects.reserve(first!)).toBe(true);
    await host.journal.claim(first!, Date.now());
    expect(await suspects.reserve(second!)).toBe(false);
    await suspects.watch(first!, Promise.resolve());
    expect(await suspects.reserve(second!)).toBe(true);
  });

  it('executes a poisoned run beside a suspect, as it only ends', async () => {
    await crashWith(['b']);
    const poisoned = await find('b');
    await host.journal.claim(poisoned, Date.now());
    expect(await suspects.reserve(await find('a'))).toBe(true);
    expect(await suspects.reserve(poisoned)).toBe(true);
  });

  it('executes a child run of the suspect at the same time', async () => {
    const caller = (await find('a')).recoveredAt! > (await find('b')).recoveredAt! ? 'a' : 'b';
    const sql = 'UPDATE run SET parent_run_id = ?, parent_step = ?, root_run_id = ?, depth = 1 WHERE id <> ?';
    await opened.database.commit([{ sql, params: [caller, 'tool:1:1', caller, caller] }]);
    expect(await suspects.reserve(await find(caller))).toBe(true);
    expect(await suspects.reserve(await find(caller === 'a' ? 'b' : 'a'))).toBe(true);
  });
});
