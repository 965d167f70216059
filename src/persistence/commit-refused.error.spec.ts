import { describe, expect, it } from '@jest/globals';
import { commitRefused, isRefusedAtOnce, refusalOf } from './commit-refused.error.js';

describe('a refused batch', () => {
  it.each([
    ['rows', 0, true],
    ['unique', 3, false],
  ] as const)('by %s at statement %i says why to the program, and its SQL to the log alone', (reason, at, isAtOnce) => {
    const error = commitRefused(reason, at, 'UPDATE run SET secret = ?');
    expect(refusalOf(error)).toBe(reason);
    expect(isRefusedAtOnce(error)).toBe(isAtOnce);
    expect(JSON.stringify([error.message, error.details])).not.toContain('UPDATE');
    expect((error.cause as Error).message).toContain('UPDATE run');
  });

  it('is none of the other errors', () => {
    expect([refusalOf(new Error('no')), isRefusedAtOnce(undefined)]).toEqual([null, false]);
  });
});
