import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { keyHolder } from './support/api-keys.js';
import { FakeLlm } from './support/fake-llm.js';
import { gate, startJackdaw, type Jackdaw } from './support/jackdaw.js';

const ANN = keyHolder('ann', 'a', 'admin');
const BEN = keyHolder('ben', 'a', 'user');

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
const shown = () => llm.lastRequest.messages.slice(1).map(({ content }) => content);

describe('a session', () => {
  it('is created once, with a custom id and metadata', async () => {
    const metadata = { title: 'Trip', deep: { toString: [1, null] }, NUL: '\0' };
    const made = await send('POST', 'sessions', { id: 'trip', metadata });
    expect([made.status, made.body]).toMatchObject([201, { id: 'trip', owner: 'ann', turn_count: 0, metadata }]);
    expect((await send('POST', 'sessions', { id: 'trip' })).body).toMatchObject({
      status: 409,
      code: 'SESSION_EXISTS',
    });
    const nameless = await send('POST', 'sessions', {});
    expect([nameless.status, nameless.body['metadata']]).toEqual([201, {}]);
    expect((await send('POST', 'sessions', { id: 'a b' })).status).toBe(400);
    expect((await send('POST', 'sessions', { metadata: 'x' })).status).toBe(400);
  });

  it('has metadata that are read and replaced', async () => {
    await send('POST', 'sessions', { id: 'noted', metadata: { a: 1 } });
    expect((await send('PUT', 'sessions/noted/metadata', { metadata: { b: 2 } })).body).toEqual({ metadata: { b: 2 } });
    expect((await send('GET', 'sessions/noted/metadata')).body).toEqual({ metadata: { b: 2 } });
    expect((await send('GET', 'sessions/noted')).body['metadata']).toEqual({ b: 2 });
  });

  it('is listed page by page, the newest first', async () => {
    for (let n = 0; n < 5; n++) await send('POST', 'sessions', { id: `listed-${n}` });
    const seen: string[] = [];
    for (let cursor = ''; ;) {
      const { body } = await send('GET', `sessions?limit=2${cursor}`);
      seen.push(...(body['sessions'] as unknown as { id: string }[]).map(({ id }) => id));
      if (body['next'] === null) break;
      cursor = `&cursor=${String(body['next'])}`;
    }
    expect(seen.filter((id) => id.startsWith('listed-'))).toEqual([4, 3, 2, 1, 0].map((n) => `listed-${n}`));
    expect(new Set(seen).size).toBe(seen.length);
    expect((await send('GET', 'sessions?cursor=x')).body).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
  });

  it('stores metadata with a question, and shows them to no model', async () => {
    await chat({ query: 'hello', sessionId: 'marked', metadata: { from: 'mail', secret: 'hidden' } });
    const { body } = await send('GET', 'sessions/marked/messages');
    expect(body['messages']).toMatchObject([{ role: 'user', metadata: { from: 'mail' } }, { role: 'assistant' }]);
    await chat({ query: 'again', sessionId: 'marked' });
    expect(JSON.stringify(llm.requests)).not.toContain('hidden');
    expect(shown()).toEqual(['hello', 'answer 2', 'again']);
  });

  it('is cleared: later runs see no earlier message, and it remains usable', async () => {
    await chat({ query: 'one', sessionId: 'cleared' });
    expect((await send('DELETE', 'sessions/cleared/messages')).status).toBe(204);
    expect((await send('GET', 'sessions/cleared')).body).toMatchObject({ turn_count: 0, message_count: 0 });
    expect((await chat({ query: 'two', sessionId: 'cleared' })).status).toBe(200);
    expect((await send('GET', 'sessions/cleared')).body).toMatchObject({ turn_count: 1, message_count: 2 });
    expect(shown()).toEqual(['two']);
    await chat({ query: 'three', sessionId: 'cleared' });
    expect(shown()).toEqual(['two', 'answer 2', 'three']);
  });

  it('is deleted, and created again by the next question', async () => {
    await chat({ query: 'one', sessionId: 'deleted' });
    expect((await send('DELETE', 'sessions/deleted')).status).toBe(204);
    for (const path of ['', '/messages', '/metadata', '/export']) {
      expect((await send('GET', `sessions/deleted${path}`)).body).toMatchObject({ code: 'SESSION_NOT_FOUND' });
    }
    expect((await send('DELETE', 'sessions/deleted')).status).toBe(404);
    await chat({ query: 'two', sessionId: 'deleted' });
    expect(shown()).toEqual(['two']);
  });

  it('is neither cleared nor deleted nor pruned while a run holds it', async () => {
    const open = gate();
    llm.reply({ text: 'at last', gate: open.opened });
    const answer = chat({ query: 'wait', sessionId: 'held' });
    await llm.waitForRequest();
    for (const path of ['sessions/held', 'sessions/held/messages']) {
      expect((await send('DELETE', path)).body).toMatchObject({ status: 409, code: 'SESSION_BUSY' });
    }
    await send('POST', 'sessions/prune', { olderThanDays: 0 });
    open.open();
    expect((await answer).status).toBe(200);
    expect((await send('GET', 'sessions/held')).body).toMatchObject({ turn_count: 1 });
  });

  it('is exported and imported again, byte for byte', async () => {
    const query = 'NUL \0, lone \ud800, bird 🐦, "quoted" \\ \u2028 end';
    await chat({ query, sessionId: 'source', metadata: { a: 1 } });
    await chat({ query: 'two', sessionId: 'source' });
    await send('PUT', 'sessions/source/turns/1/pin');
    const exported = (await send('GET', 'sessions/source/export')).body;
    expect(exported).toMatchObject({ version: 1, turns: [{ pinned: true }, { status: 'completed' }] });
    const taken = await send('POST', 'sessions/import', { session: exported, id: 'copy' }, BEN);
    expect([taken.status, taken.body]).toMatchObject([201, { id: 'copy', owner: 'ben', message_count: 4 }]);
    const again = (await send('GET', 'sessions/copy/export')).body;
    expect(again['turns']).toEqual(exported['turns']);
    await chat({ query: 'three', sessionId: 'copy' });
    expect(shown()).toEqual([query.toWellFormed(), 'answer 2', 'two', 'answer 4', 'three']);
    expect((await send('POST', 'sessions/import', { session: exported })).body).toMatchObject({
      code: 'SESSION_EXISTS',
    });
  });

  it('is not imported with an invalid run id', async () => {
    const about = { id: 'nul', owner: 'x', created_at: 1, updated_at: 1, metadata: {} };
    const turn = { run_id: 'a\u0000b', status: 'completed', created_at: 1, messages: [{ role: 'user', content: 'x' }] };
    const { body } = await send('POST', 'sessions/import', { session: { version: 1, session: about, turns: [turn] } });
    expect(body).toMatchObject({ status: 400, errors: [{ field: 'session.turns.0.run_id', got: 'string' }] });
  });

  it('is not imported when two turns are of one run', async () => {
    const about = { id: 'replays', owner: 'x', created_at: 1, updated_at: 1, metadata: {} };
    const turn = { run_id: 'same', status: 'completed', created_at: 1, messages: [{ role: 'user', content: 'x' }] };
    const { body } = await send('POST', 'sessions/import', {
      session: { version: 1, session: about, turns: [turn, turn] },
    });
    expect(body).toMatchObject({
      status: 400,
      errors: [{ field: 'session.turns', message: expect.stringContaining('run_id') }],
    });
  });

  it('may be larger than any other body on import', async () => {
    const session = { id: 'long', owner: 'x', created_at: 1, updated_at: 1, metadata: {} };
    const turn = (n: number) => ({
      run_id: `r${n}`,
      status: 'completed',
      created_at: n,
      messages: [{ role: 'user', content: 'x'.repeat(100_000) }],
    });
    const turns = Array.from({ length: 30 }, (_, n) => turn(n));
    const { status, body } = await send('POST', 'sessions/import', { session: { version: 1, session, turns } });
    expect([status, body['message_count']]).toEqual([201, 30]);
    expect((await chat({ query: 'x'.repeat(2_000_000) })).status).toBe(413);
  });

  it.each([
    [{}, 'version'],
    [{ version: 2, session: {}, turns: [] }, 'version'],
    [
      { version: 1, session: { id: 'x', owner: 'y', created_at: 1, updated_at: 1, metadata: {} }, turns: [{}] },
      'turns.0',
    ],
  ])('is not imported from %j', async (session, field) => {
    const { status, body } = await send('POST', 'sessions/import', { session });
    expect([status, body['code']]).toEqual([400, 'VALIDATION_FAILED']);
    expect(JSON.stringify(body['errors'])).toContain(field);
  });

  it('is repaired for the model after a damaged import, and the run reports it', async () => {
    const call = { id: 'c', name: 'add', arguments: '{}' };
    const session = {
      version: 1,
      session: { id: 'damaged', owner: 'x', created_at: 1, updated_at: 1, metadata: {} },
      turns: [
        {
          run_id: 'r1',
          status: 'completed',
          created_at: 1,
          messages: [
            { role: 'user', content: 'add' },
            { role: 'assistant', content: '', tool_calls: [call] },
          ],
        },
      ],
    };
    expect((await send('POST', 'sessions/import', { session })).status).toBe(201);
    const { body } = await chat({ query: 'and?', sessionId: 'damaged' });
    expect(llm.lastRequest.messages.slice(1).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
    const events = await (await jackdaw.follow(String(body['run_id']), 0, ANN.headers)).all();
    expect(events.filter(({ event }) => event === 'history.repaired')).toMatchObject([
      { data: { session_id: 'damaged', turns: [1] } },
    ]);
  });

  it('retains turns that are pinned or referenced', async () => {
    const small = await startJackdaw({ llm, env: { AGENT_MEMORY_POLICY: 'lru', AGENT_MEMORY_MAX_MESSAGES: '4' } });
    const say = (query: string, more = {}) => small.chat({ query, sessionId: 's', ...more });
    for (const query of ['one', 'two', 'three', 'four']) await say(query);
    await say('five', { references: [2] });
    await say('six');
    expect(shown()).toEqual(['two', 'answer 4', 'five', 'answer 6', 'six']);
    await small.send('/api/sessions/s/turns/1/pin', { method: 'PUT' });
    expect((await small.messages('s')).filter(({ is_pinned }) => is_pinned).map(({ turn }) => turn)).toEqual([1, 1]);
    await say('seven');
    expect(shown()[0]).toBe('one');
    expect((await small.send('/api/sessions/s/turns/99/pin', { method: 'PUT' })).status).toBe(404);
    const nonsense = await small.send('/api/sessions/s/turns/x/pin', { method: 'PUT' });
    expect([nonsense.status, nonsense.body['code']]).toEqual([400, 'VALIDATION_FAILED']);
    await small.stop();
  });
});
