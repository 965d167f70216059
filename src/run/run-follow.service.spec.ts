import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { aRun, openDatabase, RunHost, type OpenDatabase } from '../../test/support/run-host.js';
import { Database, type SqlValue, type Statement } from '../persistence/index.js';
import type { RunEvent } from './run-event.types.js';
import type { RunItem } from './run-item.factory.js';
import { RunOutbox, type OutgoingBatch } from './run-outbox.js';
import { endRun, fence, leaveRun } from './run-statement.factory.js';
import type { RunRecord } from './run.types.js';

/** A database somewhere else: every query takes turns of the event loop to go there and to come back. */
class DistantDatabase extends Database {
  delays: readonly number[] = [];
  private asked = 0;

  constructor(private readonly near: Database) {
    super();
  }
  commit(batch: readonly Statement[]): Promise<void> {
    return this.near.commit(batch);
  }
  async query<Row>(sql: string, params?: readonly SqlValue[]): Promise<Row[]> {
    await turns(this.delay());
    const rows = await this.near.query<Row>(sql, params);
    await turns(this.delay());
    return rows;
  }
  insertIgnore(table: string, row: Readonly<Record<string, SqlValue>>): Statement {
    return this.near.insertIgnore(table, row);
  }
  ping(): Promise<void> {
    return this.near.ping();
  }
  private delay(): number {
    return this.delays[this.asked++ % this.delays.length] ?? 0;
  }
}

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await nextTurn();
}

const RESULT = {
  result: '',
  finish_reason: 'stop',
  is_complete: true,
  iterations: 1,
  usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  model: '',
} as const;

type Ending = 'completed' | 'waiting' | 'handed over';

interface Scenario {
  /** What happens between start and end: a journaled event, a live one, or a commit of what waits. */
  readonly happenings: readonly ('journaled' | 'live' | 'commit')[];
  readonly ending: Ending;
  /** Turns of the event loop before each happening, and between a commit and its publication. */
  readonly pauses: readonly number[];
  /** The happening before which the follower begins to listen, and how long it takes until it reads. */
  readonly subscribeAt: number;
  readonly readAfter: number;
  readonly after: number;
  /** Turns that each query takes, and turns that the reader takes for each event. */
  readonly delays: readonly number[];
  readonly readerPauses: readonly number[];
}

const few = fc.array(fc.nat(3), { minLength: 1, maxLength: 8 });
const scenarios: fc.Arbitrary<Scenario> = fc.record({
  happenings: fc.array(fc.constantFrom('journaled', 'live', 'commit'), { maxLength: 12 }),
  ending: fc.constantFrom('completed', 'waiting', 'handed over'),
  pauses: few,
  subscribeAt: fc.nat(13),
  readAfter: fc.nat(6),
  after: fc.nat(8),
  delays: few,
  readerPauses: few,
});

/** A run that tells its story, the follower coming in somewhere. */
class Story {
  private readonly outbox: RunOutbox;
  /** Everything in the order in which it was told; live events by the number of the event before them. */
  readonly told: { event: RunEvent; n: number | null; place: number }[] = [];
  private n = 1;
  private step = 0;
  /** The number of the last event that is durable. */
  durable = 1;

  constructor(
    private readonly host: RunHost,
    private readonly run: RunRecord,
    private readonly scenario: Scenario,
  ) {
    this.told.push({
      event: { type: 'run.started', run_id: run.id, session_id: null, agent: 'tester' },
      n: 1,
      place: 1,
    });
    this.outbox = new RunOutbox(run, host.bus, 1);
  }

  async tell(onSubscribe: () => void): Promise<void> {
    const { happenings, subscribeAt } = this.scenario;
    for (const [i, happening] of happenings.entries()) {
      if (i === subscribeAt) onSubscribe();
      await this.pause();
      if (happening === 'commit') await this.commit(fence(this.run));
      else this.add(happening === 'live' ? delta(i) : thought(i));
    }
    if (subscribeAt >= happenings.length) onSubscribe();
    await this.pause();
    await this.end();
  }

  private async end(): Promise<void> {
    const run_id = this.run.id;
    switch (this.scenario.ending) {
      case 'completed':
        this.add({ type: 'run.completed', run_id, ...RESULT });
        return this.commit(endRun(this.run, 'running', 'completed', 1));
      case 'waiting':
        this.add({ type: 'run.waiting', run_id, reason: 'outcome_unknown', calls: [] });
        return this.commit(leaveRun(this.run, 'waiting'));
      case 'handed over':
        await this.commit(leaveRun(this.run, 'queued'));
        this.host.executor.closeStreams(run_id, 'SHUTTING_DOWN');
    }
  }

  private add(event: RunEvent): void {
    const isLive = event.type === 'message.delta';
    if (!isLive) this.n++;
    this.told.push({ event, n: isLive ? null : this.n, place: this.n });
    this.outbox.add(event);
  }

  private async commit(condition: Statement): Promise<void> {
    const batch: OutgoingBatch = this.outbox.take();
    const { n } = this;
    await this.host.journal.commit([condition, ...batch.statements]);
    this.durable = n;
    await this.pause();
    batch.publish();
  }

  private pause(): Promise<void> {
    const { pauses } = this.scenario;
    return turns(pauses[this.step++ % pauses.length]!);
  }
}

function delta(i: number): RunEvent {
  return { type: 'message.delta', iteration: 1, text: String(i) };
}

function thought(i: number): RunEvent {
  return { type: 'thought', iteration: 1, text: String(i) };
}

describe('following a run', () => {
  let opened: OpenDatabase;
  let distant: DistantDatabase;
  let host: RunHost;
  let count = 0;
  beforeAll(async () => {
    opened = await openDatabase();
    distant = new DistantDatabase(opened.database);
    host = new RunHost(distant);
  });
  afterAll(() => opened.close());

  async function play(scenario: Scenario): Promise<{ items: RunItem[]; story: Story; after: number }> {
    distant.delays = scenario.delays;
    const { run } = await host.journal.create(aRun(`run-${count++}`), 'running', 1);
    const story = new Story(host, run, scenario);
    const items: RunItem[] = [];
    let reading: Promise<void> | undefined;
    let after = 0;
    await story.tell(() => {
      after = Math.min(scenario.after, story.durable);
      const following = host.follower.open(run.id);
      reading = (async () => {
        await turns(scenario.readAfter);
        const { readerPauses } = scenario;
        for await (const item of following.items(after, new AbortController().signal)) {
          items.push(item);
          await turns(readerPauses[items.length % readerPauses.length]!);
        }
      })();
    });
    await reading;
    return { items, story, after };
  }

  it('gives what the journal has after a place, then what happens: without gap, repetition or disorder, to the end', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => {
        const { items, story, after } = await play(scenario);
        const { ending } = scenario;
        const last = story.told.at(-1)!.n ?? story.told.findLast(({ n }) => n !== null)!.n!;
        const journaled = items.filter(({ n }) => n !== null);
        const expected = story.told.filter(({ n }) => n !== null && n > after).map(({ n }) => n);
        expect(journaled.map(({ n }) => n)).toEqual(expected);
        // Live events are only for those who listen: some may be missing, none comes twice or out of its place.
        const order = story.told
          .filter(({ event }) => items.some((item) => same(item.event, event)))
          .map(({ event }) => event);
        expect(items.map(({ event }) => event).filter(({ type }) => type !== 'stream.closed')).toEqual(order);
        if (ending === 'handed over') expect(items.at(-1)?.event.type).toBe('stream.closed');
        else if (after < last) expect(items.at(-1)?.event.type).toBe(`run.${ending}`);
        expect(host.bus.hasListeners(`run-${count - 1}`)).toBe(false);
      }),
      { numRuns: 400 },
    );
  });
});

function same(one: RunEvent, other: RunEvent): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
