import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { aRun, openDatabase, RunHost, type OpenDatabase } from '../../test/support/run-host.js';
import { DistantDatabase, turns } from '../../test/support/distant-database.js';
import type { Statement } from '../persistence/index.js';
import type { RunEvent } from './run-event.types.js';
import type { RunItem } from './run-item.factory.js';
import { RunOutbox, type OutgoingBatch } from './run-outbox.js';
import { endRun, fence, leaveRun } from './run-statement.factory.js';
import type { RunRecord } from './run.types.js';

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
        const lastTold = items.at(-1)?.event.type;
        const nothingNew = after < last ? `run.${ending}` : lastTold;
        expect(lastTold).toBe(ending === 'handed over' ? 'stream.closed' : nothingNew);
        expect(host.bus.hasListeners(`run-${count - 1}`)).toBe(false);
      }),
      { numRuns: 400 },
    );
  });
});

async function read(items: AsyncIterable<RunItem>): Promise<(number | null)[]> {
  const places: (number | null)[] = [];
  for await (const { n } of items) places.push(n);
  return places;
}

describe('a follower', () => {
  let opened: OpenDatabase;
  let host: RunHost;
  beforeAll(async () => {
    opened = await openDatabase();
    host = new RunHost(opened.database);
  });
  afterAll(() => opened.close());

  /** A run that tells as many thoughts as it is asked for, one after the other, then ends. */
  async function tellingRun(
    id: string,
  ): Promise<{ outbox: RunOutbox; tell: (text: string) => Promise<void>; end: () => Promise<void> }> {
    const { run } = await host.journal.create(aRun(id), 'running', 1);
    const outbox = new RunOutbox(run, host.bus, 1);
    const commit = async (event: RunEvent, condition: Statement) => {
      outbox.add(event);
      const batch = outbox.take();
      await host.journal.commit([condition, ...batch.statements]);
      batch.publish();
    };
    return {
      outbox,
      tell: (text) => commit({ type: 'thought', iteration: 1, text }, fence(run)),
      end: () => commit({ type: 'run.completed', run_id: id, ...RESULT }, endRun(run, 'running', 'completed', 1)),
    };
  }

  it('that claims a place the run has not reached gets what comes next, and the end', async () => {
    const { end } = await tellingRun('ahead');
    const reading = read(host.follower.open('ahead').items(99, new AbortController().signal));
    await turns(3);
    await end();
    expect(await reading).toEqual([2]);
    expect(await read(host.follower.open('ahead').items(99, new AbortController().signal))).toEqual([]);
  });

  it('whose client has gone away before it reads is let go', async () => {
    await tellingRun('gone');
    expect(await read(host.follower.open('gone').items(1, AbortSignal.abort()))).toEqual([]);
    expect(host.bus.hasListeners('gone')).toBe(false);
  });

  it('that falls behind is told so and cut off, without a gap before its end', async () => {
    const { outbox, tell } = await tellingRun('slow');
    const items = host.follower.open('slow').items(0, new AbortController().signal);
    expect((await items.next()).value?.n).toBe(1);
    const second = items.next();
    await turns(3);
    await tell('first');
    expect((await second).value?.n).toBe(2);
    const say = (text: string) => outbox.add({ type: 'message.delta', iteration: 1, text });
    for (const text of ['a', 'b', 'c', 'd']) say(text.repeat(300_000));
    await tell('second');
    const heard: string[] = [];
    const takeOne = async () => {
      const { value } = await items.next();
      if (!value) return;
      const { event } = value;
      heard.push(event.type === 'message.delta' ? event.text[0]! : event.type === 'stream.closed' ? event.code : '?');
    };
    await takeOne();
    // There is room again, but what was lost is lost: nothing may come after it.
    say('e');
    for (let i = 0; i < 6; i++) await takeOne();
    expect(heard).toEqual(['a', 'b', 'c', 'SLOW_READER']);
    expect(host.bus.hasListeners('slow')).toBe(false);
  });

  it('that keeps up gets an event of any size', async () => {
    const { tell, end } = await tellingRun('large');
    const reading = read(host.follower.open('large').items(0, new AbortController().signal));
    await turns(3);
    await tell('x'.repeat(2_000_000));
    await turns(3);
    await end();
    expect(await reading).toEqual([1, 2, 3]);
  });
});

function same(one: RunEvent, other: RunEvent): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
