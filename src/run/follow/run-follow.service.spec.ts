import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { DistantDatabase, turns } from '../../../test/support/distant-database.js';
import { FoldingClient } from '../../../test/support/folding-client.js';
import { RelayedRunBus } from '../../../test/support/relayed-run-bus.js';
import { aRun, openDatabase, RunHost, type OpenDatabase } from '../../../test/support/run-host.js';
import { ScriptedRun, type Plot } from '../../../test/support/scripted-run.js';
import { RunPublisher } from '../../../test/support/run-publisher.js';
import { parseRunPlace, type RunItem, START } from '../event/run-item.factory.js';
import { RunFollowService } from './run-follow.service.js';

interface Scenario extends Plot {
  /** The happening before which a client subscribes. */
  readonly comesAt: number;
  /** Number of items per connection. */
  readonly cuts: readonly number[];
  /** Turns before the first read, and after each item. */
  readonly readAfter: number;
  readonly readerPauses: readonly number[];
  /** Turns of each query and each relayed item. */
  readonly delays: readonly number[];
  readonly losses: readonly boolean[];
}

const few = fc.array(fc.nat(3), { minLength: 1, maxLength: 8 });
const scenarios: fc.Arbitrary<Scenario> = fc.record({
  happenings: fc.array(
    fc.constantFrom('model', 'delta', 'delta', 'delta', 'complete', 'thought', 'tool', 'commit', 'commit', 'crash'),
    { maxLength: 25 },
  ),
  ending: fc.constantFrom('completed', 'waiting', 'handed over'),
  pauses: few,
  comesAt: fc.nat(26),
  cuts: fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 6 }),
  readAfter: fc.nat(6),
  readerPauses: few,
  delays: few,
  losses: fc.array(fc.boolean(), { minLength: 1, maxLength: 6 }),
});

/** The client receives text of the second attempt before the restart that voids the first. */
const LATE: Scenario = {
  happenings: ['crash', 'commit', 'delta', 'crash', 'commit', 'delta'],
  ending: 'completed',
  pauses: [2],
  comesAt: 0,
  cuts: [5],
  readAfter: 6,
  readerPauses: [0],
  delays: [2],
  losses: [false],
};

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

  /** A client that reconnects with its last place after each disconnect, until the stream ends by itself. */
  class ReturningClient extends FoldingClient {
    hasEnded = false;
    /** Texts that no attempt produced. */
    readonly faults: string[] = [];
    private readonly leaving = new AbortController();

    constructor(
      private readonly follower: RunFollowService,
      private readonly runId: string,
      private readonly story: ScriptedRun,
      private readonly scenario: Scenario,
      private readonly cuts: readonly number[],
    ) {
      super();
    }

    /** Subscribes and reads to the end. */
    async read(): Promise<this> {
      const cuts = [...this.cuts];
      while (!this.hasEnded && !this.leaving.signal.aborted) await this.connect(cuts.shift() ?? Infinity);
      return this;
    }

    /** Stops the client: a run that was handed over has no end to wait for. */
    leave(): void {
      this.leaving.abort();
    }

    private async connect(cut: number): Promise<void> {
      const { readAfter, readerPauses } = this.scenario;
      const from = this.lastEventId === null ? START : parseRunPlace(this.lastEventId)!;
      const items = this.follower.open(this.runId).items(from, this.leaving.signal);
      await turns(readAfter);
      let taken = 0;
      for await (const item of items) {
        this.take(item);
        this.check(item);
        this.hasEnded = ['run.completed', 'run.waiting', 'stream.closed'].includes(item.event.type);
        await turns(readerPauses[taken % readerPauses.length]!);
        if (++taken === cut) return;
      }
      // The stream of an unchanged run ends too, after the last event.
      this.hasEnded = !this.leaving.signal.aborted;
    }

    private check({ event, place: { attempt, offset } }: RunItem): void {
      if (event.type !== 'message.delta' && event.type !== 'step.restarted') return;
      if (this.text !== this.story.texts.get(attempt)?.slice(0, offset)) this.faults.push(this.text);
    }
  }

  async function play(scenario: Scenario, follower: RunFollowService) {
    distant.delays = scenario.delays;
    const { run } = await host.journal.create(aRun(`run-${count++}`), 'running', 1);
    const story = new ScriptedRun(host, run, scenario);
    const constant = new ReturningClient(host.follower, run.id, story, scenario, []);
    const client = new ReturningClient(follower, run.id, story, scenario, scenario.cuts);
    const reading = [constant.read()];
    await story.perform((i) => {
      if (i === Math.min(scenario.comesAt, scenario.happenings.length)) reading.push(client.read());
    });
    if (scenario.ending === 'handed over') {
      await turns(200);
      constant.leave();
      client.leave();
    }
    await Promise.all(reading);
    return { constant, client, recorded: await host.events(run.id) };
  }

  function expectSame(client: ReturningClient, recorded: readonly RunItem[]): void {
    expect(client.journaled).toEqual(recorded.map(({ n, event }) => ({ n, event })));
    const texts = recorded.flatMap(({ event }) => (event.type === 'message.completed' ? [event.text] : []));
    expect(client.messages.map(({ text }) => text)).toEqual(texts);
    expect(client.faults).toEqual([]);
  }

  it('gives a client that reconnects anywhere the same items as a constant one: in order, without gaps or repetitions', async () => {
    let restarts = 0;
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => {
        const { constant, client, recorded } = await play(scenario, host.follower);
        expectSame(constant, recorded);
        expectSame(client, recorded);
        for (const { text, received } of constant.messages) expect(received).toBe(text);
        // Two clients that received the end of the stream have the same text.
        expect(client.hasEnded ? client.text : constant.text).toBe(constant.text);
        expect(host.bus.hasListeners(`run-${count - 1}`)).toBe(true);
        restarts += client.restarts;
      }),
      { numRuns: 300 },
    );
    expect(restarts).toBeGreaterThan(0);
  });

  it('gives every event and no wrong text to a remote follower over a lossy bus', async () => {
    const bus = new RelayedRunBus(host.bus);
    const follower = new RunFollowService(host.journal, bus);
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => {
        bus.delays = scenario.delays;
        bus.losses = scenario.losses;
        const { client, recorded } = await play(scenario, follower);
        // A client that receives a hand-over reconnects for the messages that the bus lost before.
        const isComplete = scenario.ending !== 'handed over';
        expectSame(client, isComplete ? recorded : recorded.slice(0, client.journaled.length));
      }),
      { numRuns: 300, examples: [[LATE]] },
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

  /** A run that emits events on request. */
  async function scriptedRun(id: string): Promise<RunPublisher> {
    const { run } = await host.journal.create(aRun(id), 'running', 1);
    return new RunPublisher(host, run);
  }

  function follow(id: string, from = START, signal = new AbortController().signal) {
    return host.follower.open(id).items(from, signal);
  }

  it('receives the next events and the end when it claims a place beyond the last event', async () => {
    const run = await scriptedRun('ahead');
    const reading = read(follow('ahead', { ...START, n: 99 }));
    await turns(3);
    await run.end();
    expect(await reading).toEqual([2]);
    expect(await read(follow('ahead', { n: 99, attempt: 99, offset: 99 }))).toEqual([]);
  });

  it('is unsubscribed when its client disconnects before the first read', async () => {
    await scriptedRun('gone');
    expect(await read(follow('gone', { ...START, n: 1 }, AbortSignal.abort()))).toEqual([]);
    expect(host.bus.hasListeners('gone')).toBe(false);
  });

  it('receives an event of any size when it keeps up', async () => {
    const run = await scriptedRun('large');
    const reading = read(follow('large'));
    await turns(3);
    await run.think('x'.repeat(2_000_000));
    await turns(3);
    await run.end();
    expect(await reading).toEqual([1, 2, 3]);
  });

  it('shares the JSON of a long text with other followers', async () => {
    const run = await scriptedRun('shared');
    run.publishText('so ');
    run.publishText('far');
    const [one, other] = [host.bus.live.find('shared')!.soFar(), host.bus.live.find('shared')!.soFar()];
    expect(one).toBe(other);
    run.publishText('!');
    expect(host.bus.live.find('shared')!.soFar()?.event).toMatchObject({ text: 'so far!' });
    await run.end();
    expect(host.bus.live.find('shared')).toBeNull();
  });
});
