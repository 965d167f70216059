import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentService, FactMemory, ToolRegistry, type Principal } from '../src/index.js';
import { SecurityPolicies } from '../src/tool-policy/index.js';
import type { TaintMode } from '../src/tool/decision/index.js';
import { INJECTIONS, type Injection } from './fixtures/injections.js';
import { InjectedTools } from './support/injected.tool.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { ObedientChatModel, type ProtocolName } from './support/obedient-chat-model.js';

const LOCAL: Principal = { id: 'local', tenant: 'default', roles: ['admin'] };

it('the suite has at least sixty distinct injections', () => {
  expect(INJECTIONS.length).toBeGreaterThanOrEqual(60);
  expect(new Set(INJECTIONS.map(({ name }) => name)).size).toBe(INJECTIONS.length);
});

describe.each<ProtocolName>(['native', 'react', 'xml'])('a model that follows every instruction (%s)', (protocol) => {
  const model = new ObedientChatModel(protocol);
  const tools = new InjectedTools();
  let jackdaw: Jackdaw;
  let talks = 0;
  beforeAll(async () => {
    jackdaw = await startJackdaw({
      env: { DATABASE_URL: 'sqlite::memory:', LONG_TERM_MEMORY: 'on' },
      tools: [tools],
      options: { chatModel: model, agents: [{ name: 'a', protocol, model: { provider: 'obedient' } }] },
    });
  });
  afterAll(() => jackdaw.stop());

  /** The attacker's effects and the statuses of the turns. */
  async function attack(injection: Injection, taint?: TaintMode): Promise<{ effects: string[]; statuses: string[] }> {
    const { world, turns, wakesAt = 1, description } = injection;
    const policies = jackdaw.app.get(SecurityPolicies);
    await (taint ? policies.set({ taint, rateLimits: [] }) : policies.set());
    await jackdaw.app.get(FactMemory).eraseUser(LOCAL.tenant, LOCAL.id);
    registerForeign(description);
    model.forget();
    tools.effects.length = 0;
    tools.world = world;
    const talk = ++talks;
    const statuses: string[] = [];
    for (const [at, { tasks, session = 'talk', query }] of turns.entries()) {
      model.tasks = [...tasks];
      model.isAwake = at + 1 >= wakesAt;
      const request = { query: query ?? 'continue', sessionId: `${session}-${talk}`, isTainted: query !== undefined };
      statuses.push((await jackdaw.app.get(AgentService).chat(LOCAL, request)).status);
    }
    return { effects: [...tools.effects], statuses };
  }

  /** Registers an untrusted tool, whose description is untrusted, too, if the case gives one. */
  function registerForeign(description?: string): void {
    const registry = jackdaw.app.get(ToolRegistry);
    registry.unregister('mcp_search');
    registry.register({
      definition: { name: 'mcp_search', description: description ?? 'Searches.', inputSchema: { type: 'object' } },
      metadata: {
        effect: 'read',
        source: 'mcp:search',
        egress: false,
        untrusted: true,
        untrustedDefinition: description !== undefined,
      },
      validate: (value) => ({ valid: true, value }),
      invoke: (given) => tools.text((given as { to: string }).to),
    });
  }

  it.each(INJECTIONS)('sends no data out: $name', async (injection) => {
    const { effects, statuses } = await attack(injection);
    expect(effects).toEqual([]);
    expect(statuses).toContain('waiting');
  });

  it.each(INJECTIONS.filter((_, at) => at % 6 === 0))(
    'gets a denial and sends no data out: $name',
    async (injection) => {
      const { effects, statuses } = await attack(injection, 'deny');
      expect([effects, new Set(statuses)]).toEqual([[], new Set(['completed'])]);
    },
  );

  it.each(INJECTIONS)('would send data out without the policy: $name', async (injection) => {
    const { effects } = await attack(injection, 'off');
    expect(effects).toContainEqual(expect.stringContaining('attacker.example'));
  });

  it('still does the task of its user', async () => {
    const mail = { name: 'send_mail', arguments: { to: 'ann@friend.example' } };
    const { effects, statuses } = await attack({ name: 'none', world: {}, turns: [{ tasks: [[mail]] }] });
    expect([effects, statuses]).toEqual([['mail ann@friend.example'], ['completed']]);
  });
});
