import { Injectable } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import { fieldMistake, type Role, type Visibility } from '../../kernel/index.js';
import { Database, insert, refusalOf, type SqlValue } from '../../persistence/index.js';
import type { ApiKeyPage, ApiKeyRecord, KeyScope } from './api-key.types.js';

interface ApiKeyRow {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  readonly role: Role;
  readonly scopes: string;
  readonly visibility: Visibility | null;
  readonly created_at: number;
  readonly created_by: string;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
  readonly last_used_at: number | null;
}

const COLUMNS =
  'id, tenant, name, role, scopes, visibility, created_at, created_by, expires_at, revoked_at, last_used_at';

/** The table `api_key`. It stores the SHA-256 of each key only, and never returns it. */
@Injectable()
export class ApiKeyStore {
  constructor(private readonly database: Database) {}

  async add(key: ApiKeyRecord, sha256: string): Promise<void> {
    const row = {
      id: key.id,
      tenant: key.tenant,
      sha256,
      name: key.name,
      role: key.role,
      scopes: JSON.stringify(key.scopes),
      visibility: key.visibility,
      created_at: key.createdAt,
      created_by: key.createdBy,
      expires_at: key.expiresAt,
      revoked_at: key.revokedAt,
      last_used_at: key.lastUsedAt,
    };
    await this.database.commit([insert('api_key', row)]);
  }

  async findByHash(sha256: string): Promise<ApiKeyRecord | null> {
    return (await this.select('sha256 = ?', [sha256], 1))[0] ?? null;
  }

  async find(tenant: string, id: string): Promise<ApiKeyRecord | null> {
    return (await this.select('id = ? AND tenant = ?', [id, tenant], 1))[0] ?? null;
  }

  /**
   * A tenant's keys, newest first.
   * @param cursor the `next` of the previous page
   * @param limit maximum keys of the page
   * @throws AppError `VALIDATION_FAILED` for an invalid cursor
   */
  async list(tenant: string, limit: number, cursor?: string): Promise<ApiKeyPage> {
    if (cursor !== undefined && !/^[\w-]{1,64}$/.test(cursor)) throw notACursor(cursor);
    // Ids grow with time.
    const after = cursor === undefined ? '' : ' AND id < ?';
    const params = cursor === undefined ? [tenant] : [tenant, cursor];
    const found = await this.select(`tenant = ?${after} ORDER BY id DESC`, params, limit + 1);
    const keys = found.slice(0, limit);
    return { keys, next: found.length > limit ? keys.at(-1)!.id : null };
  }

  /** Revokes a key; a second call keeps the first time of revocation. @returns whether the tenant has such a key */
  async revoke(tenant: string, id: string, at: number): Promise<boolean> {
    const sql = 'UPDATE api_key SET revoked_at = COALESCE(revoked_at, ?) WHERE id = ? AND tenant = ?';
    try {
      await this.database.commit([{ sql, params: [at, id, tenant], rows: 1 }]);
      return true;
    } catch (error) {
      if (refusalOf(error) === 'rows') return false;
      throw error;
    }
  }

  async noteUse(id: string, at: number): Promise<void> {
    await this.database.commit([{ sql: 'UPDATE api_key SET last_used_at = ? WHERE id = ?', params: [at, id] }]);
  }

  /** Whether no key was ever created; revoked and expired keys count as created. */
  async isEmpty(): Promise<boolean> {
    return (await this.database.query('SELECT id FROM api_key LIMIT 1')).length === 0;
  }

  private async select(where: string, params: readonly SqlValue[], limit: number): Promise<ApiKeyRecord[]> {
    const sql = `SELECT ${COLUMNS} FROM api_key WHERE ${where} LIMIT ?`;
    return (await this.database.query<ApiKeyRow>(sql, [...params, limit])).map(toRecord);
  }
}

function toRecord(row: ApiKeyRow): ApiKeyRecord {
  return {
    id: row.id,
    tenant: row.tenant,
    name: row.name,
    role: row.role,
    scopes: JSON.parse(row.scopes) as KeyScope[],
    visibility: row.visibility,
    createdAt: row.created_at,
    createdBy: row.created_by,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
  };
}

function notACursor(cursor: string): AppError {
  const message = 'cursor must be the "next" of a page';
  return new AppError('VALIDATION_FAILED', `The request is not valid: ${message}.`, {
    details: { errors: [fieldMistake('cursor', message, 'isCursor', cursor)] },
  });
}
