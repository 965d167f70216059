import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Injectable, Logger } from '@nestjs/common';
import {
  Cache,
  LocalTurnArchive,
  Tool,
  ToolState,
  TurnArchive,
  type CreateAgentOptions,
  type StoredTurn,
  type TurnSpan,
} from '../src/index.js';
import { loadConfig } from '../src/config/index.js';
import { chooseTurnArchive, MemoryTurnArchive } from '../src/session/projection/turn-archive.factory.js';
import { MemoryStateStore } from '../src/tool-state/state-backend.registry.js';
import type { ContextWrite } from '../src/tool-state/index.js';
import { AgentHost } from './support/agent-host.js';
import { FakeLlm } from './support/fake-llm.js';
import { calls, says, ScriptedChatModel } from './support/scripted-chat-model.js';

Logger.overrideLogger(false);
const host = new AgentHost();
afterEach(() => host.stop());

const KEYS = { ENCRYPTION_KEYS: `k:${Buffer.alloc(32, 7).toString('base64')}` };
const seen = (model: ScriptedChatModel, at: number) => model.requests[at]!.messages.map(({ content }) => content);

class MapCache extends Cache {
  readonly entries = new Map<string, string>();
  closed = 0;
  async get(key: string): Promise<string | null> {
    return this.entries.get(key) ?? null;
  }
  async set(key: string, value: string): Promise<void> {
    this.entries.set(key, value);
  }
  async close(): Promise<void> {
    this.closed++;
  }
}

describe('the option cache', () => {
  let llm: FakeLlm;
  beforeAll(async () => {
    llm = await FakeLlm.start();
  });
  beforeEach(() => llm.reset());
  afterAll(() => llm.close());

  const start = (options: CreateAgentOptions) =>
    host.start({
      model: { name: 'gpt-4o', parameters: { temperature: 0 } },
      config: { ...host.environment(), ...llm.env },
      ...options,
    });
  const ask = async (options: CreateAgentOptions) => {
    const agent = await start(options);
    llm.reply({ text: 'first' }, { text: 'second' });
    const replies = [await agent.chat('Hi?', { newSession: true }), await agent.chat('Hi?', { newSession: true })];
    return replies.map(({ content }) => content);
  };

  it('stores model replies, and is closed with the application', async () => {
    const cache = new MapCache();
    expect(await ask({ cache })).toEqual(['first', 'first']);
    expect([llm.requests.length, cache.entries.size]).toEqual([1, 1]);
    await host.stop();
    expect(cache.closed).toBe(1);
  });

  it('is optional for an answer: a failing, hanging or faulty cache counts as a miss', async () => {
    class Failing extends MapCache {
      override get = () => Promise.reject(new Error('connection lost'));
      override set = () => Promise.reject(new Error('connection lost'));
    }
    class Throwing extends MapCache {
      override get = () => {
        throw new Error('connection lost');
      };
    }
    class Hanging extends MapCache {
      override get = () => new Promise<null>(() => undefined);
    }
    class Faulty extends MapCache {
      override get = async () => 42 as unknown as string;
    }
    for (const cache of [Failing, Throwing, Hanging, Faulty]) {
      llm.reset();
      expect(await ask({ cache })).toEqual(['first', 'second']);
      await host.stop();
    }
  });

  it('is refused without the port as base class, and with encryption at rest', async () => {
    const copy = { get: async () => null, set: async () => undefined, close: async () => undefined };
    await expect(start({ cache: copy })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'cache is no Cache: its class must extend Cache.',
    });
    const env = { ...host.environment(), ...llm.env, ...KEYS };
    await expect(host.start({ cache: MapCache, config: env })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('ENCRYPTION_KEYS'),
    });
  });
});

/** A session store as an application would write it. */
@Injectable()
class ListArchive extends LocalTurnArchive {
  readonly turns = new Map<string, StoredTurn[]>();
  readonly marksOf = new Map<string, Map<number, number>>();
  fails = false;

  private list({ tenant, id }: { tenant: string; id: string }): StoredTurn[] {
    const name = JSON.stringify([tenant, id]);
    if (!this.turns.has(name)) this.turns.set(name, []);
    return this.turns.get(name)!;
  }
  async get(key: { tenant: string; id: string }, turns: readonly number[]): Promise<StoredTurn[]> {
    return this.list(key).filter(({ turn }) => turns.includes(turn));
  }
  async span(key: { tenant: string; id: string }): Promise<TurnSpan> {
    const all = this.list(key);
    return { first: all[0]?.turn ?? 0, last: all.at(-1)?.turn ?? 0 };
  }
  async marks({ id }: { id: string }): Promise<ReadonlyMap<number, number>> {
    return this.marksOf.get(id) ?? new Map();
  }
  protected async put(key: { tenant: string; id: string }, turn: StoredTurn): Promise<void> {
    const all = this.list(key);
    if (this.fails) throw new Error('disk full');
    if (!all.some((one) => one.turn === turn.turn)) all.push(turn);
  }
  protected async setMark(): Promise<void> {}
  protected async remove(key: { tenant: string; id: string }, through: number): Promise<void> {
    const left = this.list(key).filter(({ turn }) => turn > through);
    this.list(key).splice(0, Infinity, ...left);
  }
  protected async drop(): Promise<void> {}
  async close(): Promise<void> {}
}

describe('the option sessionStore', () => {
  it('stores the turns of sessions, across restarts', async () => {
    const [env, sessionStore] = [host.environment(), new ListArchive()];
    const first = await host.start({ config: env, sessionStore }, [says('Hello Ann.')]);
    await first.chat('I am Ann.', { sessionId: 's' });
    await first.close();
    expect([...sessionStore.turns.keys()]).toEqual(['["default","s"]']);
    const model = new ScriptedChatModel([says('Ann.')]);
    const second = await host.start({ config: env, sessionStore, chatModel: model });
    await second.chat('Who am I?', { sessionId: 's' });
    expect(seen(model, 0)).toEqual(expect.arrayContaining(['I am Ann.', 'Hello Ann.', 'Who am I?']));
    await second.sessions.delete('s');
    await second.close();
    expect([...sessionStore.turns.values()]).toEqual([[]]);
  });

  it('loses no turn while it is unavailable', async () => {
    const sessionStore = new ListArchive();
    const agent = await host.start({ sessionStore }, [says('Hello.')]);
    sessionStore.fails = true;
    expect((await agent.chat('Hi.', { sessionId: 's' })).content).toBe('Hello.');
    sessionStore.fails = false;
    expect(await agent.session('s').turns()).toHaveLength(1);
  });

  it('can be a class, which Nest creates', async () => {
    const agent = await host.start({ sessionStore: ListArchive }, [says('Hello.')]);
    await agent.chat('Hi.', { sessionId: 's' });
    expect(await agent.session('s').turns()).toHaveLength(1);
  });

  it.each([
    ['sessionStore', { sessionStore: ListArchive }, 'SESSION_STORE', 'memory'],
    ['sessionStore', { sessionStore: ListArchive }, 'JACKDAW_SESSION_STORE', 'memory'],
    ['cache', { cache: MapCache }, 'LLM_CACHE', 'memory'],
  ])('or a cache is refused beside the variable that it replaces: %s %j %s', async (option, given, variable, value) => {
    const env = { ...host.environment(), [variable]: value };
    await expect(host.start({ ...given, config: env })).rejects.toMatchObject({
      code: 'AGENT_INVALID',
      message: expect.stringContaining(`${option} and config.${variable}`),
    });
  });

  it('is refused beside memory.persistence, encryption at rest, and in a cluster if it serves one process', async () => {
    const memory = { persistence: { enabled: false } };
    await expect(host.start({ sessionStore: ListArchive, memory })).rejects.toMatchObject({
      code: 'AGENT_INVALID',
      message: expect.stringContaining('sessionStore and memory.persistence'),
    });
    const env = { ...host.environment(), ...KEYS };
    await expect(host.start({ sessionStore: ListArchive, config: env })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
    const { config } = loadConfig({ env: { DATABASE_URL: 'postgres://localhost/x' } });
    const chosen = (own: TurnArchive) =>
      chooseTurnArchive(own, config.security, config.session, config.database, {} as never);
    await expect(chosen(new MemoryTurnArchive())).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('extend TurnArchive'),
    });
  });
});

@Injectable()
class CounterTool {
  @Tool({ description: 'Counts.', effect: 'read', stateful: { manager: 'crm', initial: { count: 0 } } })
  async count(@ToolState() state: ToolState<{ count: number }>): Promise<number> {
    state.update(({ count }) => ({ count: count + 1 }));
    return state.data.count;
  }
}

describe('the option stateManagers', () => {
  class FlakyStore extends MemoryStateStore {
    fails = false;
    override async write(write: ContextWrite): Promise<boolean> {
      if (this.fails) throw new Error('connection lost');
      return super.write(write);
    }
  }
  const count = (times: number) => Array.from({ length: times }, () => [calls(['count', {}]), says('Counted.')]).flat();

  it('store the states of tools that name them, across restarts', async () => {
    const [env, crm] = [host.environment(), new FlakyStore()];
    for (const expected of [1, 2]) {
      const model = new ScriptedChatModel(count(1));
      const agent = await host.start({ config: env, chatModel: model, tools: [CounterTool], stateManagers: { crm } });
      await agent.chat('Count.', { sessionId: 's' });
      expect(seen(model, 1).at(-1)).toBe(String(expected));
      await agent.close();
    }
    expect(await crm.tenants()).toEqual(['default']);
  });

  it('lose no change while their store is unavailable', async () => {
    const crm = new FlakyStore();
    const agent = await host.start({ tools: [CounterTool], stateManagers: { crm } }, count(2));
    crm.fails = true;
    const first = await agent.chat('Count.', { sessionId: 's' });
    expect(first.isComplete).toBe(true);
    crm.fails = false;
    await agent.chat('Count.', { sessionId: 's' });
    const [id] = await crm.list({ tenant: 'default' });
    expect(JSON.parse((await crm.load(id!))!.states.business!.json)).toEqual({ count: 2 });
  });

  it('are closed with the application, also without a tool that uses them', async () => {
    let closed = 0;
    class ClosableStore extends MemoryStateStore {
      override async close(): Promise<void> {
        closed++;
      }
    }
    const agent = await host.start({ stateManagers: { crm: ClosableStore } });
    await agent.close();
    expect(closed).toBe(1);
  });

  it('are refused with a name of Jackdaw, and with encryption at rest', async () => {
    await expect(host.start({ stateManagers: { memory: MemoryStateStore } })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('stateManagers.memory'),
    });
    const env = { ...host.environment(), ...KEYS };
    await expect(host.start({ config: env, stateManagers: { crm: MemoryStateStore } })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
  });

  it('reject a tool that names an unknown manager', async () => {
    await expect(host.start({ tools: [CounterTool] })).rejects.toMatchObject({
      code: 'TOOL_INVALID',
      message: expect.stringContaining('its stateful.manager is "crm": use "memory"'),
    });
  });
});
