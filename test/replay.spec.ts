import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import type { Message } from '../src/llm/chat/index.js';
import type { RunOutcome } from '../src/run/index.js';
import type { RunContext } from '../src/run/context/index.js';
import { endsStream } from '../src/run/event/run-event.types.js';
import type { ToolEffect } from '../src/tool/index.js';
import type { Tool } from '../src/tool/method/index.js';
import { MortalDatabase, type Death } from './support/mortal-database.js';
import { mortalModel, reasonIn } from './support/reasoned-run.js';
import { aRun, completed, openDatabase, RunHost, type OpenDatabase } from './support/run-host.js';
import { calls, says } from './support/scripted-chat-model.js';

type Plan = readonly (readonly ToolEffect[])[];

/** All external effects, over all processes. */
class World {
  readonly executed: string[] = [];
  readonly asked: number[] = [];
  messages: readonly Message[] | null = null;

  constructor(private readonly plan: Plan) {}

  /** Executes the plan: in each iteration the tools of these effects, then an answer. */
  async execute(context: RunContext, process: MortalDatabase): Promise<RunOutcome> {
    const model = mortalModel(process, (iteration) => {
      this.asked.push(iteration);
      const effects = this.plan[iteration];
      if (!effects) return says('the end');
      return calls(...effects.map((effect, i) => [effect, { call: `${iteration}:${i}` }] as const));
    });
    const tools = (['read', 'idempotent', 'once'] as const).map((effect) => this.tool(effect, process));
    const outcome = await reasonIn(context, { model, tools });
    if (outcome.kind !== 'ended') return outcome;
    this.messages = outcome.messages;
    return completed(context.runId);
  }

  private tool(effect: ToolEffect, process: MortalDatabase): Tool {
    return {
      definition: { name: effect, description: effect, inputSchema: { type: 'object' } },
      metadata: { effect, source: effect, egress: false, untrusted: false },
      validate: (value) => ({ valid: true, value }),
      invoke: async (input) => {
        if (process.isDead) return process.silence;
        const { call } = input as { call: string };
        this.executed.push(`${effect} ${call}`);
        return `did ${call}`;
      },
    };
  }
}

const plans: fc.Arbitrary<Plan> = fc.array(
  fc.array(fc.constantFrom<ToolEffect[]>('read', 'idempotent', 'once'), { minLength: 1, maxLength: 3 }),
  { maxLength: 3 },
);
/** At most two: a third crash in the same step would mark the run as poison. */
const deaths = fc.array(fc.record({ commits: fc.nat(8), isDurable: fc.boolean() }), { maxLength: 2 });

describe('a run whose process dies repeatedly', () => {
  let opened: OpenDatabase;
  let count = 0;
  beforeAll(async () => {
    opened = await openDatabase();
  });
  const processes: MortalDatabase[] = [];
  afterAll(async () => {
    for (const process of processes) process.bury();
    await opened.close();
  });

  /** Runs one process after the other until one of them ends the run. */
  async function live(plan: Plan, all: readonly Death[]): Promise<{ world: World; id: string; lives: number }> {
    const world = new World(plan);
    const id = `run-${count++}`;
    for (let lives = 0; ; lives++) {
      const mortal = new MortalDatabase(opened.database, all[lives]);
      processes.push(mortal);
      const host = new RunHost(mortal);
      host.scripts.set(id, (context) => world.execute(context, mortal));
      const ended = new Promise<void>((resolve) => {
        host.bus.subscribe(id, ({ event }) => endsStream(event) && resolve());
      });
      const isThere = (await opened.database.query('SELECT id FROM run WHERE id = ?', [id])).length > 0;
      if (isThere) await Promise.race([host.dispatcher.recover(), mortal.died]);
      else void host.runs.start(aRun(id)).catch(() => undefined);
      await Promise.race([ended, mortal.died]);
      if (!mortal.isDead) return { world, id, lives };
      // The process died with the commit of the run's end: no work is left.
      const status = (await opened.database.query<{ status: string }>('SELECT status FROM run WHERE id = ?', [id]))[0]
        ?.status;
      if (status === 'completed' || status === 'waiting') return { world, id, lives };
    }
  }

  it('ends like an undisturbed run: no finished step is repeated, and no effect `once` happens twice', async () => {
    await fc.assert(
      fc.asyncProperty(plans, deaths, async (plan, all) => {
        const { world, id, lives } = await live(plan, all);
        const host = new RunHost(opened.database);
        const run = (await host.journal.find(id))!;
        const events = await host.events(id);
        expect(events.map(({ n }) => n)).toEqual(events.map((_, i) => i + 1));
        expectOnce(world.executed.filter((what) => what.startsWith('once')));
        for (const times of tally(world.executed).values()) expect(times).toBeLessThanOrEqual(lives + 1);
        for (const times of tally(world.asked).values()) expect(times).toBeLessThanOrEqual(lives + 1);
        expectOnce(events.flatMap(({ event }) => (event.type === 'message.completed' ? [event.iteration] : [])));
        expectOnce(
          events.flatMap(({ event }) =>
            event.type === 'tool.completed' ? [`${event.iteration} ${event.call_id}`] : [],
          ),
        );
        expectOnce((await host.journal.steps(id)).map(({ name }) => name));
        const mayWait = lives > 0 && plan.flat().includes('once');
        expect(mayWait ? ['completed', 'waiting'] : ['completed']).toContain(run.status);
        if (run.status === 'waiting') return;
        expect(world.messages).toEqual((await live(plan, [])).world.messages);
      }),
      { numRuns: 300 },
    );
  });
});

function tally<T>(all: readonly T[]): Map<T, number> {
  const counts = new Map<T, number>();
  for (const one of all) counts.set(one, (counts.get(one) ?? 0) + 1);
  return counts;
}

function expectOnce(all: readonly (string | number)[]): void {
  expect(all).toEqual([...new Set(all)]);
}
