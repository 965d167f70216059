import { afterAll, describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { readFileSync } from 'node:fs';
import { Tool } from '../src/index.js';
import { AgentHost } from './support/agent-host.js';
import { BasketExtension } from './support/basket-extension.js';
import { CounterTools } from './support/counter.tool.js';

class GuardedTools {
  @Tool({ description: 'Pays.', effect: 'read', approval: 'always', input: { type: 'object', properties: {} } })
  pay(): string {
    return 'paid';
  }
}

Logger.overrideLogger(false);

const host = new AgentHost();
afterAll(() => host.stop());

/** Starts an agent on the same data folder as the one before. */
async function start(env = host.environment(), on = host) {
  const options = { tools: [CounterTools, GuardedTools], extensions: [BasketExtension] };
  return on.start({ ...options, config: { ...env, TOOL_STATE_MANAGER: 'persistent', TOOL_STATE_FORMAT: 'sqlite' } });
}

describe('a tool called by code', () => {
  it('returns its value, and finds its earlier state in a session', async () => {
    const agent = await start();
    const { id } = await agent.sessions.create();
    expect([await agent.executeTool('count', {}, id), await agent.executeTool('count', { by: 5 }, id)]).toEqual([1, 6]);
    expect([await agent.executeTool('count'), await agent.executeTool('count')]).toEqual([1, 1]);
    expect(await agent.createStatefulToolSession('count', id).execute()).toBe(7);
    expect((await agent.createStatefulToolSession('count', id).history()).map(({ by }) => by)).toHaveLength(6);
  });

  it.each<[string, object, string | undefined, object]>([
    ['breaking', { save: false }, undefined, { code: 'TOOL_FAILED', details: { run_id: expect.any(String) } }],
    ['count', { by: 'x' }, undefined, { code: 'TOOL_INVALID_ARGUMENTS' }],
    ['cuont', {}, undefined, { code: 'TOOL_NOT_FOUND' }],
    ['count', {}, 'nowhere', { code: 'SESSION_NOT_FOUND' }],
    ['pay', {}, undefined, { code: 'RUN_WAITING', details: { waiting: [{ kind: 'approval' }] } }],
  ])('throws its outcome: %s %j', async (tool, args, session, error) => {
    const agent = await start();
    await expect(agent.executeTool(tool, args as Record<string, unknown>, session)).rejects.toMatchObject(error);
  });

  it('may be bound to a session unknown to any agent, unless it is stateless', async () => {
    const agent = await start();
    const session = agent.createStatefulToolSession('tally', 'my-own');
    expect([await session.execute({ by: 2 }), await session.execute()]).toEqual([{ was: 0 }, { was: 2 }]);
    expect(await session.cleanup()).toBe(true);
    expect(() => agent.createStatefulToolSession('pay', 'my-own')).toThrow('Tool "pay" keeps no state');
  });

  it('has its own object restored after a restart', async () => {
    const env = host.environment();
    const before = new AgentHost();
    const first = await start(env, before);
    const { id } = await first.sessions.create();
    expect(await first.executeTool('basket', { what: 'pear' }, id)).toBe(1);
    await before.stop();
    const second = await start(env);
    expect(await second.executeTool('basket', { what: 'fig' }, id)).toBe(2);
    expect(await second.createStatefulToolSession('basket', id).state()).toMatchObject({
      data: { goods: ['pear', 'fig'] },
      version: 2,
    });
  });
});

describe('docs/tool-state.md', () => {
  it('contains the code of this test', () => {
    const code = readFileSync('test/support/basket-extension.ts', 'utf8').replaceAll('../../src/index.js', 'jackdaw');
    expect(readFileSync('docs/tool-state.md', 'utf8')).toContain(`\`\`\`ts\n${code}\`\`\`\n`);
  });
});
