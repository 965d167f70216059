import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toolExecutor } from './support/tool-parts.js';
import { loadConfig } from '../src/config/index.js';
import type { Database } from '../src/persistence/index.js';
import type { RunOutcome } from '../src/run/index.js';
import type { RunContext } from '../src/run/context/index.js';
import type { RunEvent } from '../src/run/event/index.js';
import { endsStream } from '../src/run/event/run-event.types.js';
import { CallRates, SecurityPolicies, type SecurityPolicy } from '../src/tool-policy/index.js';
import type { ToolEffect } from '../src/tool/index.js';
import { ToolPolicyRegistry } from '../src/tool/decision/index.js';
import type { Tool } from '../src/tool/method/index.js';
import { TaintPolicy, ToolListPolicy } from '../src/tool-policy/tool-policies.js';
import { MortalDatabase, type Death } from './support/mortal-database.js';
import { mortalModel, reasonIn } from './support/reasoned-run.js';
import { aRun, completed, openDatabase, RunHost, type OpenDatabase } from './support/run-host.js';
import { calls, says } from './support/scripted-chat-model.js';

/** Replies of every model: it reads untrusted content among other calls, and then tries an egress call. */
const REPLIES = [
  calls(['page', { n: 1 }], ['note', { n: 2 }], ['hidden', { n: 3 }]),
  calls(['note', { n: 4 }], ['mail', { n: 5 }], ['note', { n: 6 }]),
];
const FIRST: SecurityPolicy = {
  tools: [{ deny: ['hidden'] }],
  rateLimits: [{ per: 'session', calls: 4 }],
  taint: 'deny',
};
/** The policy after a crash: every denied tool is allowed, and the other way round. */
const OPPOSITE: SecurityPolicy = { tools: [{ deny: ['note', 'page'] }], rateLimits: [], taint: 'off' };

/** Consecutive processes, which share only external state. */
class World {
  readonly executed: string[] = [];
  private readonly config = loadConfig({ env: {} }).config;

  /** @param rates survive the end of a process */
  constructor(
    private readonly database: Database,
    private readonly rates: (policies: SecurityPolicies) => CallRates,
  ) {}

  async execute(context: RunContext, process: MortalDatabase, policy: SecurityPolicy): Promise<RunOutcome> {
    const policies = await SecurityPolicies.open(undefined, policy);
    const registry = new ToolPolicyRegistry();
    for (const one of [ToolListPolicy, TaintPolicy]) registry.register(new one(policies));
    const model = mortalModel(process, (said) => REPLIES[said] ?? says('the end'));
    const tools = [
      this.tool('page', 'read', process),
      this.tool('note', 'idempotent', process),
      this.tool('mail', 'idempotent', process),
      this.tool('hidden', 'read', process),
    ];
    const parts = { executor: toolExecutor({ policies: registry }), policies, rates: this.rates(policies) };
    const outcome = await reasonIn(context, { model, tools }, parts);
    return outcome.kind === 'waiting' ? outcome : completed(context.runId);
  }

  newRates(policies: SecurityPolicies): CallRates {
    return new CallRates(policies, this.config.database, this.database);
  }

  private tool(name: string, effect: ToolEffect, process: MortalDatabase): Tool {
    return {
      definition: { name, description: name, inputSchema: { type: 'object' } },
      metadata: { effect, source: name, egress: name === 'mail', untrusted: name === 'page' },
      validate: (value) => ({ valid: true, value }),
      invoke: async (input) => {
        if (process.isDead) return process.silence;
        this.executed.push(`${name} ${(input as { n: number }).n}`);
        return name;
      },
    };
  }
}

/** Decisions of a run without a crash. */
const UNDISTURBED = [
  'call_0 1 allowed tools',
  'call_0 1 allowed rate-limit',
  'call_1 1 allowed tools',
  'call_1 1 allowed rate-limit',
  'call_2 1 denied tools',
  'call_0 2 allowed tools',
  'call_0 2 allowed rate-limit',
  'call_1 2 allowed tools',
  'call_1 2 denied taint',
  'call_2 2 allowed tools',
  'call_2 2 allowed rate-limit',
].toSorted();

const DEATHS = Array.from({ length: 10 }, (_, commits) =>
  [false, true].map((isDurable): Death => ({ commits, isDurable })),
).flat();

describe('policy decisions of a run whose process dies', () => {
  let opened: OpenDatabase;
  let count = 0;
  /** Decisions that one process recorded and the next process used. */
  let held = 0;
  const processes: MortalDatabase[] = [];
  beforeAll(async () => {
    opened = await openDatabase();
  });
  afterAll(async () => {
    for (const process of processes) process.bury();
    await opened.close();
  });

  async function live(death?: Death, next = OPPOSITE) {
    const id = `run-${count++}`;
    let shared: CallRates | undefined;
    const world: World = new World(opened.database, (policies) => (shared ??= world.newRates(policies)));
    const lives: ReadonlyMap<string, unknown>[] = [];
    for (const policy of [FIRST, next]) {
      const mortal = new MortalDatabase(opened.database, lives.length === 0 ? death : undefined);
      processes.push(mortal);
      const host = new RunHost(mortal);
      host.scripts.set(id, (context) => world.execute(context, mortal, policy));
      const ended = new Promise<void>((resolve) => {
        host.bus.subscribe(id, ({ event }) => endsStream(event) && resolve());
      });
      const isThere = (await opened.database.query('SELECT id FROM run WHERE id = ?', [id])).length > 0;
      if (isThere) await Promise.race([host.dispatcher.recover(), mortal.died]);
      else void host.runs.start(aRun(id)).catch(() => undefined);
      await Promise.race([ended, mortal.died]);
      const recorded = await new RunHost(opened.database).journal.steps(id);
      lives.push(new Map(recorded.map(({ name, result }) => [name, JSON.parse(result) as unknown])));
      const [row] = await opened.database.query<{ status: string }>('SELECT status FROM run WHERE id = ?', [id]);
      if (row?.status === 'completed') break;
    }
    const events = (await new RunHost(opened.database).events(id)).map(({ event }) => event);
    return { world, lives, events };
  }

  it('are published in order, with the content that the model read, within the limit', async () => {
    const { world, events } = await live();
    expect(world.executed.toSorted()).toEqual(['note 2', 'note 4', 'note 6', 'page 1']);
    expect(decisions(events)).toEqual(UNDISTURBED);
  });

  it.each(DEATHS)(
    'remain in force, counted and published once: $commits commits, durable $isDurable',
    async (death) => {
      const { lives, events } = await live(death);
      const [first, second] = lives;
      const published = decisions(events);
      expect(published).toEqual([...new Set(published)]);
      expect(events.at(-1)).toMatchObject({ type: 'run.completed' });
      if (!second) return;
      for (const [name, decided] of first!) {
        if (!name.startsWith('policy:')) continue;
        held++;
        expect(second.get(name)).toEqual(decided);
        const { kind } = decided as { kind: string };
        const result = second.get(name.replace('policy:', 'tool:')) as { success: boolean };
        expect(result.success).toBe(kind === 'run');
      }
    },
  );

  it('were tested by those crashes', () => {
    expect(held).toBeGreaterThan(20);
  });

  it.each(DEATHS.filter(({ isDurable }) => isDurable))('count in a limit once: $commits commits', async (death) => {
    const { world, events } = await live(death, FIRST);
    expect(decisions(events)).toEqual(UNDISTURBED);
    expect(new Set(world.executed)).toEqual(new Set(['note 2', 'note 4', 'note 6', 'page 1']));
  });
});

function decisions(events: readonly RunEvent[]): string[] {
  return events
    .flatMap((event) =>
      event.type === 'policy.decided' && 'policy' in event
        ? [`${event.call_id} ${event.iteration} ${event.decision} ${event.policy}`]
        : [],
    )
    .toSorted();
}
