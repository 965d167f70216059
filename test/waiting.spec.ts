import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { WaitingRunStore } from '../src/run/decision/waiting-run.store.js';
import type { AppError } from '../src/errors/index.js';
import type { RunContext } from '../src/run/context/index.js';
import { RunDecisionService, type Verdict, type WaitingRequest } from '../src/run/decision/index.js';
import { endsStream } from '../src/run/event/run-event.types.js';
import { MortalDatabase, type Death } from './support/mortal-database.js';
import { expectPairSafe } from './support/pairs.js';
import { INPUT } from './support/reasoned-run.js';
import { ALICE, aRun, openDatabase, RunHost, type OpenDatabase } from './support/run-host.js';
import { NaiveContext, WaitingWorld, type NeedyCall } from './support/waiting-world.js';
import { Ownership } from '../src/security/index.js';
import { PLAIN_CIPHER } from '../src/security/encryption/index.js';

/** Choices of people, one number for each decision. */
type People = readonly number[];

const needyCalls = fc.record<NeedyCall>({
  effect: fc.constantFrom('read', 'idempotent', 'once'),
  needsApproval: fc.boolean(),
  asks: fc.nat(2),
  reconciles: fc.constantFrom('never', 'truly', 'throws'),
});
const plans = fc.array(fc.array(needyCalls, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 2 });
/** At most two crashes, so that no step counts as poison. */
const deaths = fc.array(fc.record({ commits: fc.nat(9), isDurable: fc.boolean() }), { maxLength: 2 });
const people = fc.array(fc.nat(1_000_000), { minLength: 60, maxLength: 60 });

let opened: OpenDatabase;
let count = 0;
const processes: MortalDatabase[] = [];
beforeAll(async () => {
  opened = await openDatabase();
});
afterAll(async () => {
  for (const process of processes) process.bury();
  await opened.close();
});

interface Life {
  readonly world: WaitingWorld;
  readonly people: Iterator<number>;
  readonly id: string;
  readonly engine: 'ours' | 'naive';
}

/** One process, from its start until the run has ended or the process is dead. @returns whether the run has ended */
async function liveOnce({ world, people: next, id, engine }: Life, death: Death | undefined): Promise<boolean> {
  // Ensures that pending statements of a dead process have been applied or dropped.
  await opened.database.commit([]);
  const mortal = new MortalDatabase(opened.database, death);
  processes.push(mortal);
  const host = new RunHost(mortal);
  const decisions = new RunDecisionService(
    host.journal,
    host.bus,
    new WaitingRunStore(host.database, PLAIN_CIPHER, new Ownership()),
  );
  const contextFor = (context: RunContext) => (engine === 'ours' ? context : new NaiveContext(context));
  host.scripts.set(id, (context) => world.execute(contextFor(context), mortal));
  const alive = <T>(work: Promise<T>): Promise<T | void> => Promise.race([work, mortal.died]);
  let stopped = stops(host, id);
  const isNew = (await statusOf(id)) === undefined;
  const begin: Promise<unknown> = isNew ? host.runs.start(aRun(id)) : host.dispatcher.recover();
  begin.catch(() => undefined);
  await alive(begin);
  for (;;) {
    if ((await statusOf(id)) !== 'waiting') await alive(stopped);
    if (mortal.isDead) return (await statusOf(id)) === 'completed';
    if ((await statusOf(id)) === 'completed') return true;
    stopped = stops(host, id);
    await alive(decideSomething(host, decisions, id, world, next));
  }
}

function stops(host: RunHost, id: string): Promise<void> {
  return new Promise((resolve) => {
    const unsubscribe = host.bus.subscribe(id, ({ event }) => {
      if (!endsStream(event)) return;
      unsubscribe();
      resolve();
    });
  });
}

async function statusOf(id: string): Promise<string | undefined> {
  const [row] = await opened.database.query<{ status: string; expires_at: number | null }>(
    'SELECT status, expires_at FROM run WHERE id = ?',
    [id],
  );
  if (row && row.status !== 'waiting') expect(row.expires_at).toBeNull();
  return row?.status;
}

/** People decide about some of the requests; one of two concurrent decisions counts. */
async function decideSomething(
  host: RunHost,
  decisions: RunDecisionService,
  id: string,
  world: WaitingWorld,
  next: Iterator<number>,
): Promise<void> {
  const choice = () => next.next().value as number;
  const waiting = await decisions.open(ALICE, id);
  expect(waiting.requests.length).toBeGreaterThan(0);
  if (choice() % 40 === 0) return void (await host.runs.cancel(ALICE, id));
  const chosen = waiting.requests.filter(() => choice() % 2 === 0);
  const requests = chosen.length > 0 ? chosen : waiting.requests.slice(0, 1);
  const answers = () => requests.map((request) => ({ request, verdict: verdictOn(request, world, choice()) }));
  const both = [decisions.decide(waiting, answers(), 'ann'), decisions.decide(waiting, answers(), 'bob')];
  const outcomes = await Promise.allSettled(both);
  const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [(one.reason as AppError).code] : []));
  expect(refused).toEqual(['RUN_NOT_WAITING']);
}

/** A person never requests a retry of a call that happened: people can verify that, and the engine cannot. */
function verdictOn(request: WaitingRequest, world: WaitingWorld, choice: number): Verdict {
  const one = <T>(...of: readonly T[]): T => of[choice % of.length]!;
  switch (request.kind) {
    case 'approval': {
      const edited = JSON.stringify({ ...(JSON.parse(request.arguments) as object), isEdited: true });
      return one<Verdict>(
        { kind: 'approve' },
        { kind: 'approve', arguments: edited },
        { kind: 'deny', reason: 'no' },
        { kind: 'expire' },
      );
    }
    case 'input':
      if (choice % 8 < 2) return choice % 8 === 0 ? { kind: 'expire' } : { kind: 'deny' };
      return { kind: 'input', value: Number(request.question) + 1 };
    case 'child':
    case 'restored':
      throw new Error('No call of this world is a run, and no database was restored.');
    case 'outcome_unknown': {
      const happened = world.wasDone(request.step.replace('tool:', ''));
      return one<Verdict>(
        happened ? { kind: 'expire' } : { kind: 'settle', outcome: 'retry' },
        { kind: 'settle', outcome: 'succeeded', result: 'seen' },
        { kind: 'settle', outcome: 'failed', error: 'not there' },
        { kind: 'expire' },
      );
    }
  }
}

/** Runs one process after the other until one of them ends the run. */
async function live(plan: WaitingWorld['plan'], all: readonly Death[], who: People, engine: Life['engine'] = 'ours') {
  const world = new WaitingWorld(plan);
  const id = `run-${count++}`;
  const life: Life = { world, people: who[Symbol.iterator](), id, engine };
  let lives = 0;
  while (!(await liveOnce(life, all[lives]))) lives++;
  return { world, id, lives };
}

function repeatedIn({ deeds }: WaitingWorld): string[] {
  const once = deeds.filter(({ effect }) => effect === 'once').map(({ place }) => place);
  return once.filter((place, i) => once.indexOf(place) !== i);
}

async function expectTrue({ world, id, lives }: Awaited<ReturnType<typeof live>>): Promise<void> {
  expectPairSafe(world.messages, INPUT);
  expect([repeatedIn(world), world.strayMemos]).toEqual([[], []]);
  for (const { place } of world.deeds) {
    expect(world.deeds.filter((deed) => deed.place === place).length).toBeLessThanOrEqual(lives + 1);
  }
  const { journal } = new RunHost(opened.database);
  const steps = await journal.steps(id);
  expect(new Set(steps.map(({ name }) => name)).size).toBe(steps.length);
  expectOnlyWhatWasAllowed(world, new Map(steps.map(({ name, subject, result }) => [name, { subject, result }])));

  const events = (await journal.events(id, 0)).map(({ n, event }) => ({ n, event }));
  expect(events.map(({ n }) => n)).toEqual(events.map((_, i) => i + 1));
  const published = events.flatMap(({ event }) =>
    event.type === 'tool.completed' ? [`${event.iteration} ${event.call_id}`] : [],
  );
  expect(new Set(published).size).toBe(published.length);
  expect(published).toHaveLength(world.messages.filter(({ role }) => role === 'tool').length);
  const decided = events.flatMap(({ event }) =>
    event.type === 'policy.decided' && 'request_id' in event ? [`answer:${event.request_id}`] : [],
  );
  const answers = steps
    .filter(({ kind, subject }) => kind === 'answer' && subject !== 'cancel')
    .map(({ name }) => name);
  expect(decided.toSorted()).toEqual(answers.toSorted());
}

/** Expects that calls were executed only with their approval, with the approved arguments, and never when denied. */
function expectOnlyWhatWasAllowed(
  { deeds, plan }: WaitingWorld,
  steps: ReadonlyMap<string, { readonly subject: string; readonly result: string }>,
): void {
  for (const { place, isEdited } of deeds) {
    const [iteration = 0, call = 0] = place.split(':').map(Number);
    const { needsApproval, asks } = plan[iteration - 1]![call - 1]!;
    const approval = steps.get(`answer:approval:${place}`);
    expect([place, approval?.subject]).toEqual([place, needsApproval ? 'approve' : undefined]);
    expect(isEdited).toBe(approval?.result.includes('isEdited') ?? false);
    const answered = [...steps].filter(
      ([name, { subject }]) => name.startsWith(`answer:input:${place}`) && subject === 'input',
    );
    expect(answered.length).toBeGreaterThanOrEqual(asks);
  }
}

describe('a run that waits for people while its process dies repeatedly', () => {
  it('ends with one result for every call, executes only allowed calls, and no effect `once` twice', async () => {
    await fc.assert(
      fc.asyncProperty(plans, deaths, people, async (plan, all, who) => {
        await expectTrue(await live(plan, all, who));
      }),
      { numRuns: 300 },
    );
  });
});

describe('a claim', () => {
  const ONCE: NeedyCall = { effect: 'once', needsApproval: false, asks: 0, reconciles: 'never' };
  const CRASHES = Array.from({ length: 8 }, (_, i) => ({ commits: i >> 1, isDurable: i % 2 === 0 }));
  /** Every asked person says that the call happened. */
  const PEOPLE = Array.from({ length: 60 }, () => 1);

  async function repetitions(engine: Life['engine']): Promise<number> {
    let sum = 0;
    for (const crash of CRASHES) sum += repeatedIn((await live([[ONCE]], [crash], PEOPLE, engine)).world).length;
    return sum;
  }

  it('prevents a second execution of a call, wherever the process dies', async () => {
    expect(await repetitions('ours')).toBe(0);
  });

  it('is the cause: an engine without claims fails the same test', async () => {
    expect(await repetitions('naive')).toBeGreaterThan(0);
  });
});
