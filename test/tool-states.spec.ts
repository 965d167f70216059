import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { toCursor } from '../src/api/list-cursor.js';
import { z } from 'zod';
import { newId } from '../src/kernel/index.js';
import { contextIdOf } from '../src/tool-state/index.js';
import { Tool, ToolState } from '../src/tool/method/index.js';
import { keyHolder } from './support/api-keys.js';
import { CounterTools } from './support/counter.tool.js';
import { callTool } from './support/direct-calls.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Answer, type Jackdaw } from './support/jackdaw.js';
import { callOf } from './support/waiting-run.js';
import { WaitingTools } from './support/waiting.tool.js';

const ANN = keyHolder('ann', 'a', 'admin');

class RoomyTools {
  @Tool({ description: 'Counts.', effect: 'read', stateful: { maxVersions: 5, ttlMs: 3_600_000 }, input: z.object({}) })
  roomy(_input: object, @ToolState() state: ToolState<{ n?: number }>): void {
    state.update({ n: (state.data.n ?? 0) + 1 });
  }
}

describe.each([
  ['memory', null],
  ['persistent', null],
  ['session', expect.any(Number)],
  ['distributed', null],
])('the states of %s', (manager, expiry) => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  let session: string;
  let id: string;

  beforeAll(async () => {
    llm = await FakeLlm.start();
    jackdaw = await startJackdaw({
      llm,
      tools: [new CounterTools(), new RoomyTools(), new WaitingTools()],
      env: { API_KEYS: ANN.entry, TOOL_STATE_MANAGER: manager, TOOL_STATE_MAX_VERSIONS: '3' },
    });
    session = await newSession();
    id = contextIdOf({ tenant: 'a', session, tool: 'count' });
    for (const by of [1, 10, 100, 1000]) await count(by);
  });
  afterEach(() => llm.reset());
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
  });

  async function newSession(): Promise<string> {
    return String((await jackdaw.post('/api/sessions', {}, ANN.headers)).body['id']);
  }

  async function count(by: number, sessionId = session): Promise<unknown> {
    return (await callTool(jackdaw, 'count', { arguments: { by }, sessionId }, ANN.headers)).body['result'];
  }

  function read(path = ''): Promise<Answer> {
    return jackdaw.get(`/api/tool-states${path}`, ANN.headers);
  }

  function remove(path: string): Promise<Answer> {
    return jackdaw.send(path, { method: 'DELETE', headers: ANN.headers });
  }

  it('are listed without their data, by tool and session, page by page', async () => {
    const other = await newSession();
    await count(1, other);
    const ids = [id, contextIdOf({ tenant: 'a', session: other, tool: 'count' })].toSorted();
    const { status, body } = await read('?tool=count&limit=1');
    const next = toCursor('states', ids[0]!);
    expect([status, body['next']]).toEqual([200, next]);
    expect((await read(`?tool=count&limit=1&cursor=${next}`)).body).toMatchObject({
      contexts: [{ context_id: ids[1] }],
      next: null,
    });
    expect((await read(`?sessionId=${session}`)).body).toEqual({
      contexts: [
        {
          context_id: id,
          tool: 'count',
          session_id: session,
          manager,
          created_at: expect.any(Number),
          used_at: expect.any(Number),
          expires_at: expiry,
          states: expect.arrayContaining([
            {
              state_id: `${id}:business`,
              state_type: 'business',
              version: 4,
              created_at: expect.any(Number),
              updated_at: expect.any(Number),
              expires_at: null,
            },
          ]),
        },
      ],
      damaged: [],
      next: null,
    });
    expect((await read('?tool=nothing')).body).toEqual({ contexts: [], damaged: [], next: null });
  });

  it('are shown with their data', async () => {
    const { body } = await read(`/${id}`);
    expect(body['states']).toMatchObject([
      {
        state_type: 'connection',
        data: { session_active: true, error_count: 0, last_error: null, last_used: expect.any(Number) },
      },
      { state_type: 'business', version: 4, data: { count: 1111 } },
    ]);
  });

  it('have a history of calls', async () => {
    const { body } = await read(`/${id}/history?limit=3`);
    const entries = body['entries'] as unknown as Record<string, unknown>[];
    expect(entries.map(({ n, kind }) => [n, kind])).toEqual([
      [8, 'execution_success'],
      [7, 'execution_start'],
      [6, 'execution_success'],
    ]);
    expect(entries[1]!['detail']).toMatchObject({ run_id: expect.any(String), arguments: { by: 1000 } });
    expect((await read(`/${id}/history?before=${String(body['next'])}`)).body['entries']).toHaveLength(5);
  });

  it('have versions, and are rolled back to one of them', async () => {
    const { body } = await read(`/${id}/versions`);
    const versions = body['versions'] as unknown as { version: number; data: object }[];
    expect(versions.map(({ version, data }) => [version, data])).toEqual([
      [4, { count: 1111 }],
      [3, { count: 111 }],
      [2, { count: 11 }],
    ]);
    const rolled = await jackdaw.post(`/api/tool-states/${id}/rollback`, { version: 2 }, ANN.headers);
    expect(rolled.body).toMatchObject({ version: 5, data: { count: 11 } });
    expect(await count(1)).toBe(12);
    const gone = await jackdaw.post(`/api/tool-states/${id}/rollback`, { version: 2 }, ANN.headers);
    expect([gone.status, gone.body['code'], gone.body['detail']]).toEqual([
      404,
      'TOOL_STATE_NOT_FOUND',
      expect.stringContaining('Stored versions: 6, 5, 4.'),
    ]);
  });

  it('are rolled back with the options of their tool, which may differ from the others', async () => {
    const own = await newSession();
    const context = contextIdOf({ tenant: 'a', session: own, tool: 'roomy' });
    for (let n = 0; n < 5; n++) await callTool(jackdaw, 'roomy', { arguments: {}, sessionId: own }, ANN.headers);
    const { body } = await jackdaw.post(`/api/tool-states/${context}/rollback`, { version: 1 }, ANN.headers);
    expect(body).toMatchObject({ version: 6, data: { n: 1 }, expires_at: expect.any(Number) });
    const versions = (await read(`/${context}/versions`)).body['versions'] as unknown as { version: number }[];
    expect(versions.map(({ version }) => version)).toEqual([6, 5, 4, 3, 2]);
  });

  it('are held by an unfinished run of their session', async () => {
    const held = await newSession();
    await count(1, held);
    llm.reply({ calls: [callOf('pay', { to: 'x', amount: 1 })] });
    const { body } = await jackdaw.chat({ query: 'pay', sessionId: held }, ANN.headers);
    const context = contextIdOf({ tenant: 'a', session: held, tool: 'count' });
    for (const answer of [
      await jackdaw.post(`/api/tool-states/${context}/rollback`, { version: 1 }, ANN.headers),
      await remove(`/api/tool-states/${context}`),
    ])
      expect([answer.status, answer.body['code']]).toEqual([409, 'SESSION_BUSY']);
    await jackdaw.post(`/api/runs/${String(body['run_id'])}/cancel`, undefined, ANN.headers);
  });

  it('are deleted one by one, and with their session', async () => {
    const gone = await newSession();
    const context = contextIdOf({ tenant: 'a', session: gone, tool: 'count' });
    await count(1, gone);
    expect((await remove(`/api/tool-states/${context}`)).status).toBe(204);
    expect((await read(`/${context}`)).status).toBe(404);
    expect(await count(1, gone)).toBe(1);
    expect((await remove(`/api/sessions/${gone}`)).status).toBe(204);
    expect((await read(`/${context}`)).status).toBe(404);
    expect((await read(`/${context}/history`)).status).toBe(404);
  });

  it('answer 404 for an unknown id', async () => {
    expect((await read(`/ctx_${newId()}`)).body['code']).toBe('TOOL_STATE_NOT_FOUND');
    const bad = await jackdaw.post(`/api/tool-states/${id}/rollback`, { version: 0 }, ANN.headers);
    expect([bad.status, bad.body['code']]).toEqual([400, 'VALIDATION_FAILED']);
  });

  it('are deleted with an erased user, in any session', async () => {
    const users = await newSession();
    await count(1, users);
    await remove('/api/users/ann');
    expect((await read()).body['contexts']).toEqual([]);
  });
});
