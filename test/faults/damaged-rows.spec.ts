import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../../src/persistence/index.js';
import { startJackdaw, type Jackdaw } from '../support/jackdaw.js';
import { ALICE, aRun, completed, openDatabase, RunHost, type OpenDatabase } from '../support/run-host.js';

const DAMAGE = '{"cut';

describe('a run with damaged data', () => {
  let opened: OpenDatabase;
  let host: RunHost;
  beforeAll(async () => {
    opened = await openDatabase();
    host = new RunHost(opened.database);
  });
  afterAll(async () => {
    await host.executor.drain(0);
    await opened.close();
  });

  const set = (sql: string, ...params: string[]) => opened.database.commit([{ sql, params: [DAMAGE, ...params] }]);
  const statusOf = async (id: string) => {
    const [row] = await opened.database.query<{ status: string }>('SELECT status FROM run WHERE id = ?', [id]);
    return row!.status;
  };
  const lastEvent = async (id: string) => (await host.events(id)).at(-1)!.event;

  it.each([
    ['principal', 'UPDATE run SET principal = ? WHERE id = ?'],
    ['input', 'UPDATE run SET input = ? WHERE id = ?'],
  ])('fails after a restart, and names the damaged column: %s', async (column, sql) => {
    const id = `damaged-${column}`;
    await host.journal.create(aRun(id, id), 'running', 1);
    await set(sql, id);
    const restarted = new RunHost(opened.database);
    await restarted.dispatcher.recover();
    while ((await statusOf(id)) !== 'failed') await new Promise((resolve) => setTimeout(resolve, 10));
    const event = await lastEvent(id);
    expect(event).toMatchObject({ type: 'run.failed', error: { code: 'STORED_DATA_INVALID' } });
    expect(JSON.stringify(event)).toContain(`run.${column}`);
    expect(restarted.executed).not.toContain(id);
  });

  it('fails at a damaged step, which names the step', async () => {
    await host.journal.create(aRun('step'), 'running', 1);
    const step = ['step', 'tool:1:1', 'nest', 'tool', 'look', DAMAGE, 1, 1];
    await opened.database.commit([
      {
        sql: 'INSERT INTO run_step (run_id, name, tenant, kind, subject, result, epoch, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
        params: step,
      },
    ]);
    const restarted = new RunHost(opened.database);
    restarted.scripts.set('step', async (context) => {
      await context.step({ kind: 'tool', place: '1:1', subject: 'look' }, async () => 1);
      return completed('step');
    });
    const ended = restarted.ended('step');
    await restarted.dispatcher.recover();
    await ended;
    expect(await lastEvent('step')).toMatchObject({ type: 'run.failed', error: { code: 'STORED_DATA_INVALID' } });
    expect(JSON.stringify(await lastEvent('step'))).toContain('tool:1:1');
  });

  it('ends when it is read, so that its session is free', async () => {
    await host.journal.create(aRun('held', 'session'), 'queued', 1);
    await set('UPDATE run SET principal = ? WHERE id = ?', 'held');
    await expect(host.cancels.cancel('held')).rejects.toMatchObject({ code: 'STORED_DATA_INVALID' });
    expect(await statusOf('held')).toBe('failed');
    expect(await host.journal.openOf({ tenant: ALICE.tenant, sessionId: 'session' })).toBeNull();
  });
});

describe('a session with damaged data', () => {
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    jackdaw = await startJackdaw();
    for (const id of ['turns', 'sound', 'damaged']) {
      await jackdaw.post('/api/sessions', { id, metadata: { id } });
      await jackdaw.chat({ query: 'hello', sessionId: id });
    }
  });
  afterAll(() => jackdaw.stop());

  const damage = (id: string, table: string, column: string, key: string) =>
    jackdaw.app
      .get(Database)
      .commit([{ sql: `UPDATE ${table} SET ${column} = ? WHERE ${key} = ?`, params: [DAMAGE, id], rows: 1 }]);

  it('is marked in the list, which shows the others', async () => {
    await damage('damaged', 'session', 'metadata', 'id');
    const { body } = await jackdaw.get('/api/sessions');
    expect(body['sessions']).toMatchObject([
      { id: 'damaged', metadata: {}, is_damaged: true },
      { id: 'sound', metadata: { id: 'sound' } },
      { id: 'turns' },
    ]);
    const one = await jackdaw.get('/api/sessions/damaged');
    expect([one.status, one.body['code']]).toEqual([500, 'STORED_DATA_INVALID']);
    expect(one.text).toContain('session.metadata');
  });

  it('fails a chat that needs a damaged turn, names the turn, and is free afterwards', async () => {
    await damage('turns', 'session_turn', 'messages', 'session_id');
    for (let n = 0; n < 2; n++) {
      const { status, body } = await jackdaw.chat({ query: 'hello', sessionId: 'turns' });
      expect([status, body['code']]).toEqual([500, 'STORED_DATA_INVALID']);
      expect(JSON.stringify(body)).toContain('session_turn.messages');
    }
    expect((await jackdaw.chat({ query: 'hello', sessionId: 'sound' })).status).toBe(200);
  });
});
