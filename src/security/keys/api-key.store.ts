import { Injectable } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import { fieldMistake } from '../../kernel/index.js';
import { Database } from '../../persistence/index.js';
import type { Table } from '../../persistence/schema/index.js';
import type { ApiKeyPage, ApiKeyRecord } from './api-key.types.js';
import { ApiKeyEntity, type StoredApiKey } from './entities/api-key.entity.js';

/** The table `api_key`. It stores the SHA-256 of each key only, and never returns it. */
@Injectable()
export class ApiKeyStore {
  private readonly keys: Table<StoredApiKey>;

  constructor(database: Database) {
    this.keys = database.table(ApiKeyEntity);
  }

  add(key: ApiKeyRecord, sha256: string): Promise<void> {
    return this.keys.insert({ ...key, sha256 });
  }

  findByHash(sha256: string): Promise<ApiKeyRecord | null> {
    return this.keys.findOne({ sha256 });
  }

  find(tenant: string, id: string): Promise<ApiKeyRecord | null> {
    return this.keys.findOne({ id, tenant });
  }

  /**
   * A tenant's keys, newest first.
   * @param cursor the `next` of the previous page
   * @param limit maximum keys of the page
   * @throws AppError `VALIDATION_FAILED` for an invalid cursor
   */
  async list(tenant: string, limit: number, cursor?: string): Promise<ApiKeyPage> {
    if (cursor !== undefined && !/^[\w-]{1,64}$/.test(cursor)) throw notACursor(cursor);
    const { LessThan } = await import('typeorm');
    // Ids grow with time.
    const where = cursor === undefined ? { tenant } : { tenant, id: LessThan(cursor) };
    const found = await this.keys.find({ where, order: { id: 'DESC' }, take: limit + 1 });
    const keys = found.slice(0, limit);
    return { keys, next: found.length > limit ? keys.at(-1)!.id : null };
  }

  /** Revokes a key; a second call keeps the first time of revocation. @returns whether the tenant has such a key */
  async revoke(tenant: string, id: string, at: number): Promise<boolean> {
    const { IsNull } = await import('typeorm');
    const revoked = await this.keys.update({ id, tenant, revokedAt: IsNull() }, { revokedAt: at });
    return revoked > 0 || (await this.find(tenant, id)) !== null;
  }

  async noteUse(id: string, at: number): Promise<void> {
    await this.keys.update({ id }, { lastUsedAt: at });
  }

  /** Whether no key was ever created; revoked and expired keys count as created. */
  async isEmpty(): Promise<boolean> {
    return (await this.keys.find({ select: { id: true }, take: 1 })).length === 0;
  }
}

function notACursor(cursor: string): AppError {
  const message = 'cursor must be the "next" of a page';
  return new AppError('VALIDATION_FAILED', `The request is not valid: ${message}.`, {
    details: { errors: [fieldMistake('cursor', message, 'isCursor', cursor)] },
  });
}
