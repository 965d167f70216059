import {
  REQUEST,
  fails,
  busy,
  down,
  refused,
  deadKey,
  BreakingOffModel,
  breaksOff,
  parts,
  outcome,
} from '../../../test/support/faulty-models.js';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { pendingTimers } from '../../../test/support/pending-timers.js';
import { says, ScriptedChatModel, type Scripted } from '../../../test/support/scripted-chat-model.js';
import { steadyNow } from '../../kernel/index.js';
import type { ChatResult } from '../chat/chat.types.js';
import { BoundedModel, Bulkhead } from './bounded-model.wrapper.js';
import { FallbackModel } from './fallback-model.wrapper.js';
import { RetryBudget, RetryingModel } from './retrying-model.wrapper.js';

const RULES = { maxAttempts: 3, baseDelayMs: 1000, maxDelayMs: 10_000 };
const retries = () => ({ ...RULES, budget: new RetryBudget() });
const START = 1_800_000_000_000;

beforeEach(() => void vi.useFakeTimers({ now: START, toNotFake: ['nextTick', 'setImmediate'] }));
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Advances the clock until the work is done. @returns its outcome, and its duration in ms */
async function timed(work: Promise<ChatResult | unknown[]>): Promise<[unknown, number]> {
  const state = { isDone: false };
  const ended = outcome(work).finally(() => (state.isDone = true));
  while (!state.isDone) {
    await new Promise((resolve) => setImmediate(resolve));
    if (!state.isDone) await vi.advanceTimersByTimeAsync(1);
  }
  return [await ended, Math.max(Date.now() - START - 1, 0)];
}

describe('retries', () => {
  const retrying = (script: readonly Scripted[]) => {
    const inner = new ScriptedChatModel(script);
    return { inner, model: new RetryingModel(inner, retries()) };
  };

  it('wait a random part of an exponentially growing delay', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const { model, inner } = retrying([down(), down(), says('fine')]);
    const [answer, ms] = await timed(model.generate(REQUEST));
    expect(answer).toBe('fine');
    expect(ms).toBeGreaterThanOrEqual(1490);
    expect(ms).toBeLessThanOrEqual(1510);
    expect(inner.requests).toHaveLength(3);
  });

  it('wait for the provider’s retry delay and up to a quarter more, and not at all if it exceeds the limit', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.8);
    const delayed = retrying([busy(700), says('fine')]);
    const [answer, ms] = await timed(delayed.model.generate(REQUEST));
    expect([answer, Math.round(ms / 10)]).toEqual(['fine', 84]);
    const long = retrying([busy(10_001), says('late')]);
    const from = steadyNow();
    await expect(long.model.generate(REQUEST)).rejects.toMatchObject({ details: { retry_after_ms: 10_001 } });
    expect(steadyNow() - from).toBe(0);
  });

  it('spend at most a fifth of the requests and a reserve of 50, and earn more by successes', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const attempts = async (script: readonly Scripted[], requests: number, budget: RetryBudget) => {
      const inner = new ScriptedChatModel(script);
      const model = new RetryingModel(inner, { ...RULES, budget });
      for (let request = 0; request < requests; request++) await timed(model.generate(REQUEST));
      return inner.requests.length;
    };
    const budget = new RetryBudget();
    const outage = await attempts(Array.from({ length: 600 }, down), 200, budget);
    expect(outage).toBeGreaterThan(200 + 50 + 35);
    expect(outage).toBeLessThanOrEqual(200 + 50 + 40);
    const half = Array.from({ length: 200 }, (_, at) => (at % 2 ? says('up') : down()));
    expect(await attempts(half, 100, budget)).toBeGreaterThan(180);
  });

  it('end with the last error, and never repeat a rejected request', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const spent = retrying([down(), down(), busy(1), says('late')]);
    expect((await timed(spent.model.generate(REQUEST)))[0]).toBe('MODEL_RATE_LIMITED');
    for (const error of [refused(), deadKey(), fails('MODEL_CIRCUIT_OPEN'), fails('RUN_CANCELLED'), new Error('bug')]) {
      const once = retrying([error, says('late')]);
      await timed(once.model.generate(REQUEST));
      expect(once.inner.requests).toHaveLength(1);
    }
  });

  it('do not exceed the deadline, and stop immediately on abort', async () => {
    const late = retrying([busy(5000), says('late')]);
    const [code, ms] = await timed(late.model.generate(REQUEST, { deadlineAt: steadyNow() + 4999 }));
    expect([code, ms]).toEqual(['MODEL_RATE_LIMITED', 0]);
    const given = retrying([busy(5000), says('late')]);
    const controller = new AbortController();
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const pendingOf = pendingTimers(5000);
    const work = outcome(given.model.generate(REQUEST, { signal: controller.signal }));
    await vi.advanceTimersByTimeAsync(100);
    expect(pendingOf()).toBe(1);
    controller.abort(new Error('away'));
    expect(await work).toEqual(new Error('away'));
    expect(pendingOf()).toBe(0);
  });

  it('restart a stream with emitted parts', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const shown = new RetryingModel(new BreakingOffModel([breaksOff('wro'), down(), says('right')]), retries());
    expect((await timed(parts(shown)))[0]).toEqual(['wro', 'restart', 'right', 'right']);
    const unseen = new RetryingModel(new BreakingOffModel([down(), says('right')]), retries());
    expect((await timed(parts(unseen)))[0]).toEqual(['right', 'right']);
  });
});

describe('a bulkhead', () => {
  const gates: ((result: ChatResult) => void)[] = [];
  const slow = () => new Promise<ChatResult>((resolve) => gates.push(resolve));
  beforeEach(() => void (gates.length = 0));
  const bounded = (script: readonly Scripted[], concurrency = 2, queueLimit = 1) => {
    const inner = new ScriptedChatModel(script);
    return { inner, model: new BoundedModel(inner, new Bulkhead({ concurrency, queueLimit }, 'The provider p')) };
  };
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  it('limits concurrent and queued calls, and rejects the others', async () => {
    const { model, inner } = bounded([slow, slow, says('third'), says('fourth')]);
    const [first, , third] = [1, 2, 3].map(() => outcome(model.generate(REQUEST)));
    expect(await outcome(model.generate(REQUEST))).toBe('MODEL_BUSY');
    expect(inner.requests).toHaveLength(2);
    gates[0]!(says('first'));
    expect([await first, await third]).toEqual(['first', 'third']);
    expect(await outcome(model.generate(REQUEST))).toBe('fourth');
  });

  it('releases the place of a failed call, of a stream and of one that is not read to its end', async () => {
    const { model } = bounded([down(), says('stream'), says('left'), says('fine')], 1, 0);
    await outcome(model.generate(REQUEST));
    await parts(model);
    for await (const _ of model.stream(REQUEST)) break;
    expect(await outcome(model.generate(REQUEST))).toBe('fine');
  });

  it('removes aborted calls from the queue', async () => {
    const { model, inner } = bounded([slow, says('third')], 1, 1);
    const first = outcome(model.generate(REQUEST));
    const controller = new AbortController();
    const second = outcome(model.generate(REQUEST, { signal: controller.signal }));
    await turn();
    controller.abort(new Error('away'));
    expect(await second).toEqual(new Error('away'));
    const third = outcome(model.generate(REQUEST));
    gates[0]!(says('first'));
    expect([await first, await third]).toEqual(['first', 'third']);
    expect(inner.requests).toHaveLength(2);
  });
});

describe('a fallback', () => {
  const SWITCH = { from: 'scripted:scripted-1', to: 'scripted:scripted-1' };
  const falling = (...scripts: readonly Scripted[][]) => {
    const [first, ...others] = scripts.map((script) => new BreakingOffModel(script));
    return new FallbackModel(first!, others);
  };

  it('calls the next model, and reports the failed ones with their errors', async () => {
    const model = falling([down()], [fails('MODEL_CIRCUIT_OPEN')], [says('third')]);
    expect(await model.generate(REQUEST)).toMatchObject({
      message: { content: 'third' },
      switches: [
        { ...SWITCH, code: 'MODEL_UNAVAILABLE' },
        { ...SWITCH, code: 'MODEL_CIRCUIT_OPEN' },
      ],
    });
    expect((await falling([says('first')], []).generate(REQUEST)).switches).toBeUndefined();
  });

  it.each([
    'MODEL_TIMEOUT',
    'MODEL_UNREACHABLE',
    'MODEL_UNAVAILABLE',
    'MODEL_BAD_REPLY',
    'MODEL_RATE_LIMITED',
    'MODEL_AUTHENTICATION',
    'MODEL_CIRCUIT_OPEN',
    'MODEL_BUSY',
  ] as const)('calls the next model after %s, streamed or not', async (code) => {
    const model = falling([fails(code), fails(code)], [says('fine'), says('fine')]);
    expect(await model.generate(REQUEST)).toMatchObject({ message: { content: 'fine' }, switches: [{ code }] });
    expect(await parts(model)).toEqual(['fine', 'fine']);
  });

  it('calls no other model after a rejection, an abort or the deadline, and ends with the last error', async () => {
    expect(await outcome(falling([refused()], [says('no')]).generate(REQUEST))).toBe('MODEL_REFUSED');
    expect(await outcome(falling([new Error('bug')], [says('no')]).generate(REQUEST))).toEqual(new Error('bug'));
    expect(await outcome(falling([down()], [deadKey()]).generate(REQUEST))).toBe('MODEL_AUTHENTICATION');
    const late = falling([down()], [says('no')]).generate(REQUEST, { deadlineAt: Date.now() });
    expect(await outcome(late)).toBe('MODEL_UNAVAILABLE');
  });

  it('restarts a stream with emitted parts', async () => {
    expect(await parts(falling([breaksOff('wro')], [says('right')]))).toEqual(['wro', 'restart', 'right', 'right']);
    expect(await parts(falling([down()], [says('right')]))).toEqual(['right', 'right']);
  });
});
