import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../src/persistence/index.js';
import { SessionAdminService } from '../src/session/session-admin.service.js';
import { SessionExpiryService } from '../src/session/session-expiry.service.js';
import { type Jackdaw, newFolder, startJackdaw } from './support/jackdaw.js';

const TTL_MS = 3_600_000;

describe.each(['database', 'file', 'memory'])('sessions in the store %s with a time to live', (store) => {
  let jackdaw: Jackdaw;
  let sweep: (afterMs: number) => Promise<boolean>;
  beforeAll(async () => {
    jackdaw = await startJackdaw({
      env: { SESSION_STORE: store, SESSION_TTL_SECONDS: String(TTL_MS / 1000) },
      dataDir: newFolder(),
    });
    const expiry = jackdaw.app.get(SessionExpiryService, { strict: false });
    sweep = (afterMs) => expiry.sweep(Date.now() + afterMs);
  });
  afterAll(() => jackdaw.stop());
  const statusOf = async (id: string) => (await jackdaw.get(`/api/sessions/${id}`)).status;

  it('are deleted after it, with their messages', async () => {
    await jackdaw.chat({ query: 'Hello', sessionId: 'old' });
    await sweep(TTL_MS - 1_000);
    expect((await jackdaw.get('/api/sessions/old')).body).toMatchObject({ message_count: 2 });
    expect(await jackdaw.messages('old')).toHaveLength(2);
    await sweep(TTL_MS + 1);
    expect(await statusOf('old')).toBe(404);
    await jackdaw.chat({ query: 'Hello', sessionId: 'old' });
    expect((await jackdaw.get('/api/sessions/old')).body).toMatchObject({ message_count: 2 });
    expect(await jackdaw.messages('old')).toHaveLength(2);
  });

  it('are deleted in limited numbers by one sweep', async () => {
    await sweep(TTL_MS + 1);
    const ids = ['one', 'two', 'three'];
    for (const sessionId of ids) await jackdaw.chat({ query: 'Hello', sessionId });
    const admin = jackdaw.app.get(SessionAdminService, { strict: false });
    const expire = () => admin.expire(Date.now() + 1_000, () => false, 2);
    expect(await expire()).toBe(2);
    const left = (await Promise.all(ids.map(statusOf))).filter((status) => status === 200);
    expect(left).toHaveLength(1);
    expect(await expire()).toBe(1);
    expect(await Promise.all(ids.map(statusOf))).toEqual([404, 404, 404]);
  });

  it('remain while a run holds them', async () => {
    await jackdaw.chat({ query: '1 + 1', sessionId: 'held' });
    await jackdaw.chat({ query: '1 + 1', sessionId: 'free' });
    const database = jackdaw.app.get(Database, { strict: false });
    await database.commit([{ sql: "UPDATE run SET finished_at = NULL WHERE session_id = 'held'", params: [] }]);
    await sweep(TTL_MS + 1);
    expect([await statusOf('held'), await statusOf('free')]).toEqual([200, 404]);
  });
});

describe('sessions in the default store without a time to live', () => {
  it('remain', async () => {
    const jackdaw = await startJackdaw();
    try {
      await jackdaw.chat({ query: '1 + 1', sessionId: 's' });
      await jackdaw.app.get(SessionExpiryService, { strict: false }).sweep(Date.now());
      expect((await jackdaw.get('/api/sessions/s')).status).toBe(200);
    } finally {
      await jackdaw.stop();
    }
  });
});
