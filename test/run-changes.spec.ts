import { afterEach, beforeAll, expect, it } from 'vitest';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Database } from '../src/persistence/index.js';
import { keyHolder } from './support/api-keys.js';
import { ChangeFeed } from './support/change-feed.js';
import { gate } from './support/jackdaw.js';
import { describeWorlds, newKey } from './support/private-world.js';
import { testServers } from './support/test-databases.js';

const ANN = keyHolder('ann', 'a', 'user');
const AMY = keyHolder('amy', 'a', 'user');
const VERA = keyHolder('vera', 'a', 'viewer');
const EVE = keyHolder('eve', 'e', 'admin');
const KEY = newKey('k1');
const ENV = { API_KEYS: [ANN, AMY, VERA, EVE].map(({ entry }) => entry).join(',') };

describeWorlds('the feed of changes', await testServers(), (current) => {
  const feeds: ChangeFeed[] = [];
  const open = async (who = ANN, options = {}) => {
    const feed = await ChangeFeed.open(current().jackdaw.url, who.headers, options);
    feeds.push(feed);
    return feed;
  };
  const ask = async (query: string, who = ANN) =>
    String((await current().jackdaw.chat({ query }, who.headers)).body['run_id']);
  beforeAll(() => current().start(KEY, ENV));
  afterEach(() => feeds.splice(0).forEach((feed) => feed.leave()));

  it('has each status in which a run stays, with the fields of the list of runs', async () => {
    const { llm, jackdaw } = current();
    const feed = await open();
    const held = gate();
    llm.reply({ gate: held.opened, text: 'done' });
    const { body } = await jackdaw.post('/api/agent/runs', { query: 'hello' }, ANN.headers);
    const runId = String(body['run_id']);
    await feed.waitFor(runId, 'running');
    held.open();
    const { runs } = (await jackdaw.get('/api/runs?limit=1', ANN.headers)).body as unknown as { runs: object[] };
    const changed = await feed.waitFor(runId, 'completed');
    expect({ ...changed, status: 'x', usage: 0, finish_reason: 0, finished_at: 0 }).toEqual({
      ...runs[0],
      status: 'x',
      usage: 0,
      finish_reason: 0,
      finished_at: 0,
    });

    llm.reply({ calls: [{ name: 'pay', arguments: { to: 'x', amount: 1 } }] }).reply({ text: 'paid' });
    const waiting = await ask('pay');
    expect(await feed.waitFor(waiting, 'waiting')).toMatchObject({ pending: 1, query_preview: 'pay' });
    await jackdaw.post(`/api/runs/${waiting}/approve`, {}, ANN.headers);
    await feed.waitFor(waiting, 'completed');

    llm.reply({ status: 401 });
    expect(await feed.waitFor(await ask('fail'), 'failed')).toMatchObject({ error_code: 'MODEL_AUTHENTICATION' });
  });

  it('has only the runs that the caller may see', async () => {
    const [amy, vera, eve] = [await open(AMY), await open(VERA), await open(EVE)];
    current().llm.reply({ text: 'one' }, { text: 'two' }, { text: 'three' });
    const [ofAnn, ofAmy, ofEve] = [await ask('1', ANN), await ask('2', AMY), await ask('3', EVE)];
    await Promise.all([amy.waitFor(ofAmy, 'completed'), eve.waitFor(ofEve, 'completed')]);
    await Promise.all([ofAnn, ofAmy].map((id) => vera.waitFor(id, 'completed')));
    const idsIn = ({ runs }: ChangeFeed) => new Set(runs.map(({ run_id }) => run_id));
    expect(idsIn(amy)).toEqual(new Set([ofAmy]));
    expect(idsIn(eve)).toEqual(new Set([ofEve]));
    expect(idsIn(vera)).toEqual(new Set([ofAnn, ofAmy]));
  });

  it('resumes at a position, also after a restart, and ends with the server', async () => {
    const { llm } = current();
    const feed = await open();
    llm.reply({ text: 'one' }, { text: 'two' });
    await feed.waitFor(await ask('1'), 'completed');
    feed.leave();
    const missed = await ask('2');
    // Nothing of the last hour is before this position.
    const sql = 'UPDATE run SET changed_at = changed_at - 3600000 WHERE id <> ?';
    await current().database.commit([{ sql, params: [missed] }]);
    await current().start(KEY, ENV);
    const later = await open(ANN, { after: feed.position });
    await later.waitFor(missed, 'completed');
    expect(later.runs.map(({ run_id }) => run_id)).toEqual([missed]);
    const polled = await open(ANN, { after: feed.position, query: '?follow=false' });
    await polled.ended();
    expect(polled.runs).toEqual(later.runs);
    await current().halt();
    await later.ended();
    await current().start(KEY, ENV);
  });

  it('has each change once while it is connected, also when the database is read again', async () => {
    const { llm, jackdaw } = current();
    const feed = await open();
    llm.reply({ text: 'one' }, { text: 'two' });
    await feed.waitFor(await ask('1'), 'completed');
    const database = jackdaw.app.get(Database, { strict: false });
    // More ids than a reader holds: it reads the database.
    const changedRun = 'x'.repeat(10);
    await database.commit(
      Array.from({ length: 5_001 }, () => ({ sql: 'DELETE FROM run WHERE id = ?', params: ['none'], changedRun })),
    );
    await feed.waitFor(await ask('2'), 'completed');
    const keys = feed.runs.map(({ run_id, status }) => `${run_id} ${status}`);
    expect(keys).toEqual([...new Set(keys)]);
  });

  it.each([
    ['', 'x'],
    ['?follow=no', ''],
    ['?since=1', ''],
  ])('refuses %s with the position "%s"', async (query, after) => {
    await expect(open(ANN, { query, after })).rejects.toThrow('400');
  });
});

it('every statement that changes the status of a run sets the time of the change', () => {
  const files = readdirSync('src/run', { recursive: true, encoding: 'utf8' }).filter((name) =>
    /(?<!\.spec)\.ts$/.test(name),
  );
  const statements = files.flatMap((name) => {
    const text = readFileSync(join('src/run', name), 'utf8');
    return [...text.matchAll(/UPDATE run SET [^`]*?WHERE/g)]
      .map(([sql]) => sql)
      .filter((sql) => /[ ,]status = /.test(sql));
  });
  expect(statements.length).toBeGreaterThan(7);
  expect(statements.filter((sql) => !sql.includes('changed_at = ?'))).toEqual([]);
});
