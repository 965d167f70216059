import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Database } from '../src/persistence/index.js';
import { contextIdOf } from '../src/tool-state/index.js';
import { keyHolder } from './support/api-keys.js';
import { CounterTools } from './support/counter.tool.js';
import { callTool } from './support/direct-calls.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { callOf } from './support/waiting-run.js';

const ANN = keyHolder('ann', 'a', 'admin');
const BEN = keyHolder('ben', 'a', 'user', 'all');
const EVE = keyHolder('eve', 'e', 'admin');
const SESSIONS = { mine: ANN, shared: ANN, foreign: EVE };
type Session = keyof typeof SESSIONS | 'branch';

/** The context of the tool in a session. */
function idOf(session: Session): string {
  return contextIdOf({ tenant: session === 'foreign' ? 'e' : 'a', session, tool: 'count' });
}

describe('pending changes of states', () => {
  let jackdaw: Jackdaw;
  beforeEach(async () => {
    jackdaw = await startJackdaw({
      tools: [new CounterTools()],
      env: {
        API_KEYS: [ANN, BEN, EVE].map(({ entry }) => entry).join(','),
        TOOL_STATE_MANAGER: 'persistent',
        TOOL_STATE_SYNC_ON_CHANGE: 'false',
      },
    });
    for (const [id, { headers }] of Object.entries(SESSIONS)) await jackdaw.post('/api/sessions', { id }, headers);
    await count('mine', ANN);
    await count('shared', BEN);
    await count('foreign', EVE);
  });
  afterEach(() => jackdaw.stop());

  async function count(sessionId: string, { headers }: typeof ANN): Promise<unknown> {
    return (await callTool(jackdaw, 'count', { arguments: {}, sessionId }, headers)).body['result'];
  }

  async function listed({ headers }: typeof ANN): Promise<string[]> {
    const { body } = await jackdaw.get('/api/tool-states', headers);
    return (body['contexts'] as unknown as { session_id: string }[]).map(({ session_id }) => session_id).toSorted();
  }

  /** The contexts with pending changes. */
  async function waiting(): Promise<string[]> {
    const sql = 'SELECT context_id FROM tool_state_change ORDER BY created_at';
    const database = jackdaw.app.get(Database, { strict: false });
    return (await database.query<{ context_id: string }>(sql)).map(({ context_id }) => context_id);
  }

  const erase = (user: string) => jackdaw.send(`/api/users/${user}`, { method: 'DELETE', headers: ANN.headers });
  const fileOf = (session: keyof typeof SESSIONS) => join(jackdaw.dataDir, 'tool-states', `${idOf(session)}.json`);

  it('are listed for their tenant only', async () => {
    expect(await waiting()).toEqual([idOf('mine'), idOf('shared'), idOf('foreign')]);
    expect(await listed(ANN)).toEqual(['mine', 'shared']);
    expect(await waiting()).toEqual([idOf('foreign')]);
    expect(await listed(EVE)).toEqual(['foreign']);
  });

  it('leave no data of an erased user', async () => {
    expect((await erase('ben')).status).toBe(200);
    expect(existsSync(fileOf('shared'))).toBe(false);
    expect(await waiting()).toEqual([idOf('foreign')]);
    expect(await listed(ANN)).toEqual(['mine']);
    expect([await count('shared', ANN), await count('mine', ANN)]).toEqual([1, 2]);
  });

  it('block an erasure with an error while they cannot be applied, until they are deleted', async () => {
    await listed(ANN);
    await count('mine', ANN);
    await count('shared', BEN);
    writeFileSync(fileOf('mine'), 'damaged');
    const { body } = await erase('ben');
    expect(body).toMatchObject({ code: 'TOOL_STATE_UNAVAILABLE', file: fileOf('mine') });
    // The other changes were applied all the same.
    expect(await waiting()).toEqual([idOf('foreign'), idOf('mine')]);
    await jackdaw.send('/api/sessions/mine', { method: 'DELETE', headers: ANN.headers });
    expect((await erase('ben')).status).toBe(200);
    expect([existsSync(fileOf('mine')), existsSync(fileOf('shared'))]).toEqual([false, false]);
    expect(await waiting()).toEqual([idOf('foreign')]);
  });
});

describe.each([
  ['memory', '0'],
  ['persistent', '0'],
  ['distributed', '0'],
  // With one entry, the entry of a later call replaces the one of an earlier call.
  ['distributed', '1'],
])('states in %s with a limit of versions and history: %s', (manager, most) => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  beforeEach(async () => {
    llm = await FakeLlm.start();
    llm.always(({ messages }) =>
      messages.at(-1)?.role === 'tool' ? { text: 'done' } : { calls: [callOf('count', { by: 1 })] },
    );
    jackdaw = await startJackdaw({
      llm,
      tools: [new CounterTools()],
      env: {
        API_KEYS: [ANN, BEN, EVE].map(({ entry }) => entry).join(','),
        TOOL_STATE_MANAGER: manager,
        TOOL_STATE_MAX_HISTORY: most,
        TOOL_STATE_MAX_VERSIONS: most,
      },
    });
    for (const [id, { headers }] of Object.entries(SESSIONS)) await jackdaw.post('/api/sessions', { id }, headers);
  });
  afterEach(async () => {
    await jackdaw.stop();
    await llm.close();
  });

  async function count(sessionId: string, { headers }: typeof ANN): Promise<unknown> {
    return (await callTool(jackdaw, 'count', { arguments: {}, sessionId }, headers)).body['result'];
  }

  const read = (session: Session) => jackdaw.get(`/api/tool-states/${idOf(session)}`, ANN.headers);

  it('are erased with every user who contributed to them, in copies too, and with no other user', async () => {
    await count('mine', ANN);
    await count('shared', BEN);
    await count('foreign', EVE);
    const { body } = await jackdaw.chat({ query: 'count', sessionId: 'shared' }, ANN.headers);
    const from = { fromStep: 'model:2', sessionId: 'branch' };
    const fork = await jackdaw.post(`/api/runs/${String(body['run_id'])}/fork`, from, ANN.headers);
    await (await jackdaw.follow(String(fork.body['run_id']), 0, ANN.headers)).all();
    for (const session of ['shared', 'branch'] as const) {
      const { body: shown, text } = await read(session);
      expect(shown['states']).toMatchObject([{ state_type: 'connection' }, { data: { count: 2 } }]);
      expect(text).not.toContain('ben');
    }
    expect((await jackdaw.send('/api/users/ben', { method: 'DELETE', headers: ANN.headers })).status).toBe(200);
    for (const session of ['shared', 'branch'] as const)
      expect((await read(session)).body['code']).toBe('TOOL_STATE_NOT_FOUND');
    expect([await count('shared', ANN), await count('mine', ANN), await count('foreign', EVE)]).toEqual([1, 2, 2]);
  });
});
