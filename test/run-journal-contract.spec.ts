import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { isRefusedAtOnce, refusalOf } from '../src/persistence/index.js';
import { WaitingRunStore } from '../src/run/decision/waiting-run.store.js';
import { RunItem } from '../src/run/event/run-item.factory.js';
import { RunJournal } from '../src/run/run-journal.js';
import { endRun, fence, insertEvents, insertStep, releaseRun } from '../src/run/run-statement.factory.js';
import type { RunRecord } from '../src/run/run.types.js';
import { ALICE, aRun, openDatabase, type OpenDatabase } from './support/run-host.js';
import { describeDatabases, testServers } from './support/test-databases.js';
import { Ownership } from '../src/security/index.js';
import { PLAIN_CIPHER } from '../src/security/encryption/index.js';
import { runJournal } from './support/run-parts.js';

Logger.overrideLogger(false);
const NOW = 1_764_000_000_123;
const TABLES = ['run', 'run_step', 'run_event', 'run_definition'];
const servers = await testServers();

function event(n: number, text = 'because'): RunItem {
  return new RunItem(n, NOW + n, { type: 'thought', text, iteration: n } as never);
}

function step(name: string, result = '{}') {
  return { name, kind: 'tool', subject: 'calculator', result };
}

async function refusal(commit: Promise<unknown>): Promise<string | null> {
  return refusalOf(await commit.catch((thrown: unknown) => thrown));
}

describeDatabases('the run journal', servers, (created) => {
  let opened: OpenDatabase;
  let journal: RunJournal;
  beforeAll(async () => {
    opened = await openDatabase({ DATABASE_URL: created().url });
  });
  beforeEach(async () => {
    journal = runJournal(opened.database);
    await opened.database.commit(TABLES.map((table) => ({ sql: `DELETE FROM ${table}`, params: [] })));
  });
  afterAll(() => opened.close());

  const create = async (id: string, sessionId: string | null = null, status: 'running' | 'queued' = 'running') =>
    (await journal.create(aRun(id, sessionId), status, NOW)).run;
  const progress = (run: RunRecord, n: number) => [
    fence(run, true),
    insertStep(run, step(`tool:${n}:1`), NOW, journal.cipher),
    ...insertEvents(run, [event(2 * n), event(2 * n + 1)], journal.cipher),
  ];

  it('returns a run as it was journaled', async () => {
    const { run, items } = await journal.create(aRun('a', 's', { input: '{"query":"🐦"}' }), 'running', NOW);
    expect(await journal.find('a')).toEqual(run);
    expect(await journal.findOf(ALICE, 'a')).toEqual(run);
    expect(await journal.findOf({ ...ALICE, tenant: 'other' }, 'a')).toBeNull();
    expect((await journal.events('a', 0)).map(({ n, data }) => [n, data])).toEqual([[1, items[0]!.data]]);
    expect(await journal.find('A')).toBeNull();
  });

  it('stores a definition once, as a whole', async () => {
    const definition = JSON.stringify({ instructions: 'x'.repeat(100_000) });
    const runs = Array.from({ length: 8 }, (_, at) => aRun(`run-${at}`, null, { definition, definitionHash: 'h' }));
    await Promise.all(runs.map((run) => runJournal(opened.database).create(run, 'queued', NOW)));
    expect(await opened.database.query('SELECT COUNT(*) AS n FROM run_definition')).toEqual([{ n: 1 }]);
    expect((await journal.find('run-7'))!.definition).toBe(definition);
  });

  it('admits one run to a session', async () => {
    const outcomes = await Promise.all(Array.from({ length: 10 }, (_, at) => refusal(create(`run-${at}`, 's'))));
    expect(outcomes.filter((reason) => reason === null)).toHaveLength(1);
    expect(outcomes.filter((reason) => reason === 'unique')).toHaveLength(9);
    const holder = await journal.openOf({ tenant: ALICE.tenant, sessionId: 's' });
    expect(holder).toMatchObject({ status: 'running', sessionId: 's' });
    const queued = await create('later', 's', 'queued');
    expect(await refusal(journal.claim(queued, NOW))).toBe('unique');
    await journal.commit([endRun(holder!, 'running', 'completed', NOW)]);
    expect((await journal.claim(queued, NOW)).run).toMatchObject({ epoch: 1, status: 'running' });
  });

  it('lets one process take over a run, however many try', async () => {
    const run = await create('a', 's');
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, () => runJournal(opened.database).claim(run, NOW)),
    );
    const won = outcomes.filter(({ status }) => status === 'fulfilled');
    expect(won).toHaveLength(1);
    expect(outcomes.flatMap((one) => (one.status === 'rejected' ? [refusalOf(one.reason)] : []))).toEqual(
      Array(9).fill('rows'),
    );
    expect(await journal.find('a')).toMatchObject({ epoch: 2, attempts: 1 });
  });

  it('rejects writes with another epoch than the owner’s, as whole batches', async () => {
    const old = await create('a');
    await journal.commit(progress(old, 1));
    const { run } = await journal.claim(old, NOW);
    const late = await journal.commit(progress(old, 2)).catch((thrown: unknown) => thrown);
    expect([refusalOf(late), isRefusedAtOnce(late)]).toEqual(['rows', true]);
    await journal.commit(progress(run, 2));
    const twice = await journal
      .commit([fence(run), insertStep(run, step('tool:2:1'), NOW, journal.cipher)])
      .catch((e: unknown) => e);
    expect([refusalOf(twice), isRefusedAtOnce(twice)]).toEqual(['unique', false]);
    expect((await journal.steps('a')).map(({ name }) => name).toSorted()).toEqual(['tool:1:1', 'tool:2:1']);
    expect(await journal.lastEvent('a')).toBe(5);
    expect(await journal.find('a')).toMatchObject({ attempts: 0 });
  });

  it('keeps fencing when a takeover happens in the middle of many commits', async () => {
    const old = await create('a');
    const writes = Array.from({ length: 40 }, (_, n) => refusal(journal.commit(progress(old, n + 1))));
    const { run } = await journal.claim(old, NOW);
    const reasons = await Promise.all(writes);
    expect(reasons.every((reason) => reason === null || reason === 'rows')).toBe(true);
    const written = reasons.filter((reason) => reason === null).length;
    expect(await journal.steps('a')).toHaveLength(written);
    expect(await opened.database.query('SELECT COUNT(*) AS n FROM run_event')).toEqual([{ n: 1 + 2 * written }]);
    expect(await refusal(journal.commit(progress(old, 99)))).toBe('rows');
    expect(await refusal(journal.commit(progress(run, 99)))).toBeNull();
  });

  it('ends a run once, in one batch with its other statements', async () => {
    const run = await create('a', 's');
    const ends = await Promise.all(
      Array.from({ length: 5 }, () =>
        refusal(
          journal.commit([
            endRun(run, 'running', 'completed', NOW + 5, { summary: '{"x":1}', errorCode: null }),
            ...insertEvents(run, [event(2)], journal.cipher),
          ]),
        ),
      ),
    );
    expect(ends.filter((reason) => reason === null)).toHaveLength(1);
    expect(await journal.find('a')).toMatchObject({ status: 'completed', finishedAt: NOW + 5, summary: '{"x":1}' });
    expect(await journal.openOf(run)).toBeNull();
  });

  it('has no expiry of an ended run, so that the search for due runs does not read it', async () => {
    const { run } = await journal.create({ ...aRun('a'), deadlineAt: NOW }, 'running', NOW);
    const expiries = () => opened.database.query('SELECT id FROM run WHERE expires_at IS NOT NULL');
    expect(await expiries()).toHaveLength(1);
    await opened.database.commit([endRun(run, 'running', 'completed', NOW)]);
    expect(await expiries()).toEqual([]);
  });

  it('finds unfinished runs in their order, and those that are due', async () => {
    const waits = await create('w');
    await journal.commit([releaseRun(waits, 'waiting', NOW + 10)]);
    for (const [id, status] of [['b', 'queued'], ['a', 'queued'], ['B', 'running']] as const) await create(id, null, status); // prettier-ignore
    expect((await journal.unfinished()).map(({ id }) => id)).toEqual(['B', 'a', 'b']);
    const waiting = new WaitingRunStore(opened.database, PLAIN_CIPHER, new Ownership());
    expect(await waiting.expired(NOW + 9)).toEqual([]);
    expect(await waiting.expired(NOW + 10)).toEqual(['w']);
    expect([await waiting.nextExpiry(NOW), await waiting.nextExpiry(NOW + 10)]).toEqual([NOW + 10, null]);
  });

  it('cancels a run according to its status', async () => {
    const [running, queued, waiting] = [await create('r'), await create('q', null, 'queued'), await create('w')];
    await journal.commit([releaseRun(waiting, 'waiting')]);
    await journal.requestCancel(running, NOW + 1);
    await journal.requestCancel(running, NOW + 2);
    expect(await journal.find('r')).toMatchObject({ status: 'running', cancelRequestedAt: NOW + 1 });
    await journal.endQueued(queued, 'cancelled', event(1));
    expect(await refusal(journal.endQueued(queued, 'cancelled', event(2)))).toBe('rows');
    expect(await refusal(journal.requestCancel(queued, NOW))).toBe('rows');
    const answers = await Promise.all([1, 2, 3].map(() => refusal(journal.cancelWaiting(waiting, NOW))));
    expect(answers.filter((reason) => reason === null)).toHaveLength(1);
    expect(await journal.find('w')).toMatchObject({ status: 'queued', cancelRequestedAt: NOW });
  });

  it('puts back only a run that it still owns', async () => {
    const run = await create('a');
    await journal.putBack(run);
    await journal.putBack({ ...run, epoch: 7 });
    const { run: mine } = await journal.claim((await journal.find('a'))!, NOW);
    await journal.putBack(run);
    expect(await journal.find('a')).toMatchObject({ status: 'running', epoch: mine.epoch });
  });

  it('returns events in pages, byte for byte', async () => {
    const run = await create('a');
    const text = 'NUL \0, lone \ud800, bird 🐦, "quoted" \\ \u2028 end';
    const items = Array.from({ length: 620 }, (_, at) => event(at + 2, text));
    await journal.commit([fence(run), ...insertEvents(run, items, journal.cipher)]);
    const first = await journal.events('a', 0);
    const second = await journal.events('a', first.at(-1)!.n!);
    expect([first.length, second.length]).toEqual([500, 121]);
    const read = [...first.slice(1), ...second];
    expect(read.map(({ n, at, data }) => [n, at, data])).toEqual(items.map(({ n, at, data }) => [n, at, data]));
  });
});
