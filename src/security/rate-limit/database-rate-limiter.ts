import { AppError } from '../../common/index.js';
import { type Database, refusalOf, type Statement } from '../../persistence/index.js';
import { RateLimiter, type RateLimit, type RateVerdict } from './rate-limiter.js';

interface CountRow {
  readonly resets_at: number;
}

/** Windows that are over and are deleted when a new one begins. */
const SWEPT = 100;
/** A row that another process opens or sweeps at the same time is looked for again. */
const MOST_TRIES = 5;

/** Counts in the journal's own database, where several processes share it and nothing else. */
export class DatabaseRateLimiter extends RateLimiter {
  constructor(private readonly database: Database) {
    super();
  }

  async admit(limits: readonly RateLimit[]): Promise<RateVerdict> {
    // Always in the same order: two batches must not wait for each other's rows.
    const inOrder = limits.toSorted((a, b) => (a.key < b.key ? -1 : 1));
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const now = Date.now();
      const full = await this.count(inOrder, now);
      if (!full) return { kind: 'admitted' };
      const resetsAt = await this.resetsAt(full);
      if (resetsAt === null) await this.open(inOrder, now);
      else if (resetsAt > now) return { kind: 'limited', limit: full, resetsAt };
    }
    throw new AppError('COMMIT_REFUSED', 'Calls could not be counted: others count the same ones at the same time.', {
      isRetryable: true,
    });
  }

  async close(): Promise<void> {}

  /** @returns the limit that has no row, or no room in it; nothing was counted then */
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
      this.database.limitedDelete('call_rate', ['id'], 'resets_at < ?', [now], SWEPT),
      ...limits.map(({ key }) => this.database.insertIgnore('call_rate', { id: key, calls: 0, resets_at: now })),
    ]);
  }
}

/** One more in the window that is open, or the first of a new one. Columns are set from left to right on MariaDB. */
function countOne({ key, calls, windowMs }: RateLimit, now: number): Statement {
  return {
    sql: `UPDATE call_rate SET calls = CASE WHEN resets_at <= ? THEN 1 ELSE calls + 1 END,
      resets_at = CASE WHEN resets_at <= ? THEN ? ELSE resets_at END
      WHERE id = ? AND (resets_at <= ? OR calls < ?)`,
    params: [now, now, now + windowMs, key, now, calls],
    rows: 1,
  };
}
