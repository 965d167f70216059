import {
  breaksOff,
  BreakingOffModel,
  busy,
  deadKey,
  down,
  fails,
  outcome,
  parts,
  refused,
  REQUEST,
} from '../../../test/support/faulty-models.js';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { says, ScriptedChatModel, type Scripted } from '../../../test/support/scripted-chat-model.js';
import { AppError } from '../../errors/index.js';
import type { ChatResult } from '../chat/chat.types.js';
import { BreakingModel, CircuitBreaker } from './breaking-model.wrapper.js';

const START = 1_800_000_000_000;

beforeEach(() => void vi.useFakeTimers({ now: START, toNotFake: ['nextTick', 'setImmediate'] }));
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('CircuitBreaker', () => {
  const rules = { failures: 5, maxPauseMs: 15_000 };
  const breaking = (script: readonly Scripted[], hasFallback = false) => {
    const inner = new ScriptedChatModel(script);
    const breaker = new CircuitBreaker(rules, 'the model m', hasFallback);
    return { inner, breaker, model: new BreakingModel(inner, breaker) };
  };
  const times = (count: number, make: () => Scripted) => Array.from({ length: count }, make);
  const away = () => Promise.reject(new Error('away'));
  const out = () => fails('MODEL_TIMEOUT');
  const ask = async (model: BreakingModel, count: number) => {
    const codes: unknown[] = [];
    for (let call = 0; call < count; call++) codes.push(await outcome(model.generate(REQUEST)));
    return codes;
  };
  beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(1));

  it('opens when most of at least 20 requests within 10 s failed', async () => {
    const { model, breaker } = breaking([...times(8, () => says('up')), ...times(12, down)]);
    await ask(model, 19);
    expect(breaker.state).toBe('closed');
    await ask(model, 1);
    expect(breaker.state).toBe('open');
    const few = breaking([...times(19, down), ...times(19, down)]);
    await ask(few.model, 19);
    await vi.advanceTimersByTimeAsync(11_000);
    await ask(few.model, 19);
    expect(few.breaker.state).toBe('closed');
  });

  it('announces after each pause the number of requests that it admits', async () => {
    const admitted: number[] = [];
    const inner = new ScriptedChatModel([...times(21, down), ...times(4, () => says('up'))]);
    const breaker = new CircuitBreaker(rules, 'the model m', true, (requests) => admitted.push(requests));
    const model = new BreakingModel(inner, breaker);
    await ask(model, 20);
    await vi.advanceTimersByTimeAsync(500);
    expect(admitted).toEqual([1]);
    await ask(model, 1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(admitted).toEqual([1, 1]);
    await ask(model, 4);
    expect(admitted).toEqual([1, 1, 2, 4, 8, Infinity]);
  });

  it('stays closed while half of the requests fail, however long', async () => {
    const { model, breaker } = breaking(times(100, () => says('up')).flatMap((up) => [down(), up]));
    await ask(model, 200);
    expect(breaker.state).toBe('closed');
  });

  it('opens with a fallback after five consecutive time-outs or refused connections too', async () => {
    const { model, breaker } = breaking([...times(4, out), down(), ...times(5, out)], true);
    await ask(model, 9);
    expect(breaker.state).toBe('closed');
    await ask(model, 1);
    expect(breaker.state).toBe('open');
    const alone = breaking(times(5, out));
    await ask(alone.model, 5);
    expect(alone.breaker.state).toBe('closed');
  });

  it('counts each time-out at once, before the retries of its request have ended', async () => {
    const { breaker } = breaking([], true);
    for (let attempt = 0; attempt < 5; attempt++) breaker.attemptFailed(out());
    expect(breaker.state).toBe('open');
  });

  it('admits one request after its pause, then twice as many at a time, until it closes', async () => {
    const answers: ((result: ChatResult) => void)[] = [];
    const slow = () => new Promise<ChatResult>((resolve) => answers.push(resolve));
    const { model, inner, breaker } = breaking([...times(5, out), ...times(30, () => slow)], true);
    await ask(model, 5);
    await expect(model.generate(REQUEST)).rejects.toMatchObject({
      code: 'MODEL_CIRCUIT_OPEN',
      details: { retry_after_ms: 500 },
    });
    await vi.advanceTimersByTimeAsync(500);
    const admitted: number[] = [];
    while (breaker.state !== 'closed') {
      const before = inner.requests.length;
      const asked = times(10, () => says('')).map(() => outcome(model.generate(REQUEST)));
      admitted.push(inner.requests.length - before);
      // One success doubles the share; the others are abandoned by their callers.
      for (const answer of answers.splice(0)) answer(says('up'));
      await Promise.all(asked);
    }
    expect(admitted[0]).toBe(1);
    expect(admitted[1]).toBe(2);
  });

  it('doubles its pause after each failed test, up to the longest', async () => {
    const { model, breaker } = breaking(times(40, out), true);
    await ask(model, 5);
    for (const pauseMs of [500, 1000, 2000, 4000, 8000, 15_000, 15_000]) {
      await vi.advanceTimersByTimeAsync(pauseMs - 1);
      expect(breaker.state).toBe('open');
      await vi.advanceTimersByTimeAsync(1);
      await ask(model, 1);
      expect(breaker.state).toBe('open');
    }
  });

  it('admits one request a second without a fallback, and tests the provider with it', async () => {
    const { model, inner, breaker } = breaking([...times(40, down), says('up')]);
    await ask(model, 20);
    for (let second = 0; second < 20; second++) {
      await vi.advanceTimersByTimeAsync(1000);
      const before = inner.requests.length;
      await ask(model, 3);
      expect(inner.requests.length - before).toBe(1);
    }
    await vi.advanceTimersByTimeAsync(1000);
    expect(await ask(model, 1)).toEqual(['up']);
    expect(breaker.state).toBe('half_open');
  });

  it('ignores rejections, rate limits, aborted calls and faults of this process', async () => {
    const local = () =>
      new AppError('MODEL_UNREACHABLE', 'no descriptor', { cause: Object.assign(new Error('x'), { code: 'EMFILE' }) });
    const others = [refused, busy, deadKey, () => away, local].flatMap((make) => times(10, make));
    const { model, breaker } = breaking(others, true);
    await ask(model, 50);
    expect(breaker.state).toBe('closed');
  });

  it('observes streams: complete, broken, and not read to the end', async () => {
    const script = [...times(4, () => breaksOff('x')), says('whole'), ...times(16, () => breaksOff('x'))];
    const breaker = new CircuitBreaker(rules, 'the model m', false);
    const model = new BreakingModel(new BreakingOffModel(script), breaker);
    for (let call = 0; call < 4; call++) await outcome(parts(model));
    for await (const _ of model.stream(REQUEST)) break;
    for (let call = 0; call < 15; call++) await outcome(parts(model));
    expect(breaker.state).toBe('closed');
    await outcome(parts(model));
    expect(breaker.state).toBe('open');
  });

  it('admits another test after an aborted one', async () => {
    const { model } = breaking([...times(5, out), away, says('up')], true);
    await ask(model, 5);
    await vi.advanceTimersByTimeAsync(500);
    expect(await ask(model, 2)).toEqual([new Error('away'), 'up']);
  });

  it('ignores jumps of the wall clock', async () => {
    const { model, breaker } = breaking([...times(5, out), says('up')], true);
    await ask(model, 5);
    vi.setSystemTime(START - 3_600_000);
    await vi.advanceTimersByTimeAsync(500);
    expect(breaker.state).toBe('half_open');
    expect(await ask(model, 1)).toEqual(['up']);
  });
});
