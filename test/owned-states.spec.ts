import { afterEach, describe, expect, it } from 'vitest';
import { NestFactory } from '@nestjs/core';
import { JackdawModule, type Principal, ToolStateService } from '../src/index.js';
import { AgentHost } from './support/agent-host.js';
import { CounterTools } from './support/counter.tool.js';
import { calls, says, ScriptedChatModel } from './support/scripted-chat-model.js';
import { WaitingTools } from './support/waiting.tool.js';

const host = new AgentHost();
afterEach(() => host.stop());

const user = (id: string): Principal => ({ id, tenant: 'a', roles: ['user'] });

async function start(principal: Principal, env = host.environment(), script = [says('Fine.')]) {
  return host.start({ config: env, principal, tools: [new CounterTools(), new WaitingTools()] }, script);
}

describe.each([
  ['memory', {}],
  ['distributed', { TOOL_STATE_MANAGER: 'distributed' }],
  ['persistent', { TOOL_STATE_MANAGER: 'persistent', SESSION_STORE: 'file' }],
])('the states of an agent, by the manager %s', (manager, env) => {
  it('are those that its tools read and change', async () => {
    const agent = await start(user('ann'), { ...host.environment(), ...env });
    const { id } = await agent.sessions.create();
    const context = await agent.states.createContext(id, 'count');
    expect(await agent.states.createContext(id, 'count')).toBe(context);
    expect(await agent.states.getState(context, 'business')).toBeNull();
    expect(await agent.states.setState(context, 'business', { count: 40 })).toMatchObject({ version: 1 });
    expect(await agent.executeTool('count', { by: 2 }, id)).toBe(42);
    const added = await agent.states.updateState(context, 'business', ({ count }) => ({ count: Number(count) + 1 }));
    expect(added).toMatchObject({ contextId: context, type: 'business', version: 3, data: { count: 43 } });
    await agent.states.setState(context, 'cache', { words: ['x'] }, { ttlMs: 60_000 });
    expect(await agent.states.getContextInfo(context)).toMatchObject({
      session: id,
      tool: 'count',
      tenant: 'a',
      manager,
    });
    expect((await agent.states.getHistory(context)).map(({ kind }) => kind)).toEqual([
      'execution_success',
      'execution_start',
    ]);
    expect((await agent.states.getVersions(context)).map(({ version, by }) => [version, by])).toEqual([
      [3, 'ann'],
      [2, expect.stringContaining(':')],
      [1, 'ann'],
    ]);
    expect(await agent.states.rollback(context, 1)).toMatchObject({ version: 4, data: { count: 40 } });
    expect(await agent.states.deleteState(context, 'cache')).toBe(true);
    expect(await agent.states.deleteState(context, 'cache')).toBe(false);
    expect(await agent.states.cleanupContext(context)).toBe(true);
    expect(await agent.states.cleanupContext(context)).toBe(false);
    expect(await agent.states.getContextInfo(context)).toBeNull();
  });

  it('are listed by tool and session', async () => {
    const { states, sessions } = await start(user('ann'), { ...host.environment(), ...env });
    const [one, other] = [(await sessions.create()).id, (await sessions.create()).id];
    const made = [
      await states.createContext(one, 'count'),
      await states.createContext(one, 'tally'),
      await states.createContext(other, 'count'),
    ];
    expect(await states.listContexts()).toEqual(made.toSorted());
    expect(await states.listContexts({ tool: 'tally' })).toEqual([made[1]]);
    expect(await states.listContexts({ sessionId: other })).toEqual([made[2]]);
    const [first] = made.toSorted();
    expect(await states.listContexts({ limit: 1 })).toEqual([first]);
    expect(await states.listContexts({ after: first! })).toEqual(made.toSorted().slice(1));
  });
});

describe('the states of an agent', () => {
  it('are absent for another principal of the tenant', async () => {
    const env = { ...host.environment(), TOOL_STATE_MANAGER: 'distributed' };
    const ann = await start(user('ann'), env);
    const { id } = await ann.sessions.create();
    const context = await ann.states.createContext(id, 'count');
    await ann.states.setState(context, 'business', { count: 1 });
    const { states } = await start(user('amy'), env);
    await expect(states.createContext(id, 'count')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    for (const refused of [
      () => states.setState(context, 'business', {}),
      () => states.updateState(context, 'business', {}),
      () => states.getHistory(context),
      () => states.getVersions(context),
      () => states.rollback(context, 1),
    ]) {
      await expect(refused()).rejects.toMatchObject({ code: 'TOOL_STATE_NOT_FOUND' });
    }
    expect(await states.listContexts()).toEqual([]);
    expect([await states.getState(context, 'business'), await states.getContextInfo(context)]).toEqual([null, null]);
    expect([await states.deleteState(context, 'business'), await states.cleanupContext(context)]).toEqual([
      false,
      false,
    ]);
    const admin = await start({ id: 'root', tenant: 'a', roles: ['admin'] }, env);
    expect(await admin.states.getState(context, 'business')).toMatchObject({ data: { count: 1 } });
  });

  it('are erased together with their writer', async () => {
    const env = { ...host.environment(), TOOL_STATE_MANAGER: 'distributed' };
    const ann = await start(user('ann'), env);
    const { id } = await ann.sessions.create();
    const context = await ann.states.createContext(id, 'count');
    const root = await start({ id: 'root', tenant: 'a', roles: ['admin'] }, env);
    await root.chat('Hello');
    await root.states.setState(context, 'session', { note: 'by root' });
    expect(await ann.states.getState(context, 'session')).toMatchObject({ data: { note: 'by root' } });
    await root.sessions.eraseUser('root');
    expect(await ann.states.getContextInfo(context)).toBeNull();
  });

  it.each<[string, (states: Awaited<ReturnType<typeof start>>['states'], session: string) => Promise<unknown>, object]>(
    [
      ['an unknown tool', (states, id) => states.createContext(id, 'cuont'), { code: 'TOOL_NOT_FOUND' }],
      ['a stateless tool', (states, id) => states.createContext(id, 'stateless'), { code: 'TOOL_STATE_NOT_FOUND' }],
      ['an unknown session', (states) => states.createContext('nowhere', 'count'), { code: 'SESSION_NOT_FOUND' }],
      ['an unknown context', (states) => states.setState('ctx_x', 'business', {}), { code: 'TOOL_STATE_NOT_FOUND' }],
      [
        'a change of the connection state',
        async (states, id) => states.setState(await states.createContext(id, 'count'), 'connection' as 'cache', {}),
        { code: 'VALIDATION_FAILED', message: expect.stringContaining('Jackdaw maintains the connection state') },
      ],
      [
        'an outdated version',
        async (states, id) => {
          const context = await states.createContext(id, 'strict');
          await states.setState(context, 'business', { n: 1 });
          return states.setState(context, 'business', { n: 2 }, { basedOn: 0 });
        },
        { code: 'TOOL_STATE_CONFLICT' },
      ],
      [
        'data that JSON would lose',
        async (states, id) =>
          states.setState(await states.createContext(id, 'count'), 'business', { seen: new Map() } as never),
        { name: 'TypeError', message: expect.stringContaining('state.seen is a Map') },
      ],
    ],
  )('refuse %s', async (_what, act, error) => {
    const agent = await start(user('ann'));
    agent.registerTool({ name: 'strict', description: 'x', stateful: { conflict: 'error' }, handler: () => 1 });
    const { id } = await agent.sessions.create();
    await expect(act(agent.states, id)).rejects.toMatchObject(error);
  });

  it('are not deleted or rolled back during a run of their session', async () => {
    const agent = await start(user('ann'), host.environment(), [
      calls(['pay', { to: 'bob', amount: 5 }]),
      says('Paid.'),
    ]);
    const { id } = await agent.sessions.create();
    const context = await agent.states.createContext(id, 'count');
    await agent.chat('Pay', { sessionId: id });
    await agent.states.setState(context, 'business', { count: 1 });
    await expect(agent.states.cleanupContext(context)).rejects.toMatchObject({ code: 'SESSION_BUSY' });
    await expect(agent.states.rollback(context, 1)).rejects.toMatchObject({ code: 'SESSION_BUSY' });
  });
});

describe('ToolStateService in a Nest application', () => {
  it('gives the states of any principal', async () => {
    const module = JackdawModule.forRoot({
      config: host.environment(),
      chatModel: new ScriptedChatModel([]),
      tools: [CounterTools],
    });
    const app = await NestFactory.createApplicationContext(module, { logger: ['error'] });
    try {
      const states = app.get(ToolStateService).of(user('ann'));
      expect(await states.listContexts()).toEqual([]);
      await expect(states.createContext('nowhere', 'count')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    } finally {
      await app.close();
    }
  });
});
