import { describe, expect, it } from 'vitest';
import { LiveCalls } from './live-calls.registry.js';

describe('LiveCalls.isNewlyLost()', () => {
  it('is true once per call', () => {
    const calls = new LiveCalls();
    expect([calls.isNewlyLost('a'), calls.isNewlyLost('a'), calls.isNewlyLost('b')]).toEqual([true, false, true]);
  });

  it('remembers the last thousand calls', () => {
    const calls = new LiveCalls();
    for (let n = 0; n <= 1000; n++) calls.isNewlyLost(`call ${n}`);
    expect(calls.isNewlyLost('call 1')).toBe(false);
    expect(calls.isNewlyLost('call 0')).toBe(true);
  });
});
