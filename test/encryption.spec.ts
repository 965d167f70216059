import { beforeAll, expect, it } from 'vitest';
import { byTurn, call } from './support/forks.js';
import { gate } from './support/jackdaw.js';
import { describeWorlds, newKey, type PrivateWorld } from './support/private-world.js';
import { testServers } from './support/test-databases.js';

const [K1, K2] = [newKey('k1'), newKey('k2')];
/** The texts of users, models, tools and approvers. */
const WORDS = [
  'kingfisher',
  'woodpecker',
  'nightingale',
  'goldcrest',
  'bullfinch',
  'dunnock',
  'siskin',
  'yellowhammer',
];

describeWorlds('encryption at rest', await testServers(), (current, kind) => {
  let world: PrivateWorld;
  beforeAll(() => {
    world = current();
  });

  const look = (id: string, text: string) => call(id, 'look', { text });

  /**
   * Holds a conversation with calls, a human decision and a fork with edits. @returns ids of the runs that stay
   * readable
   */
  async function talk(sessionId: string): Promise<string[]> {
    const { llm, jackdaw } = world;
    llm.always(byTurn({ text: 'a woodpecker', calls: [look('a', 'siskin')] }, { text: 'the nightingale' }));
    const first = await jackdaw.chat({ query: 'a kingfisher?', sessionId });
    expect(first.body).toMatchObject({ result: 'the nightingale' });
    llm.always(byTurn({ calls: [call('p', 'pay', { to: 'goldcrest', amount: 1 })] }, { text: 'nothing for it' }));
    const second = await jackdaw.chat({ query: 'pay a goldcrest', sessionId });
    expect(second.status).toBe(202);
    const denied = await jackdaw.post(`/api/runs/${second.body['run_id']}/deny`, { reason: 'no bullfinch' });
    expect(denied.status).toBe(202);
    await (await jackdaw.follow(String(second.body['run_id']))).all();
    llm.always({ text: 'after the yellowhammer' });
    const fork = await world.forks().make(String(first.body['run_id']), 'model:1', {
      message: 'a dunnock?',
      agent: { instructions: 'Answer as a yellowhammer.' },
    });
    expect(fork.events.at(-1)!.data).toMatchObject({ result: 'after the yellowhammer' });
    return [String(first.body['run_id']), String(second.body['run_id']), fork.id];
  }

  /** The API's view of a conversation. */
  async function shown(sessionId: string, runIds: readonly string[]): Promise<unknown> {
    const { jackdaw } = world;
    const { body } = await jackdaw.get('/api/runs');
    const listed = body['runs'] as unknown as { run_id: string; usage: unknown }[];
    return {
      messages: await jackdaw.messages(sessionId),
      runs: await Promise.all(
        runIds.map(async (id) => ({
          events: (await (await jackdaw.follow(id)).all()).map(({ data }) => data),
          journal: await world.forks().journal(id),
          answer: (await jackdaw.get(`/api/runs/${id}`)).body,
          listed: listed.find(({ run_id }) => run_id === id),
        })),
      ),
    };
  }

  async function expectNoWords(): Promise<void> {
    const stored = await world.stored();
    expect(stored).toContain('enc:1:');
    for (const word of WORDS) expect([word, stored.includes(word)]).toEqual([word, false]);
    if (kind !== 'sqlite') return;
    const files = world.files();
    for (const word of WORDS) expect([word, files.includes(word)]).toEqual([word, false]);
  }

  it('stores no text in any table or file, and the API returns all of it', async () => {
    await world.start(K1);
    const runs = await talk('sealed');
    const before = JSON.stringify(await shown('sealed', runs));
    for (const word of WORDS) expect([word, before.includes(word)]).toEqual([word, true]);
    await expectNoWords();
    // Another process reads the same.
    await world.start(K1);
    expect(JSON.stringify(await shown('sealed', runs))).toBe(before);
    await expectNoWords();
  });

  it('resumes a run in another process with its recorded steps', async () => {
    const { llm, tools } = world;
    const open = gate();
    llm.always(({ messages }) =>
      messages.at(-1)!.role === 'tool' ? { gate: open.opened, text: 'never' } : { calls: [look('r', 'dunnock')] },
    );
    llm.requests.length = tools.done.length = 0;
    const stream = await world.jackdaw.stream({ query: 'and a kingfisher', sessionId: 'resumed' });
    await llm.waitForRequest(2);
    const runId = String(stream.headers['x-run-id']);
    await world.start(K1);
    open.open();
    llm.always({ text: 'the nightingale again' });
    const events = await (await world.jackdaw.follow(runId)).all();
    expect(events.at(-1)!.data).toMatchObject({ type: 'run.completed', result: 'the nightingale again' });
    expect(tools.done).toEqual(['look dunnock']);
    expect(JSON.stringify(llm.lastRequest.messages)).toContain('seen dunnock');
    await expectNoWords();
  });

  it('re-encrypts stored data with a new key in the background, then works without the old key', async () => {
    const runs = await talk('rotated');
    const before = await shown('rotated', runs);
    await world.start(`${K2},${K1}`);
    expect(await shown('rotated', runs)).toEqual(before);
    await world.jackdaw.chat({ query: 'a kingfisher', sessionId: 'between' });
    expect(await world.stored()).toContain('enc:1:k1:');
    const { rewritten, failed, isWhole } = await world.reencrypt();
    expect([rewritten > 20, failed, isWhole]).toEqual([true, 0, true]);
    expect(await world.stored()).not.toContain('enc:1:k1:');
    expect(await world.reencrypt()).toEqual({ rewritten: 0, failed: 0, isWhole: true });
    await world.start(K2, { ENCRYPTION_STRICT: 'true' });
    expect(await shown('rotated', runs)).toEqual(before);
    await expectNoWords();
  });

  it('refuses to start without the keys of stored data', async () => {
    for (const keys of ['', K1]) expect(await world.refusal(keys)).toMatch(/ENCRYPTION_KEYS lacks a key.*"k2"/);
    expect(await world.refusal(`${K1},${K2}`)).toBe('');
    await world.start(K2);
  });

  it('reports which row was changed or exchanged, never its content', async () => {
    const [runId = ''] = await talk('spoiled');
    const { database, jackdaw } = world;
    const events = await database.query<{ n: number; data: string }>(
      'SELECT n, data FROM run_event WHERE run_id = ? ORDER BY n',
      [runId],
    );
    const put = (n: number, data: string) =>
      database.commit([
        { sql: 'UPDATE run_event SET data = ? WHERE run_id = ? AND n = ?', params: [data, runId, n], rows: 1 },
      ]);
    const [, two, three] = events;
    for (const [n, data] of [
      [2, three!.data],
      [2, `${two!.data.slice(0, 40)}${two!.data[40] === 'A' ? 'B' : 'A'}${two!.data.slice(41)}`],
      [2, two!.data.slice(0, -8)],
    ] as const) {
      await put(n, data);
      for (const path of [`/api/runs/${runId}`, `/api/runs/${runId}/journal`]) {
        const { status, body, text } = await jackdaw.get(path);
        expect([path, status, body['code']]).toEqual([path, 500, 'DATA_TAMPERED']);
        expect(body).toMatchObject({ column: 'run_event.data', owner: runId, row: n });
        for (const word of WORDS) expect(text).not.toContain(word);
      }
      await put(n, two!.data);
    }
    expect((await jackdaw.get(`/api/runs/${runId}`)).status).toBe(200);
    await database.commit([
      {
        sql: `UPDATE session_turn SET messages = ? WHERE session_id = 'spoiled' AND turn = 1`,
        params: [two!.data],
        rows: 1,
      },
    ]);
    const { status, body } = await jackdaw.get('/api/sessions/spoiled/messages');
    expect([status, body['code'], body['row']]).toEqual([500, 'DATA_TAMPERED', 1]);
  });

  it('fails a run whose records were exchanged, and resumes the others', async () => {
    const { llm, tools, database } = world;
    const open = gate();
    llm.always(({ messages }) =>
      messages.at(-1)!.role === 'tool' ? { gate: open.opened, text: 'never' } : { calls: [look('r', 'dunnock')] },
    );
    llm.requests.length = tools.done.length = 0;
    const streams = [];
    for (const [at, sessionId] of ['good', 'bad', 'gone'].entries()) {
      streams.push(await world.jackdaw.stream({ query: 'hear', sessionId }));
      await llm.waitForRequest(2 * (at + 1));
    }
    const [good, bad, gone] = streams.map(({ headers }) => String(headers['x-run-id']));
    await database.commit([
      {
        sql: 'UPDATE run_step SET result = ? WHERE run_id = ? AND name = ?',
        params: ['"other"', bad!, 'tool:1:1'],
        rows: 1,
      },
      { sql: 'UPDATE run SET input = principal WHERE id = ?', params: [gone!], rows: 1 },
    ]);
    await world.start(K2, { ENCRYPTION_STRICT: 'true' });
    open.open();
    llm.always({ text: 'fine' });
    const ends = await Promise.all(
      [good, bad].map(async (id) => (await (await world.jackdaw.follow(id!)).all()).at(-1)!.data),
    );
    expect(ends).toMatchObject([
      { type: 'run.completed', result: 'fine' },
      { type: 'run.failed', error: { code: 'DATA_TAMPERED' } },
    ]);
    expect((await world.jackdaw.get(`/api/runs/${gone}`)).body['code']).toBe('DATA_TAMPERED');
    expect(tools.done).toHaveLength(3);
  });
});

describeWorlds('a database created without encryption keys', await testServers(), (current, kind) => {
  it('is first read as plain text, then encrypted, and in strict mode read only if encrypted', async () => {
    const world = current();
    const { llm } = world;
    llm.always(byTurn({ calls: [call('a', 'look', { text: 'siskin' })] }, { text: 'the nightingale' }));
    await world.start();
    const { body } = await world.jackdaw.chat({ query: 'a kingfisher', sessionId: 's' });
    const messages = await world.jackdaw.messages('s');
    expect(await world.stored()).not.toContain('enc:');

    await world.start(K1);
    expect(await world.jackdaw.messages('s')).toEqual(messages);
    const fork = await world.forks().make(String(body['run_id']), 'model:2');
    expect(await world.jackdaw.messages(fork.sessionId)).toHaveLength(messages.length);
    expect(await world.stored()).toContain('kingfisher');
    // Re-encryption skips a row that changes while it is read.
    await Promise.all([
      world.reencrypt(),
      world.reencrypt(),
      world.jackdaw.chat({ query: 'a goldcrest', sessionId: 's' }),
    ]);
    const stored = `${await world.stored()}${kind === 'sqlite' ? world.files() : ''}`;
    for (const word of WORDS) expect([word, stored.includes(word)]).toEqual([word, false]);

    await world.start(K1, { ENCRYPTION_STRICT: 'true' });
    expect((await world.jackdaw.messages('s')).slice(0, messages.length)).toEqual(messages);
    const plain = JSON.stringify([{ role: 'user', content: 'slipped in' }]);
    await world.database.commit([
      { sql: `UPDATE session_turn SET messages = ? WHERE session_id = 's' AND turn = 1`, params: [plain], rows: 1 },
    ]);
    expect((await world.jackdaw.get('/api/sessions/s/messages')).body['code']).toBe('DATA_TAMPERED');
    // Re-encryption does not encrypt this row either, but counts it as failed.
    expect(await world.reencrypt()).toEqual({ rewritten: 0, failed: 1, isWhole: true });
  });
});
