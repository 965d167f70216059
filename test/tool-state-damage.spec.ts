import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toCursor } from '../src/api/list-cursor.js';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Database } from '../src/persistence/index.js';
import { contextIdOf, ToolStateAdminService } from '../src/tool-state/index.js';
import { keyHolder } from './support/api-keys.js';
import { CounterTools } from './support/counter.tool.js';
import { callTool } from './support/direct-calls.js';
import { newFolder, startJackdaw, type Answer, type Jackdaw } from './support/jackdaw.js';

const SESSIONS = ['one', 'two', 'three'] as const;
/** In the order of the list. */
const IDS = SESSIONS.map((session) => contextIdOf({ tenant: 'default', session, tool: 'count' })).toSorted();
const [FIRST = '', SPOILT = '', LAST = ''] = IDS;

async function overwrite(app: Jackdaw['app'], data: string): Promise<void> {
  const sql = 'UPDATE tool_state_entry SET data = ? WHERE context_id = ?';
  await app.get(Database, { strict: false }).commit([{ sql, params: [data, SPOILT] }]);
}

describe.each([
  {
    manager: 'persistent',
    env: {},
    code: 'TOOL_STATE_UNAVAILABLE',
    status: 503,
    spoil: ({ dataDir }: Jackdaw) => writeFileSync(join(dataDir, 'tool-states', `${SPOILT}.json`), '{"format":1,'),
  },
  {
    manager: 'distributed',
    env: { ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}` },
    code: 'DATA_TAMPERED',
    status: 500,
    spoil: async ({ app }: Jackdaw) => {
      const sql = `UPDATE tool_state_entry SET data = (SELECT data FROM tool_state_entry WHERE context_id = ? LIMIT 1)
        WHERE context_id = ?`;
      await app.get(Database, { strict: false }).commit([{ sql, params: [FIRST, SPOILT] }]);
    },
  },
  {
    manager: 'distributed',
    env: { TOOL_STATE_COMPRESSION: 'true' },
    code: 'TOOL_STATE_UNAVAILABLE',
    status: 503,
    spoil: ({ app }: Jackdaw) => overwrite(app, '{"count":'),
  },
  {
    manager: 'distributed',
    env: {},
    code: 'TOOL_STATE_UNAVAILABLE',
    status: 503,
    spoil: ({ app }: Jackdaw) => overwrite(app, '"gzip:AAAA"'),
  },
])('an unreadable context of $manager', ({ manager, env, code, status, spoil }) => {
  let jackdaw: Jackdaw;
  beforeEach(async () => {
    jackdaw = await startJackdaw({
      tools: [new CounterTools()],
      env: { TOOL_STATE_MANAGER: manager, TOOL_STATE_SYNC_ON_CHANGE: 'false', ...env },
    });
    for (const id of SESSIONS) await jackdaw.post('/api/sessions', { id });
    for (const sessionId of SESSIONS) await callTool(jackdaw, 'count', { arguments: {}, sessionId });
    await list();
  });
  afterEach(() => jackdaw.stop());

  async function list(query = ''): Promise<{ status: number; sound: unknown[]; damaged: unknown; next: unknown }> {
    const { status: answered, body } = await jackdaw.get(`/api/tool-states${query}`);
    const contexts = (body['contexts'] ?? []) as unknown as { context_id: string }[];
    return {
      status: answered,
      sound: contexts.map(({ context_id }) => context_id),
      damaged: body['damaged'],
      next: body['next'],
    };
  }

  it('is reported in the list beside the others', async () => {
    expect(await list()).toEqual({ status: 200, sound: IDS, damaged: [], next: null });
    await spoil(jackdaw);
    const damaged = [{ context_id: SPOILT, manager, code, detail: expect.stringMatching(/\w/) }];
    expect(await list()).toEqual({ status: 200, sound: [FIRST, LAST], damaged, next: null });
    const next = toCursor('states', SPOILT);
    expect(await list('?limit=2')).toEqual({ status: 200, sound: [FIRST], damaged, next });
    expect(await list(`?limit=2&cursor=${next}`)).toEqual({ status: 200, sound: [LAST], damaged: [], next: null });
  });

  it('reports its fault to readers and to tools; other contexts work', async () => {
    await spoil(jackdaw);
    for (const path of ['', '/versions', '/history']) {
      const answer = await jackdaw.get(`/api/tool-states/${SPOILT}${path}`);
      expect([path, answer.status, answer.body['code']]).toEqual([path, status, code]);
    }
    const results = new Map<string, Answer>();
    for (const session of SESSIONS) {
      const id = contextIdOf({ tenant: 'default', session, tool: 'count' });
      results.set(id, await callTool(jackdaw, 'count', { arguments: {}, sessionId: session }));
    }
    expect(IDS.map((id) => results.get(id)?.body['result'])).toEqual([2, undefined, 2]);
    // Also while changes are pending.
    expect(await list()).toMatchObject({ status: 200, sound: [FIRST, LAST], damaged: [{ context_id: SPOILT }] });
  });

  it('can be deleted, also with a pending change, and then starts anew', async () => {
    await spoil(jackdaw);
    expect((await jackdaw.send(`/api/tool-states/${SPOILT}`, { method: 'DELETE' })).status).toBe(204);
    expect(await list()).toEqual({ status: 200, sound: [FIRST, LAST], damaged: [], next: null });
    const session = SESSIONS.find((one) => contextIdOf({ tenant: 'default', session: one, tool: 'count' }) === SPOILT)!;
    expect((await callTool(jackdaw, 'count', { arguments: {}, sessionId: session })).body['result']).toBe(1);
  });

  it('does not exist for other tenants', async () => {
    await spoil(jackdaw);
    const admin = jackdaw.app.get(ToolStateAdminService, { strict: false });
    const outsider = { id: 'eve', tenant: 'other', roles: ['admin'] };
    const asked = [admin.get(outsider, SPOILT), admin.rollback(outsider, SPOILT, 1), admin.remove(outsider, SPOILT)];
    const rejection = { status: 'rejected', reason: { code: 'TOOL_STATE_NOT_FOUND' } };
    expect(await Promise.allSettled(asked)).toMatchObject([rejection, rejection, rejection]);
    expect(await list()).toMatchObject({ damaged: [{ context_id: SPOILT }] });
  });
});

describe('an unreadable context with a pending change', () => {
  it('delays neither the list nor the changes of others', async () => {
    const jackdaw = await startJackdaw({
      tools: [new CounterTools()],
      env: { TOOL_STATE_MANAGER: 'persistent', TOOL_STATE_SYNC_ON_CHANGE: 'false' },
    });
    const [one, two] = ['one', 'two'].map((session) => contextIdOf({ tenant: 'default', session, tool: 'count' }));
    for (const id of ['one', 'two']) await jackdaw.post('/api/sessions', { id });
    const count = (sessionId: string) => callTool(jackdaw, 'count', { arguments: {}, sessionId });
    await count('one');
    const file = join(jackdaw.dataDir, 'tool-states', `${one}.json`);
    expect((await jackdaw.get('/api/tool-states')).body['contexts']).toHaveLength(1);
    const whole = readFileSync(file, 'utf8');
    await count('one');
    await count('two');
    writeFileSync(file, 'null');
    expect((await jackdaw.get('/api/tool-states')).body).toMatchObject({
      contexts: [{ context_id: two }],
      damaged: [{ context_id: one, detail: expect.stringContaining(file) }],
    });
    writeFileSync(file, whole);
    const { body } = await jackdaw.get('/api/tool-states');
    expect([body['contexts'], body['damaged']]).toMatchObject([{ length: 2 }, []]);
    await jackdaw.stop();
  });
});

describe('a file that was damaged while the server was stopped', () => {
  const folder = newFolder();
  const ANN = keyHolder('ann', 'a', 'admin');
  const EVE = keyHolder('eve', 'e', 'admin');
  const env = { API_KEYS: `${ANN.entry},${EVE.entry}`, TOOL_STATE_MANAGER: 'persistent' };
  const id = contextIdOf({ tenant: 'a', session: 'one', tool: 'count' });
  const path = join(folder, 'tool-states', `${id}.json`);
  let jackdaw: Jackdaw;
  const start = () => startJackdaw({ tools: [new CounterTools()], dataDir: folder, env });
  const count = () => callTool(jackdaw, 'count', { arguments: {}, sessionId: 'one' }, ANN.headers);
  beforeEach(async () => {
    jackdaw = await start();
    await jackdaw.post('/api/sessions', { id: 'one' }, ANN.headers);
    await count();
    await jackdaw.stop();
  });
  afterEach(() => jackdaw.stop());

  it('is still assigned to its owner, and to no other tenant', async () => {
    writeFileSync(path, readFileSync(path, 'utf8').slice(0, -30));
    jackdaw = await start();
    const [own, foreign] = [ANN, EVE].map(({ headers }) => jackdaw.get(`/api/tool-states/${id}`, headers));
    expect([(await own)?.status, (await own)?.body['code']]).toEqual([503, 'TOOL_STATE_UNAVAILABLE']);
    expect((await foreign)?.status).toBe(404);
    const { body } = await jackdaw.get('/api/tool-states', ANN.headers);
    expect(body['damaged']).toMatchObject([{ context_id: id, code: 'TOOL_STATE_UNAVAILABLE' }]);
    expect((await jackdaw.get('/api/tool-states', EVE.headers)).body['damaged']).toEqual([]);
    await jackdaw.send(`/api/tool-states/${id}`, { method: 'DELETE', headers: ANN.headers });
    expect((await count()).body['result']).toBe(1);
  });

  it('is not assigned to a tenant that contradicts its id', async () => {
    writeFileSync(path, readFileSync(path, 'utf8').replace('"tenant":"a"', '"tenant":"e"').slice(0, -30));
    jackdaw = await start();
    const answers = [ANN, EVE].map(({ headers }) => jackdaw.get(`/api/tool-states/${id}`, headers));
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([404, 404]);
    const { body } = await count();
    expect([body['result'], body['code'] ?? body['error']]).toEqual([undefined, expect.anything()]);
  });
});
