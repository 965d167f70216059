import { describe, expect, it } from 'vitest';
import { commitRefused, isRefusedAtOnce, refusalOf } from './commit-refused.error.js';

describe('a refused batch', () => {
  it.each([
    ['rows', 0, true],
    ['unique', 3, false],
  ] as const)(
    'has the reason %s at statement %i in its details, and the SQL in its cause only',
    (reason, at, isAtOnce) => {
      const error = commitRefused(reason, at, 'UPDATE run SET secret = ?');
      expect(refusalOf(error)).toBe(reason);
      expect(isRefusedAtOnce(error)).toBe(isAtOnce);
      expect(JSON.stringify([error.message, error.details])).not.toContain('UPDATE');
      expect((error.cause as Error).message).toContain('UPDATE run');
    },
  );

  it('differs from other errors', () => {
    expect([refusalOf(new Error('no')), isRefusedAtOnce(undefined)]).toEqual([null, false]);
  });
});
