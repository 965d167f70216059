import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { AppError } from '../../errors/index.js';
import type { Principal } from '../../kernel/index.js';
import { Database } from '../../persistence/index.js';
import { insert, type Statement } from '../../persistence/statement/index.js';
import { Cipher } from '../../security/encryption/index.js';
import { runPlace } from '../run-record.mapper.js';
import type { IdempotentRequest } from '../run.types.js';

/** A key belongs to a principal: the same key of another one is another key. */
export function ownKey({ id }: Principal, key: string): string {
  return createHash('sha256')
    .update(JSON.stringify([id, key]))
    .digest('hex');
}

/** Validity of a key, in ms: 24 hours. */
export const KEY_LIFETIME_MS = 24 * 3_600_000;

interface KeyRow {
  readonly idem_key: string;
  readonly body_hash: string;
  readonly run_id: string;
  /** JSON of the principal of the run; may be encrypted. */
  readonly principal: string;
}

/** The runs started by idempotency keys; a key's row is committed together with its run. */
@Injectable()
export class IdempotencyStore {
  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
  ) {}

  /** Statements that store the key for the run; refused (unique) when another run has the key. */
  take(principal: Principal, { key, bodyHash }: IdempotentRequest, runId: string, now: number): Statement[] {
    return [
      {
        sql: 'DELETE FROM idempotency_key WHERE tenant = ? AND idem_key = ? AND created_at <= ?',
        params: [principal.tenant, ownKey(principal, key), now - KEY_LIFETIME_MS],
      },
      insert('idempotency_key', {
        tenant: principal.tenant,
        idem_key: ownKey(principal, key),
        body_hash: bodyHash,
        run_id: runId,
        created_at: now,
      }),
    ];
  }

  /** A row of version 0.1.0 has the key itself: such a row belongs to the principal of its run. */
  private async rowOf(principal: Principal, key: string, after: number): Promise<KeyRow | undefined> {
    const own = ownKey(principal, key);
    const rows = await this.database.query<KeyRow>(
      `SELECT k.idem_key, k.body_hash, k.run_id, r.principal FROM idempotency_key k JOIN run r ON r.id = k.run_id
        WHERE k.tenant = ? AND k.idem_key IN (?, ?) AND k.created_at > ?`,
      [principal.tenant, own, key, after],
    );
    const ownRow = rows.find(({ idem_key }) => idem_key === own);
    return ownRow ?? rows.find((row) => this.principalOf(row, principal.tenant).id === principal.id);
  }

  private principalOf({ run_id, principal }: KeyRow, tenant: string): Principal {
    return JSON.parse(this.cipher.open(principal, runPlace(tenant, run_id, 'principal'))) as Principal;
  }

  /**
   * The run that the same request started.
   * @throws AppError `IDEMPOTENCY_KEY_REUSED` when the key belongs to another request
   */
  async find(principal: Principal, { key, bodyHash }: IdempotentRequest, now: number): Promise<string | null> {
    const row = await this.rowOf(principal, key, now - KEY_LIFETIME_MS);
    if (!row) return null;
    if (row.body_hash === bodyHash) return row.run_id;
    throw keyReused();
  }
}

export function keyReused(): AppError {
  return new AppError(
    'IDEMPOTENCY_KEY_REUSED',
    'This Idempotency-Key was used for another request in the last 24 hours: use a new key for every request.',
  );
}
