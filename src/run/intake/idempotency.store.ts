import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/index.js';
import { Database, insert, type Statement } from '../../persistence/index.js';

/** Validity of a key, in ms: 24 hours. */
export const KEY_LIFETIME_MS = 24 * 3_600_000;

/** A request that takes effect once, however often it is sent. */
export interface IdempotentRequest {
  readonly key: string;
  /** SHA-256 (hex) of the request. */
  readonly bodyHash: string;
}

/** The runs started by idempotency keys; a key's row is committed together with its run. */
@Injectable()
export class IdempotencyStore {
  constructor(private readonly database: Database) {}

  /** Statements that store the key for the run; refused (unique) when another run has the key. */
  take(tenant: string, { key, bodyHash }: IdempotentRequest, runId: string, now: number): Statement[] {
    return [
      {
        sql: 'DELETE FROM idempotency_key WHERE tenant = ? AND idem_key = ? AND created_at <= ?',
        params: [tenant, key, now - KEY_LIFETIME_MS],
      },
      insert('idempotency_key', { tenant, idem_key: key, body_hash: bodyHash, run_id: runId, created_at: now }),
    ];
  }

  /**
   * The run that the same request started.
   * @throws AppError `IDEMPOTENCY_KEY_REUSED` when the key belongs to another request
   */
  async find(tenant: string, { key, bodyHash }: IdempotentRequest, now: number): Promise<string | null> {
    const [row] = await this.database.query<{ body_hash: string; run_id: string }>(
      'SELECT body_hash, run_id FROM idempotency_key WHERE tenant = ? AND idem_key = ? AND created_at > ?',
      [tenant, key, now - KEY_LIFETIME_MS],
    );
    if (!row) return null;
    if (row.body_hash === bodyHash) return row.run_id;
    throw new AppError(
      'IDEMPOTENCY_KEY_REUSED',
      'This Idempotency-Key was used for another request in the last 24 hours: use a new key for every request.',
    );
  }
}
