import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Database } from '../src/persistence/index.js';
import { contextIdOf } from '../src/tool/index.js';
import { keyHolder } from './support/api-keys.js';
import { CounterTools } from './support/counter.tool.js';
import { callTool } from './support/direct-calls.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

const ANN = keyHolder('ann', 'a', 'admin');
const BEN = keyHolder('ben', 'a', 'user');
const EVE = keyHolder('eve', 'e', 'admin');
const SESSIONS = { mine: ANN, shared: ANN, foreign: EVE };

/** Of the context of a tool in a session. */
function idOf(session: keyof typeof SESSIONS): string {
  return contextIdOf({ tenant: SESSIONS[session] === EVE ? 'e' : 'a', session, tool: 'count' });
}

describe('changes of states that are still on their way', () => {
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

  /** For which contexts something waits. */
  async function waiting(): Promise<string[]> {
    const sql = 'SELECT context_id FROM tool_state_change ORDER BY created_at';
    const database = jackdaw.app.get(Database, { strict: false });
    return (await database.query<{ context_id: string }>(sql)).map(({ context_id }) => context_id);
  }

  const erase = (user: string) => jackdaw.send(`/api/users/${user}`, { method: 'DELETE', headers: ANN.headers });
  const fileOf = (session: keyof typeof SESSIONS) => join(jackdaw.dataDir, 'tool-states', `${idOf(session)}.json`);

  it('are listed, to their tenant alone', async () => {
    expect(await waiting()).toEqual([idOf('mine'), idOf('shared'), idOf('foreign')]);
    expect(await listed(ANN)).toEqual(['mine', 'shared']);
    expect(await waiting()).toEqual([idOf('foreign')]);
    expect(await listed(EVE)).toEqual(['foreign']);
  });

  it('leave nothing of a user who is erased', async () => {
    expect((await erase('ben')).status).toBe(200);
    expect(existsSync(fileOf('shared'))).toBe(false);
    expect(await waiting()).toEqual([idOf('foreign')]);
    expect(await listed(ANN)).toEqual(['mine']);
    expect([await count('shared', ANN), await count('mine', ANN)]).toEqual([1, 2]);
  });

  it('that cannot come there are told to who erases, until they are forgotten', async () => {
    await listed(ANN);
    await count('mine', ANN);
    await count('shared', BEN);
    writeFileSync(fileOf('mine'), 'damaged');
    const { body } = await erase('ben');
    expect(body).toMatchObject({ code: 'TOOL_STATE_UNAVAILABLE', file: fileOf('mine') });
    // It has kept nothing else from coming there.
    expect(await waiting()).toEqual([idOf('foreign'), idOf('mine')]);
    await jackdaw.send('/api/sessions/mine', { method: 'DELETE', headers: ANN.headers });
    expect((await erase('ben')).status).toBe(200);
    expect([existsSync(fileOf('mine')), existsSync(fileOf('shared'))]).toEqual([false, false]);
    expect(await waiting()).toEqual([idOf('foreign')]);
  });
});
