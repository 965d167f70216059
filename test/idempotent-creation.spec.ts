import { afterAll, beforeAll, expect, it } from 'vitest';
import { rmSync } from 'node:fs';
import { newId } from '../src/kernel/index.js';
import { Database } from '../src/persistence/index.js';
import { CreationKeyStore } from '../src/run/index.js';
import { RunRetentionService } from '../src/run/retention/run-retention.service.js';
import { SessionAdminService } from '../src/session/index.js';
import { bearer, keyHolder } from './support/api-keys.js';
import { newFolder, startJackdaw, type Answer, type Jackdaw } from './support/jackdaw.js';
import { describeDatabases, testServers } from './support/test-databases.js';

const ADA = keyHolder('ada', 'default', 'admin');
const BOB = keyHolder('bob', 'default', 'admin');
const DAY_MS = 24 * 3_600_000;

describeDatabases('a creation with an Idempotency-Key', await testServers(), (database) => {
  let jackdaw: Jackdaw;
  let folder: string;
  const start = async () => {
    const { kind, url } = database();
    const DATABASE_URL = kind === 'sqlite' ? `sqlite:${folder}/jackdaw.db` : url;
    const env = { API_KEYS: `${ADA.entry},${BOB.entry}`, DATABASE_URL };
    jackdaw = await startJackdaw({ dataDir: folder, env });
  };
  beforeAll(async () => {
    folder = newFolder();
    await start();
  });
  afterAll(async () => {
    await jackdaw.stop();
    rmSync(folder, { recursive: true });
  });

  const send = (path: string, body: unknown, key: string, { headers } = ADA): Promise<Answer> =>
    jackdaw.post(`/api/${path}`, body, { ...headers, 'idempotency-key': key });
  const stored = () => jackdaw.app.get(Database, { strict: false });
  const isReplay = ({ headers }: Answer) => headers.get('idempotent-replayed') === 'true';
  const count = async ([path, list]: readonly [string, string]) => {
    const { body } = await jackdaw.get(`/api/${path}?limit=200`, ADA.headers);
    return (body[list] as unknown as unknown[]).length;
  };

  /** The bodies, by route; the list that shows the effect, and the id of the created thing. */
  async function routes() {
    const { body: chat } = await jackdaw.chat({ query: '1 + 1', sessionId: `s-${newId()}` }, ADA.headers);
    const { body: session } = await jackdaw.get(`/api/sessions/${String(chat['session_id'])}/export`, ADA.headers);
    return [
      { path: 'sessions', body: { metadata: { n: 1 } }, list: ['sessions', 'sessions'], id: 'id' },
      { path: 'sessions', body: { id: `own-${newId()}` }, list: ['sessions', 'sessions'], id: 'id' },
      { path: 'sessions/import', body: { session, id: `in-${newId()}` }, list: ['sessions', 'sessions'], id: 'id' },
      { path: 'keys', body: { name: 'k', role: 'user' }, list: ['keys', 'keys'], id: 'id' },
      {
        path: `runs/${String(chat['run_id'])}/fork`,
        body: { fromStep: 'model:1' },
        list: ['runs', 'runs'],
        id: 'run_id',
      },
    ] as const;
  }

  it('has one effect, and its repetition returns the same thing, also after a restart', async () => {
    for (const { path, body, list, id } of await routes()) {
      const key = newId();
      const before = await count(list);
      const first = await send(path, body, key);
      expect([path, first.status < 300, isReplay(first)]).toEqual([path, true, false]);
      await jackdaw.stop();
      await start();
      const again = await send(path, body, key);
      expect([path, again.status, isReplay(again)]).toEqual([path, first.status, true]);
      expect(again.body[id]).toBe(first.body[id]);
      expect(again.headers.get('location')).toBe(first.headers.get('location'));
      expect(await count(list)).toBe(before + 1);
    }
  });

  it('has one effect for concurrent repetitions', async () => {
    for (const { path, body, list, id } of await routes()) {
      const key = newId();
      const before = await count(list);
      const answers = await Promise.all(Array.from({ length: 8 }, () => send(path, body, key)));
      expect([path, new Set(answers.map((answer) => answer.status < 300))]).toEqual([path, new Set([true])]);
      expect(new Set(answers.map((answer) => answer.body[id])).size).toBe(1);
      expect(answers.filter((answer) => !isReplay(answer))).toHaveLength(1);
      expect(await count(list)).toBe(before + 1);
    }
  });

  it('returns the secret of a key once', async () => {
    const key = newId();
    const first = await send('keys', { name: 'k', role: 'viewer' }, key);
    expect((await jackdaw.get('/api/sessions', bearer(String(first.body['key'])))).status).toBe(200);
    const again = await send('keys', { name: 'k', role: 'viewer' }, key);
    const { key: _secret, ...record } = first.body as Record<string, unknown>;
    expect(again.body).toEqual({ ...record, last_used_at: expect.anything() });
  });

  it('belongs to its request and to its principal', async () => {
    for (const { path, body } of await routes()) {
      const key = newId();
      await send(path, body, key);
      const other = path === 'sessions' ? { metadata: { n: 2 } } : { ...body, sessionId: 'x', name: 'x', id: 'x' };
      expect([path, (await send(path, other, key)).status]).not.toEqual([path, 201]);
      expect((await send('sessions', { metadata: { other: true } }, key)).body['code']).toBe('IDEMPOTENCY_KEY_REUSED');
      expect(isReplay(await send('sessions', {}, key, BOB))).toBe(false);
    }
  });

  it('is free again after a refusal', async () => {
    const [key, id] = [newId(), `twice-${newId()}`];
    await jackdaw.post('/api/sessions', { id }, ADA.headers);
    expect((await send('sessions', { id }, key)).body['code']).toBe('SESSION_EXISTS');
    await jackdaw.send(`/api/sessions/${id}`, { method: 'DELETE', headers: ADA.headers });
    const created = await send('sessions', { id }, key);
    expect([created.status, isReplay(created)]).toEqual([201, false]);
  });

  it('completes an interrupted request, and does not repeat one whose thing was deleted', async () => {
    const [key, id] = [newId(), newId()];
    const keys = jackdaw.app.get(CreationKeyStore, { strict: false });
    const reserve = keys.reserve.bind(keys);
    keys.reserve = (principal, request, _id, now) => reserve(principal, request, id, now);
    const admin = jackdaw.app.get(SessionAdminService, { strict: false });
    const create = admin.create.bind(admin);
    // The process ends between the reservation and the creation.
    admin.create = () => Promise.reject(new Error('interrupted'));
    expect((await send('sessions', {}, key)).status).toBe(500);
    admin.create = create;
    keys.reserve = reserve;
    await stored().commit([{ sql: 'UPDATE creation_key SET created_at = created_at - ?', params: [10_000] }]);
    const completed = await send('sessions', {}, key);
    expect([completed.body['id'], isReplay(completed)]).toEqual([id, false]);
    expect(isReplay(await send('sessions', {}, key))).toBe(true);
    await jackdaw.send(`/api/sessions/${id}`, { method: 'DELETE', headers: ADA.headers });
    expect((await send('sessions', {}, key)).body['code']).toBe('SESSION_NOT_FOUND');
  });

  it('is forgotten after 24 hours', async () => {
    const key = newId();
    const first = await send('sessions', {}, key);
    await stored().commit([{ sql: 'UPDATE creation_key SET created_at = created_at - ?', params: [DAY_MS] }]);
    const second = await send('sessions', {}, key);
    expect([second.status, isReplay(second), second.body['id'] === first.body['id']]).toEqual([201, false, false]);
    await stored().commit([{ sql: 'UPDATE creation_key SET created_at = created_at - ?', params: [DAY_MS] }]);
    await jackdaw.app.get(RunRetentionService, { strict: false }).sweep(Date.now());
    expect(await stored().query('SELECT idem_key FROM creation_key')).toEqual([]);
  });
});
