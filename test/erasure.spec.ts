import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Database } from '../src/persistence/index.js';
import { keyHolder } from './support/api-keys.js';
import { FakeLlm } from './support/fake-llm.js';
import { gate, startJackdaw, type Jackdaw } from './support/jackdaw.js';

const ANN = keyHolder('ann', 'a', 'admin');
const BEN = keyHolder('ben', 'a', 'user', 'all');

let llm: FakeLlm;
let jackdaw: Jackdaw;
beforeAll(async () => {
  llm = await FakeLlm.start();
  jackdaw = await startJackdaw({ llm, env: { API_KEYS: `${ANN.entry},${BEN.entry}`, AGENT_MEMORY_POLICY: 'lru' } });
});
beforeEach(() => {
  llm.reset();
  llm.always(({ messages }) => ({ text: `answer ${messages.length}` }));
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

const send = (method: string, path: string, body?: unknown, { headers } = ANN) =>
  jackdaw.send(`/api/${path}`, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
const chat = (body: unknown, who = ANN) => jackdaw.chat(body, who.headers);
/** The tables that contain one of the words. */
const tablesWith = async (words: readonly string[]) => {
  const database = jackdaw.app.get(Database, { strict: false });
  const tables = await database.query<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'");
  const contents = await Promise.all(tables.map(({ name }) => database.query(`SELECT * FROM ${name}`)));
  return tables.flatMap(({ name }, at) =>
    words.some((word) => JSON.stringify(contents[at]).includes(word)) ? [name] : [],
  );
};
const shown = () => llm.lastRequest.messages.slice(1).map(({ content }) => content);

describe('permanent deletion', () => {
  it('deletes sessions without activity for the given number of days', async () => {
    await send('POST', 'sessions', { id: 'fresh' });
    expect((await send('POST', 'sessions/prune', { olderThanDays: 1 })).body).toEqual({ deleted: 0, held: 0 });
    expect((await send('GET', 'sessions/fresh')).status).toBe(200);
    const { body } = await send('POST', 'sessions/prune', { olderThanDays: 0 });
    expect(body['deleted']).toBeGreaterThan(0);
    expect((await send('GET', 'sessions')).body['sessions']).toEqual([]);
    expect((await send('POST', 'sessions/prune', { olderThanDays: -1 })).status).toBe(400);
    expect((await send('POST', 'sessions/prune', { olderThanDays: 0 }, BEN)).status).toBe(403);
  });

  it('deletes a user with all their texts', async () => {
    const words = ['wort-of-ben', 'title-of-ben'];
    await send('POST', 'sessions', { id: 'bens', metadata: { title: words[1] } }, BEN);
    await chat({ query: `remember ${words[0]}`, sessionId: 'bens' }, BEN);
    await chat({ query: 'stays', sessionId: 'anns' });
    expect(await tablesWith(words)).toEqual(expect.arrayContaining(['run', 'session', 'session_turn']));
    expect((await send('DELETE', 'users/ben', undefined, BEN)).status).toBe(403);
    expect((await send('DELETE', 'users/ben')).body).toMatchObject({ sessions: 1, runs: 1, turns: 0 });
    expect((await send('DELETE', 'users/ben')).status).toBe(404);
    expect((await send('GET', 'sessions/bens')).status).toBe(404);
    expect((await send('GET', 'sessions/anns')).body).toMatchObject({ turn_count: 1 });
    expect(await tablesWith(words)).toEqual([]);
  });

  it("deletes a user's texts in sessions of others, in branches and copies, and in edits of forks", async () => {
    const words = ['word-of-ben', 'order-of-ben'];
    const say = (query: string, who = ANN) => chat({ query, sessionId: 'of-ann' }, who);
    const [first] = [await say('one'), await say(`two ${words[0]}`, BEN)];
    const third = await say('three');
    const forkOf = (run: unknown, edit: object, who = ANN) =>
      send('POST', `runs/${String(run)}/fork`, { fromStep: 'model:1', edit }, who);
    const branch = await forkOf(third.body['run_id'], { message: 'three again' });
    await (await jackdaw.follow(String(branch.body['run_id']), 0, ANN.headers)).all();
    const edited = await forkOf(first.body['run_id'], { agent: { instructions: words[1] } }, BEN);
    await (await jackdaw.follow(String(edited.body['run_id']), 0, BEN.headers)).all();
    const session = (await send('GET', 'sessions/of-ann/export')).body;
    await send('POST', 'sessions/import', { session, id: 'copy' });
    expect(await tablesWith(words)).toEqual(expect.arrayContaining(['run', 'run_definition', 'session_turn']));
    expect((await send('DELETE', 'users/ben')).body).toMatchObject({ sessions: 1, runs: 2, turns: 3 });
    expect(await tablesWith(words)).toEqual([]);
    for (const id of ['of-ann', 'copy', String(branch.body['session_id'])])
      expect((await send('GET', `sessions/${id}`)).body).toMatchObject({ turn_count: 3, message_count: 4 });
    await say('four');
    expect(shown().filter((text) => !String(text).startsWith('answer'))).toEqual(['one', 'three', 'four']);
    expect((await forkOf(third.body['run_id'], { message: 'three once more' })).status).toBe(202);
  });

  it("reports a user's remaining sessions while others use them", async () => {
    await chat({ query: 'mine', sessionId: 'shared' }, BEN);
    const open = gate();
    llm.reply({ text: 'at last', gate: open.opened });
    const answer = chat({ query: 'wait', sessionId: 'shared' });
    await llm.waitForRequest(2);
    expect((await send('DELETE', 'users/ben')).body).toMatchObject({ status: 409, code: 'SESSION_BUSY', held: 1 });
    open.open();
    await answer;
    expect((await send('DELETE', 'users/ben')).body).toMatchObject({ sessions: 1, runs: 0, turns: 0 });
  });

  it('refuses a session with a queued run', async () => {
    const one = await startJackdaw({ llm, env: { RUN_CONCURRENCY: '1' } });
    const open = gate();
    llm.reply({ text: 'at last', gate: open.opened });
    const first = one.chat({ query: 'first', sessionId: 'first' });
    await llm.waitForRequest();
    const { body } = await one.post('/api/agent/runs', { query: 'second', sessionId: 'second' });
    expect((await one.send('/api/sessions/second', { method: 'DELETE' })).status).toBe(409);
    open.open();
    await first;
    const events = await (await one.follow(String(body['run_id']))).all();
    expect(events.at(-1)).toMatchObject({ event: 'run.completed' });
    await one.stop();
  });

  it('refuses a user with unfinished runs', async () => {
    const open = gate();
    llm.reply({ text: 'at last', gate: open.opened });
    const answer = chat({ query: 'wait', sessionId: 'busy' }, BEN);
    await llm.waitForRequest();
    expect((await send('DELETE', 'users/ben')).body).toMatchObject({ status: 409, code: 'SESSION_BUSY' });
    open.open();
    expect((await answer).status).toBe(200);
    expect((await send('DELETE', 'users/ben')).status).toBe(200);
  });
});
