import { describe, expect, it } from '@jest/globals';
import { LiveCalls } from './live-calls.registry.js';

describe('calls that were lost', () => {
  it('are newly lost once', () => {
    const calls = new LiveCalls();
    expect([calls.isNewlyLost('a'), calls.isNewlyLost('a'), calls.isNewlyLost('b')]).toEqual([true, false, true]);
  });

  it('are remembered up to a thousand: those that were lost last', () => {
    const calls = new LiveCalls();
    for (let n = 0; n <= 1000; n++) calls.isNewlyLost(`call ${n}`);
    expect(calls.isNewlyLost('call 1')).toBe(false);
    expect(calls.isNewlyLost('call 0')).toBe(true);
  });
});
