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
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { says, ScriptedChatModel, type Scripted } from '../../../test/support/scripted-chat-model.js';
import type { ChatResult } from '../chat.types.js';
import { BoundedModel } from './bounded-model.wrapper.js';
import { BreakingModel } from './breaking-model.wrapper.js';
import { Bulkhead } from './bulkhead.policy.js';
import { CircuitBreaker } from './circuit-breaker.policy.js';
import { FallbackModel } from './fallback-model.wrapper.js';
import { RetryingModel } from './retrying-model.wrapper.js';

const RULES = { maxAttempts: 3, baseDelayMs: 1000, maxDelayMs: 60_000 };
const START = 1_800_000_000_000;

beforeEach(() => void jest.useFakeTimers({ now: START, doNotFake: ['nextTick', 'setImmediate'] }));
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

/** Advances the clock until the work is done. @returns its outcome, and its duration in ms */
async function timed(work: Promise<ChatResult | unknown[]>): Promise<[unknown, number]> {
  const state = { isDone: false };
  const ended = outcome(work).finally(() => (state.isDone = true));
  while (!state.isDone) {
    await new Promise((resolve) => setImmediate(resolve));
    if (!state.isDone) await jest.advanceTimersByTimeAsync(1);
  }
  return [await ended, Math.max(Date.now() - START - 1, 0)];
}

describe('retries', () => {
  const retrying = (script: readonly Scripted[]) => {
    const inner = new ScriptedChatModel(script);
    return { inner, model: new RetryingModel(inner, RULES) };
  };

  it('wait a random part of an exponentially growing delay', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0.5);
    const { model, inner } = retrying([down(), down(), says('fine')]);
    const [answer, ms] = await timed(model.generate(REQUEST));
    expect(answer).toBe('fine');
    expect(ms).toBeGreaterThanOrEqual(1490);
    expect(ms).toBeLessThanOrEqual(1510);
    expect(inner.requests).toHaveLength(3);
  });

  it('wait for the provider’s retry delay, at most a minute', async () => {
    const delayed = retrying([busy(700), says('fine')]);
    expect((await timed(delayed.model.generate(REQUEST)))[1]).toBeLessThanOrEqual(710);
    const long = retrying([busy(3_600_000), says('fine')]);
    const from = Date.now();
    await timed(long.model.generate(REQUEST));
    expect(Date.now() - from).toBeGreaterThanOrEqual(60_000);
    expect(Date.now() - from).toBeLessThan(60_020);
  });

  it('end with the last error, and never repeat a rejected request', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0);
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
    const [code, ms] = await timed(late.model.generate(REQUEST, { deadlineAt: Date.now() + 4999 }));
    expect([code, ms]).toEqual(['MODEL_RATE_LIMITED', 0]);
    const given = retrying([busy(5000), says('late')]);
    const controller = new AbortController();
    const work = outcome(given.model.generate(REQUEST, { signal: controller.signal }));
    await jest.advanceTimersByTimeAsync(100);
    controller.abort(new Error('away'));
    expect(await work).toEqual(new Error('away'));
    expect(jest.getTimerCount()).toBe(0);
  });

  it('restart a stream with emitted parts', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0);
    const shown = new RetryingModel(new BreakingOffModel([breaksOff('wro'), down(), says('right')]), RULES);
    expect((await timed(parts(shown)))[0]).toEqual(['wro', 'restart', 'right', 'right']);
    const unseen = new RetryingModel(new BreakingOffModel([down(), says('right')]), RULES);
    expect((await timed(parts(unseen)))[0]).toEqual(['right', 'right']);
  });
});

describe('a circuit breaker', () => {
  const rules = { failures: 5, resetMs: 30_000 };
  const breaking = (script: readonly Scripted[]) => {
    const inner = new ScriptedChatModel(script);
    const breaker = new CircuitBreaker(rules, 'The model "m"');
    return { inner, breaker, model: new BreakingModel(inner, breaker) };
  };
  const five = () => Array.from({ length: 5 }, down);

  it('opens after five consecutive failures, rejects immediately, and closes when the probe succeeds', async () => {
    const { model, inner, breaker } = breaking([...five(), says('up')]);
    for (let call = 0; call < 5; call++) expect(await outcome(model.generate(REQUEST))).toBe('MODEL_UNAVAILABLE');
    expect(breaker.state).toBe('open');
    await jest.advanceTimersByTimeAsync(29_000);
    await expect(model.generate(REQUEST)).rejects.toMatchObject({
      code: 'MODEL_CIRCUIT_OPEN',
      details: { retry_after_ms: 1000 },
    });
    expect(inner.requests).toHaveLength(5);
    await jest.advanceTimersByTimeAsync(1000);
    expect(breaker.state).toBe('half_open');
    expect(await outcome(model.generate(REQUEST))).toBe('up');
    expect(breaker.state).toBe('closed');
  });

  it('admits one probe, and stays open if the probe fails', async () => {
    let answer!: (result: ChatResult) => void;
    const slow = () => new Promise<ChatResult>((resolve) => (answer = resolve));
    const { model, inner, breaker } = breaking([...five(), down(), slow, says('more')]);
    for (let call = 0; call < 5; call++) await outcome(model.generate(REQUEST));
    await jest.advanceTimersByTimeAsync(30_000);
    expect(await outcome(model.generate(REQUEST))).toBe('MODEL_UNAVAILABLE');
    expect(breaker.state).toBe('open');
    await jest.advanceTimersByTimeAsync(30_000);
    const probe = outcome(model.generate(REQUEST));
    expect(await outcome(model.generate(REQUEST))).toBe('MODEL_CIRCUIT_OPEN');
    answer(says('up'));
    expect(await probe).toBe('up');
    expect(await outcome(model.generate(REQUEST))).toBe('more');
    expect(inner.requests).toHaveLength(8);
  });

  it('ignores rejections, rate limits and aborted calls, and a success resets the count', async () => {
    const given = () => Promise.reject(new Error('away'));
    const others = [refused(), busy(), deadKey(), given, given];
    const { model, breaker } = breaking([...five().slice(1), ...others, says('up'), ...five().slice(1), given]);
    for (let call = 0; call < 15; call++) await outcome(model.generate(REQUEST));
    expect(breaker.state).toBe('closed');
  });

  it('observes streams: complete, broken, and not read to the end', async () => {
    const script = [
      ...Array.from({ length: 4 }, () => breaksOff('x')),
      says('whole'),
      ...Array.from({ length: 5 }, () => breaksOff('x')),
    ];
    const breaker = new CircuitBreaker(rules, 'The model "m"');
    const model = new BreakingModel(new BreakingOffModel(script), breaker);
    for (let call = 0; call < 4; call++) await outcome(parts(model));
    for await (const _ of model.stream(REQUEST)) break;
    expect(breaker.state).toBe('closed');
    for (let call = 0; call < 1; call++) await outcome(parts(model));
    expect(breaker.state).toBe('open');
  });

  it('admits no second probe after a call from before it opened', async () => {
    let fail!: (error: Error) => void;
    const early = () => new Promise<ChatResult>((_resolve, reject) => (fail = reject));
    const slow = () => new Promise<ChatResult>(() => undefined);
    const { model } = breaking([early, ...five(), slow, says('second')]);
    const first = outcome(model.generate(REQUEST));
    for (let call = 0; call < 5; call++) await outcome(model.generate(REQUEST));
    await jest.advanceTimersByTimeAsync(30_000);
    void model.generate(REQUEST);
    fail(refused());
    await first;
    expect(await outcome(model.generate(REQUEST))).toBe('MODEL_CIRCUIT_OPEN');
  });

  it('admits another probe after an aborted one', async () => {
    const { model } = breaking([...five(), () => Promise.reject(new Error('away')), says('up')]);
    for (let call = 0; call < 5; call++) await outcome(model.generate(REQUEST));
    await jest.advanceTimersByTimeAsync(30_000);
    await outcome(model.generate(REQUEST));
    expect(await outcome(model.generate(REQUEST))).toBe('up');
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
