import { afterAll, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { adaptStateful, Extension, type ExtensionHost, Parameter, Tool } from '../src/index.js';
import { AgentHost } from './support/agent-host.js';
import { CounterTools } from './support/counter.tool.js';

class GuardedTools {
  @Tool({ description: 'Pays.', effect: 'read', approval: 'always', input: { type: 'object', properties: {} } })
  pay(): string {
    return 'paid';
  }
}

/** An object as one finds them. */
class Basket {
  constructor(readonly goods: string[] = []) {}
}

class BasketExtension extends Extension {
  readonly name = 'basket';
  readonly version = '1.0.0';
  override register(host: ExtensionHost): void {
    host.registerTool(
      adaptStateful<Basket>({
        name: 'basket',
        description: 'Puts things into the basket.',
        effect: 'read',
        parameters: [Parameter.string('put', 'What.', true)],
        create: () => new Basket(),
        call: ({ goods }, { put }: { put: string }) => goods.push(put),
        snapshot: ({ goods }) => ({ goods }),
        restore: ({ goods }: { goods: string[] }) => new Basket(goods),
      }),
    );
  }
}

Logger.overrideLogger(false);

const host = new AgentHost();
afterAll(() => host.stop());

/** One that goes on where the last one on its folder was. */
async function start(env = host.environment(), on = host) {
  const options = { tools: [CounterTools, GuardedTools], extensions: [BasketExtension] };
  return on.start({ ...options, env: { ...env, TOOL_STATE_MANAGER: 'persistent', TOOL_STATE_FORMAT: 'sqlite' } });
}

describe('a tool called by code', () => {
  it('gives its value, and finds in a session what it left there', async () => {
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
  ])('throws what became of it: %s %j', async (tool, args, session, error) => {
    const agent = await start();
    await expect(agent.executeTool(tool, args as Record<string, unknown>, session)).rejects.toMatchObject(error);
  });

  it('may be bound to a session that no agent knows, and one that keeps no state may not', async () => {
    const agent = await start();
    const session = agent.createStatefulToolSession('tally', 'my-own');
    expect([await session.execute({ by: 2 }), await session.execute()]).toEqual([{ was: 0 }, { was: 2 }]);
    expect(await session.cleanup()).toBe(true);
    expect(() => agent.createStatefulToolSession('pay', 'my-own')).toThrow('Tool "pay" keeps no state');
  });

  it('has an object of its own restored after a restart', async () => {
    const env = host.environment();
    const before = new AgentHost();
    const first = await start(env, before);
    const { id } = await first.sessions.create();
    expect(await first.executeTool('basket', { put: 'pear' }, id)).toBe(1);
    await before.stop();
    const second = await start(env);
    expect(await second.executeTool('basket', { put: 'fig' }, id)).toBe(2);
    expect(await second.createStatefulToolSession('basket', id).state()).toMatchObject({
      data: { goods: ['pear', 'fig'] },
      version: 2,
    });
  });
});
