import { Injectable } from '@nestjs/common';
import type { Principal } from '../../kernel/index.js';
import { Database, refusalOf } from '../../persistence/index.js';
import { insert } from '../../persistence/statement/index.js';
import type { IdempotentRequest } from '../run.types.js';
import { KEY_LIFETIME_MS, keyReused, ownKey } from './idempotency.store.js';

/** The id that a request's key reserves. */
export interface ReservedId {
  readonly id: string;
  /** Whether this call reserved it, and no earlier request. */
  readonly isNew: boolean;
  /** Whether a request has created the thing; it may have been deleted since. */
  readonly isCreated: boolean;
  /** Time of the reservation, epoch ms. */
  readonly at: number;
}

interface Row {
  readonly body_hash: string;
  readonly created_id: string;
  readonly is_created: number;
  readonly created_at: number;
}

/** Reserves the ids of things that requests with an `Idempotency-Key` create: sessions, forks and API keys. */
@Injectable()
export class CreationKeyStore {
  constructor(private readonly database: Database) {}

  /**
   * Reserves `id` for the request, or returns the id that an earlier one reserved.
   * @param now epoch ms
   * @throws AppError `IDEMPOTENCY_KEY_REUSED` when the key belongs to another request
   */
  async reserve(principal: Principal, request: IdempotentRequest, id: string, now: number): Promise<ReservedId> {
    const place = [principal.tenant, ownKey(principal, request.key)] as const;
    const [tenant, idem_key] = place;
    const row = { tenant, idem_key, body_hash: request.bodyHash, created_id: id, is_created: 0, created_at: now };
    const expired = 'DELETE FROM creation_key WHERE tenant = ? AND idem_key = ? AND created_at <= ?';
    try {
      await this.database.commit([
        { sql: expired, params: [...place, now - KEY_LIFETIME_MS] },
        insert('creation_key', row),
      ]);
      return { id, isNew: true, isCreated: false, at: now };
    } catch (error) {
      if (refusalOf(error) !== 'unique') throw error;
    }
    const sql =
      'SELECT body_hash, created_id, is_created, created_at FROM creation_key WHERE tenant = ? AND idem_key = ?';
    const [earlier] = await this.database.query<Row>(sql, place);
    // Released since: the request that reserved it was refused.
    if (!earlier) return this.reserve(principal, request, id, now);
    if (earlier.body_hash !== request.bodyHash) throw keyReused();
    const { created_id, is_created, created_at } = earlier;
    return { id: created_id, isNew: false, isCreated: is_created === 1, at: created_at };
  }

  async markCreated(principal: Principal, { key }: IdempotentRequest): Promise<void> {
    const sql = 'UPDATE creation_key SET is_created = 1 WHERE tenant = ? AND idem_key = ?';
    await this.database.commit([{ sql, params: [principal.tenant, ownKey(principal, key)] }]);
  }

  /** Frees the key of a request that was refused, so that the same request can be sent again. */
  async release(principal: Principal, { key }: IdempotentRequest): Promise<void> {
    const sql = 'DELETE FROM creation_key WHERE tenant = ? AND idem_key = ? AND is_created = 0';
    await this.database.commit([{ sql, params: [principal.tenant, ownKey(principal, key)] }]);
  }
}
