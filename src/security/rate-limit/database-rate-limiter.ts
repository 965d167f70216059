import { AppError } from '../../errors/index.js';
import { type Database, refusalOf } from '../../persistence/index.js';
import type { Statement } from '../../persistence/statement/index.js';
import { RateLimiter, type RateLimit, type RateVerdict } from './rate-limiter.js';

interface CountRow {
  readonly resets_at: number;
}

/** Maximum expired windows that are deleted when a new one starts. */
const SWEPT = 100;
/** Maximum attempts when another process creates or deletes a window's row at the same time. */
const MAX_ATTEMPTS = 5;
/** Age after which a row without a counted call is deleted, in ms. */
const UNUSED_MS = 3_600_000;

/** Windows that have ended, and rows whose calls were all rejected by another limit. */
const EXPIRED = 'resets_at < ? AND (calls > 0 OR resets_at > ?)';

/** Counts calls in the journal's database, for a cluster without Redis. */
export class DatabaseRateLimiter extends RateLimiter {
  constructor(private readonly database: Database) {
    super();
  }

  async admit(limits: readonly RateLimit[]): Promise<RateVerdict> {
    // One order for all batches prevents deadlocks between them.
    const inOrder = limits.toSorted((a, b) => (a.key < b.key ? -1 : 1));
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const now = Date.now();
      const full = await this.count(inOrder, now);
      if (!full) return { kind: 'admitted' };
      const resetsAt = await this.resetsAt(full);
      if (resetsAt === null) await this.open(inOrder, now);
      else if (resetsAt > now) return { kind: 'limited', limit: full, resetsAt };
    }
    throw new AppError(
      'COMMIT_REFUSED',
      'Rate limit check failed: too many concurrent updates of the same limit; retry the call.',
      {
        isRetryable: true,
      },
    );
  }

  async close(): Promise<void> {}

  /** @returns the limit that has no row or is exhausted (nothing was counted then); `null` if all calls were counted */
  private async count(limits: readonly RateLimit[], now: number): Promise<RateLimit | null> {
    try {
      await this.database.commit(limits.map((limit) => countOne(limit, now)));
      return null;
    } catch (error) {
      if (refusalOf(error) === null) throw error;
      return limits[(error as AppError).details?.['statement'] as number] ?? limits[0]!;
    }
  }

  private async resetsAt({ key }: RateLimit): Promise<number | null> {
    const [row] = await this.database.query<CountRow>('SELECT resets_at FROM call_rate WHERE id = ?', [key]);
    return row?.resets_at ?? null;
  }

  private async open(limits: readonly RateLimit[], now: number): Promise<void> {
    await this.database.commit([
      this.database.limitedDelete('call_rate', ['id'], EXPIRED, [now, UNUSED_MS - now], SWEPT),
      // The first counted call starts the window, whatever the clocks of other processes say: until then the row has the
      // negated time of its creation.
      ...limits.map(({ key }) => this.database.insertIgnore('call_rate', { id: key, calls: 0, resets_at: -now })),
    ]);
  }
}

/** Counts a call in the open window, or starts a new window. MariaDB assigns columns from left to right. */
function countOne({ key, calls, windowMs }: RateLimit, now: number): Statement {
  return {
    sql: `UPDATE call_rate SET calls = CASE WHEN resets_at <= ? THEN 1 ELSE calls + 1 END,
      resets_at = CASE WHEN resets_at <= ? THEN ? ELSE resets_at END
      WHERE id = ? AND (resets_at <= ? OR calls < ?)`,
    params: [now, now, now + windowMs, key, now, calls],
    rows: 1,
  };
}
