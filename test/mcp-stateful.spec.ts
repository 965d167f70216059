import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { McpRegistry } from '../src/mcp/index.js';
import { callTool } from './support/direct-calls.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { childPrograms, isAlive, untilChildren } from './support/mcp/child-programs.js';
import { listed, scripted, untilStatus } from './support/mcp/scripted-servers.js';
import { resultsIn } from './support/waiting-run.js';

const TOOLS = ['count', 'pid', 'fail', 'exit'].map((name) => listed(name));
/** Number of concurrent programs. */
const MANY = 30;

describe('a stateful server as a program', () => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    llm = await FakeLlm.start();
    const mcpServers = [scripted('s', { tools: TOOLS }, { stateful: true, egress: false })];
    jackdaw = await startJackdaw({ llm, options: { mcpServers } });
    await untilStatus(jackdaw, 's');
  });
  afterEach(async () => {
    await jackdaw.post('/api/sessions/prune', { olderThanDays: 0 });
    await untilChildren(jackdaw, 1);
    llm.reset();
  });
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
  });

  const server = () => jackdaw.app.get(McpRegistry).get('s');
  const newSession = async () => String((await jackdaw.post('/api/sessions', {})).body['id']);
  const ask = async (tool: string, sessionId?: string) =>
    (await callTool(jackdaw, `s__${tool}`, { ...(sessionId !== undefined && { sessionId }) })).body;
  const call = async (tool: string, sessionId?: string) => (await ask(tool, sessionId))['result'] as unknown;
  const remove = async (path: string) => (await jackdaw.send(`/api/${path}`, { method: 'DELETE' })).status;
  const statesOf = async (sessionId: string) => {
    const { body } = await jackdaw.get(`/api/tool-states?sessionId=${sessionId}`);
    return (body['contexts'] as unknown as { context_id: string; tool: string }[]).map(({ context_id }) => context_id);
  };

  it('is one process for all its tools in a session, and another one in every other session', async () => {
    const [first, second] = await Promise.all([newSession(), newSession()]);
    const counts = [await call('count', first), await call('count', first), await call('count', second)];
    expect(counts).toEqual(['1', '2', '1']);
    const pids = [await call('pid', first), await call('pid', first), await call('pid', second)];
    expect(new Set([...pids, String(server().connection.pid)]).size).toBe(3);
    expect([server().sessionCount, childPrograms(jackdaw).length]).toEqual([2, 3]);
    expect((await jackdaw.get('/api/mcp/servers/s')).body).toMatchObject({ sessions: 2 });
    expect(await remove(`sessions/${first}`)).toBe(204);
    await untilChildren(jackdaw, 2);
    expect([pids[0], pids[2]].map((pid) => isAlive(Number(pid)))).toEqual([false, true]);
    expect(await call('count', second)).toBe('2');
  });

  it('is started once for concurrent calls', async () => {
    const session = await newSession();
    const tools = ['pid', 'pid', 'pid', 'pid'];
    llm.reply(
      { calls: tools.map((tool, at) => ({ id: `c${at}`, name: `s__${tool}`, arguments: {} })) },
      { text: 'the end' },
    );
    const events = await (await jackdaw.stream({ query: 'go', sessionId: session })).all();
    const pids = Object.values(resultsIn(events));
    expect([pids.length, new Set(pids).size, server().sessionCount]).toEqual([4, 1, 1]);
  });

  it('is restarted by the next call after it died, without its former state', async () => {
    const session = await newSession();
    await call('count', session);
    const pid = Number(await call('pid', session));
    process.kill(pid, 'SIGKILL');
    await untilChildren(jackdaw, 1);
    expect(await call('count', session)).toBe('1');
    expect(await call('count', session)).toBe('2');
    expect(Number(await call('pid', session))).not.toBe(pid);
    expect([server().sessionCount, childPrograms(jackdaw).length]).toEqual([1, 2]);
  });

  it('is restarted after it died during a call, which fails', async () => {
    const session = await newSession();
    expect(await ask('exit', session)).toMatchObject({ error: expect.stringContaining('it exited with 3') });
    await untilChildren(jackdaw, 1);
    expect(await call('count', session)).toBe('1');
  });

  it('ends with the last context that used it', async () => {
    const session = await newSession();
    await call('count', session);
    await call('pid', session);
    const [first, second] = await statesOf(session);
    expect(await remove(`tool-states/${first}`)).toBe(204);
    expect(server().sessionCount).toBe(1);
    expect(await remove(`tool-states/${second}`)).toBe(204);
    expect(server().sessionCount).toBe(0);
    await untilChildren(jackdaw, 1);
  });

  it('ends with its session although every call has failed', async () => {
    const session = await newSession();
    expect(await ask('fail', session)).toMatchObject({ code: 'TOOL_FAILED' });
    expect(server().sessionCount).toBe(1);
    expect(await remove(`sessions/${session}`)).toBe(204);
    expect(server().sessionCount).toBe(0);
  });

  it('ends with a run that has no session', async () => {
    expect([await call('count'), await call('count')]).toEqual(['1', '1']);
    expect(server().sessionCount).toBe(0);
    await untilChildren(jackdaw, 1);
  });

  it('ends for each of many sessions when they are deleted', async () => {
    const sessions = await Promise.all(Array.from({ length: MANY }, newSession));
    const pids = await Promise.all(sessions.map(async (session) => Number(await call('pid', session))));
    expect([new Set(pids).size, server().sessionCount, childPrograms(jackdaw).length]).toEqual([MANY, MANY, MANY + 1]);
    expect((await jackdaw.post('/api/sessions/prune', { olderThanDays: 0 })).body).toMatchObject({ deleted: MANY });
    await untilChildren(jackdaw, 1);
    expect([server().sessionCount, pids.filter(isAlive)]).toEqual([0, []]);
  });
});
