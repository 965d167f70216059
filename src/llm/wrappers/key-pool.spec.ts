import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  REQUEST,
  busy,
  down,
  refused,
  deadKey,
  BreakingOffModel,
  breaksOff,
  parts,
  outcome,
} from '../../../test/support/faulty-models.js';
import { says, ScriptedChatModel, type Scripted } from '../../../test/support/scripted-chat-model.js';
import { AppError } from '../../errors/index.js';
import { KeyPool } from './key-pool.policy.js';
import { PooledModel } from './pooled-model.wrapper.js';

beforeEach(() => void vi.useFakeTimers({ toNotFake: ['nextTick', 'setImmediate'] }));
afterEach(() => void vi.useRealTimers());

describe('a pool of keys', () => {
  const pooled = (scripts: Readonly<Record<string, readonly Scripted[]>>) => {
    const pool = new KeyPool(Object.keys(scripts));
    const models = new Map(Object.entries(scripts).map(([key, script]) => [key, new BreakingOffModel(script)]));
    const model = new PooledModel(pool, (key) => models.get(key)!, new ScriptedChatModel([]));
    return { pool, model, requestCounts: () => [...models].map(([key, { requests }]) => `${key}:${requests.length}`) };
  };

  it('tries the next key after a rate limit, and respects its retry delay', async () => {
    const { pool, model, requestCounts } = pooled({
      a: [busy(5000), says('a')],
      b: [says('b1'), says('b2'), busy(60_000)],
    });
    expect(await outcome(model.generate(REQUEST))).toBe('b1');
    expect(pool.state()).toEqual({ total: 2, cooling: 1, retired: 0 });
    expect(await outcome(parts(model))).toEqual(['b2', 'b2']);
    await vi.advanceTimersByTimeAsync(5000);
    // The least recently rate-limited key is first.
    expect(await outcome(model.generate(REQUEST))).toBe('a');
    expect(requestCounts()).toEqual(['a:2', 'b:3']);
  });

  it('retires a rejected key, and reports if no key is left', async () => {
    const { pool, model } = pooled({ a: [deadKey()], b: [busy(9000), deadKey()] });
    await expect(model.generate(REQUEST)).rejects.toMatchObject({
      code: 'MODEL_RATE_LIMITED',
      details: { retry_after_ms: 9000 },
    });
    await vi.advanceTimersByTimeAsync(9000);
    await expect(model.generate(REQUEST)).rejects.toMatchObject({ code: 'MODEL_AUTHENTICATION', isRetryable: false });
    expect(pool.state()).toEqual({ total: 2, cooling: 0, retired: 2 });
    pool.replace(['b', 'c']);
    expect(pool.usable()).toEqual(['c']);
  });

  it('keeps a key without permission for the request, and tries the others', async () => {
    const forbidden = new AppError('MODEL_AUTHENTICATION', 'no access to that model', {
      details: { provider_status: 403 },
    });
    const { pool, model, requestCounts } = pooled({ a: [forbidden, says('a'), forbidden], b: [forbidden, forbidden] });
    await expect(model.generate(REQUEST)).rejects.toBe(forbidden);
    expect(await outcome(model.generate(REQUEST))).toBe('a');
    await expect(parts(model)).rejects.toBe(forbidden);
    expect(requestCounts()).toEqual(['a:3', 'b:2']);
    expect(pool.state()).toEqual({ total: 2, cooling: 0, retired: 0 });
  });

  it('tries no other key for other errors, or after a part was emitted', async () => {
    const faults = pooled({ a: [refused(), down()], b: [says('b')] });
    expect(await outcome(faults.model.generate(REQUEST))).toBe('MODEL_REFUSED');
    expect(await outcome(faults.model.generate(REQUEST))).toBe('MODEL_UNAVAILABLE');
    const shown = pooled({ a: [breaksOff('x')], b: [says('b')] });
    expect(await outcome(parts(shown.model))).toBe('MODEL_UNAVAILABLE');
    expect([...faults.requestCounts(), ...shown.requestCounts()]).toEqual(['a:2', 'b:0', 'a:1', 'b:0']);
  });
});
