import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { isDoneWithin, newId } from '../../src/kernel/index.js';
import { FakeLlm } from '../support/fake-llm.js';
import type { FakeReply, FakeRequest } from '../support/fake-llm.types.js';
import { gate, startJackdaw, type Jackdaw } from '../support/jackdaw.js';
import { OutageTool } from './outage.tool.js';
import { IS_LONG_FORM } from '../support/long-form.js';

/** The level of warnings in the log. */
const WARNING = 40;

/** Calls the tool if the user says "send"; the last word is the receiver. */
function reply({ messages }: FakeRequest): FakeReply {
  const last = messages.at(-1);
  if (last?.role !== 'user') return { text: 'done' };
  return String(last.content).startsWith('send')
    ? { calls: [{ id: 'c1', name: 'send_parcel', arguments: { to: String(last.content).split(' ').at(-1)! } }] }
    : { text: 'hello' };
}

/** One application on a database that its tests make fail. */
export class OutageWorld {
  jackdaw!: Jackdaw;
  readonly tool = new OutageTool();
  private llm!: FakeLlm;
  /** Lines of the log before the present test. */
  private logged = 0;

  /** Call it in a `describe`. @param env its variables, when the database exists */
  static prepare(env: () => Record<string, string> | Promise<Record<string, string>>): OutageWorld {
    const world = new OutageWorld();
    beforeAll(async () => {
      world.llm = (await FakeLlm.start()).always(reply);
      const limits = { CLUSTER_CHECK_MS: '200', LOG_LEVEL: 'info' };
      world.jackdaw = await startJackdaw({
        llm: world.llm,
        tools: [world.tool],
        env: { ...limits, ...(await env()) },
      });
    });
    beforeEach(() => {
      world.tool.effects.length = 0;
      world.logged = world.jackdaw.log.length;
    });
    afterAll(async () => {
      await world.jackdaw.stop();
      await world.llm.close();
    });
    return world;
  }

  /** The lines of the log of the present test, from a level on. */
  lines(level = 0): string[] {
    const lines = this.jackdaw.log.slice(this.logged).filter((line) => Number(line['level']) >= level);
    return lines.map(({ msg }) => String(msg));
  }

  /** The first line of the log that starts so. */
  async line(start: string): Promise<string> {
    for (;;) {
      const line = this.lines().find((text) => text.startsWith(start));
      if (line !== undefined) return line;
      await pause();
    }
  }

  /** The status of a run when it is not open, as soon as the database answers. @param missing status of a run that may not exist */
  async endOf(runId: string, missing?: number): Promise<string> {
    for (;;) {
      const { status, body } = await this.jackdaw.get(`/api/runs/${runId}`);
      if (status === missing) return 'missing';
      const found = String(body['status']);
      if (status === 200 && !['queued', 'running'].includes(found)) return found;
      await pause();
    }
  }
}

function pause(ms = 20): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** A failure of a database, and its end. */
export interface Outage {
  begin(): void | Promise<void>;
  end(): void | Promise<void>;
}

/** The rules of every outage, whatever the database. */
export function itSurvives(world: OutageWorld, outage: () => Outage): void {
  it('keeps the result of a running tool, and ends its run when the database answers', async () => {
    const { jackdaw, tool } = world;
    const hold = gate();
    tool.hold = hold.opened;
    const called = tool.called();
    const sessionId = newId();
    const chat = jackdaw.chat({ query: 'send to Oslo', sessionId });
    await called;
    await outage().begin();
    hold.open();
    const { status, body, headers } = await chat;
    expect([status, body['code'], body['is_retryable']]).toEqual([503, 'STORAGE_UNAVAILABLE', false]);
    expect(headers.get('retry-after')).toBeNull();
    await outage().end();
    expect(await world.endOf(String(body['run_id']))).toBe('completed');
    expect(tool.effects).toEqual(['Oslo']);
    const next = await jackdaw.chat({ query: 'hello', sessionId });
    expect([next.status, next.body['result']]).toEqual([200, 'hello']);
  });

  it('answers requests with 503 and a delay until the retry, and logs one line for each change', async () => {
    const { jackdaw } = world;
    await outage().begin();
    const first = await jackdaw.post('/api/sessions', {});
    expect([first.status, first.body['code']]).toEqual([503, 'STORAGE_UNAVAILABLE']);
    expect(await world.line('The database is unavailable')).toContain('Requests fail with 503');
    const others = await Promise.all(Array.from({ length: 20 }, () => jackdaw.chat({ query: 'hello' })));
    for (const { status, body, headers } of others) {
      expect([status, body['code'], body['is_retryable']]).toEqual([503, 'STORAGE_UNAVAILABLE', true]);
      expect(['1', '2', '3']).toContain(headers.get('retry-after'));
    }
    await outage().end();
    expect(await world.line('The database is available again')).toMatch(/after \d+\.\d s; \d+ calls were refused/);
    expect((await jackdaw.chat({ query: 'hello' })).status).toBe(200);
    const requests = /^request failed/;
    expect(world.lines(WARNING).filter((line) => !requests.test(line)).length).toBeLessThanOrEqual(5);
  });
}

/** Chats of one test, and outages during them. */
const CHATS = IS_LONG_FORM ? 2_000 : 60;
/** Time of the test on a slow machine, in ms. */
const TIME_MS = 180_000 + 500 * CHATS;
/** Outages at least. */
const OUTAGES = 2;
const CLIENTS = 10;
const OUTAGE_MS = 1_500;
const PAUSE_MS = 700;

interface Accepted {
  readonly to: string;
  readonly runId: string;
}

/** Chats of several clients at once, while outages begin and end. A refused client waits for a moment. */
async function disturbedChats(world: OutageWorld, outage: Outage) {
  const accepted: Accepted[] = [];
  const refused: unknown[] = [];
  const count = { chats: 0, outages: 0 };
  const isDone = () => count.chats >= CHATS && count.outages >= OUTAGES;
  const client = async () => {
    while (!isDone()) {
      const to = `to-${count.chats++}`;
      const { status, body } = await world.jackdaw.chat({ query: `send ${to}`, sessionId: newId() });
      if (body['run_id'] === undefined) refused.push([status, body['code'], body['is_retryable']]);
      else accepted.push({ to, runId: String(body['run_id']) });
      if (status !== 200) await pause(OUTAGE_MS / 5);
    }
  };
  const done = Promise.all(Array.from({ length: CLIENTS }, client));
  while (!(await isDoneWithin(PAUSE_MS, done))) {
    await outage.begin();
    await pause(OUTAGE_MS);
    await outage.end();
    count.outages++;
  }
  return { accepted, refused };
}

/** Starts chats while outages begin and end, and accounts for each of them. */
export function itLosesNothing(world: OutageWorld, outage: () => Outage): void {
  it(
    'loses no accepted run, and makes each effect at most once, while outages begin and end',
    async () => {
      const { tool } = world;
      tool.hold = Promise.resolve();
      const { accepted, refused } = await disturbedChats(world, outage());
      for (const answer of refused) expect(answer).toEqual([503, 'STORAGE_UNAVAILABLE', true]);
      const ends = new Map<string, string>();
      for (const { to, runId } of accepted) ends.set(to, await world.endOf(runId, 404));
      // A start that the database did not confirm may not exist: then it had no effect.
      const ended = [...ends].filter(([, status]) => status !== 'missing');
      expect(ended.filter(([, status]) => status !== 'completed')).toEqual([]);
      expect(tool.effects.toSorted()).toEqual(ended.map(([to]) => to).toSorted());
    },
    TIME_MS,
  );
}
