import { Injectable } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { AppError } from '../../errors/index.js';
import { fieldMistake, type FieldMistake, newId, type Principal } from '../../kernel/index.js';
import { hasScope, KeyUseRegistry, LOCAL, scopesOf } from '../request-authenticator.service.js';
import { visibilityOf } from '../ownership.js';
import { ALL_SCOPES } from '../authorization.js';
import { ApiKeyStore } from './api-key.store.js';
import type { ApiKeyPage, ApiKeyRecord, NewApiKey } from './api-key.types.js';
import { hashOf, StoredKeyRegistry } from './stored-key.registry.js';

const KEY_BYTES = 32;

/** Creates, lists and revokes the API keys of the caller's tenant. */
@Injectable()
export class ApiKeyService {
  constructor(
    private readonly store: ApiKeyStore,
    private readonly stored: StoredKeyRegistry,
    private readonly use: KeyUseRegistry,
  ) {}

  /**
   * @param id of the record
   * @returns the key in clear text, which is not stored, and its stored record
   * @throws AppError `VALIDATION_FAILED` for an expiry in the past or a scope outside of the role, `FORBIDDEN` for a
   * scope that the caller lacks, `REQUEST_REFUSED` if the first key is not an admin key
   */
  async create(maker: Principal, wanted: NewApiKey, id = newId()): Promise<{ key: string; record: ApiKeyRecord }> {
    const now = Date.now();
    checkUsable(wanted, now);
    checkFirst(maker, wanted);
    checkWithin(maker, wanted);
    const key = `jd_${randomBytes(KEY_BYTES).toString('base64url')}`;
    const { tenant, id: createdBy } = maker;
    const record = { ...wanted, id, tenant, createdAt: now, createdBy, revokedAt: null, lastUsedAt: null };
    await this.store.add(record, hashOf(key));
    this.use.noteKey();
    return { key, record };
  }

  /** @throws AppError `VALIDATION_FAILED` for an invalid cursor */
  list({ tenant }: Principal, limit: number, cursor?: string): Promise<ApiKeyPage> {
    return this.store.list(tenant, limit, cursor);
  }

  /** The record of a key. @throws AppError `KEY_NOT_FOUND` */
  async get({ tenant }: Principal, id: string): Promise<ApiKeyRecord> {
    const record = await this.store.find(tenant, id);
    if (!record) throw notFound(id);
    return record;
  }

  /** Takes effect at once in this process, in others within 3 s. @throws AppError `KEY_NOT_FOUND` */
  async revoke({ tenant }: Principal, id: string): Promise<void> {
    if (!(await this.store.revoke(tenant, id, Date.now()))) {
      throw notFound(id);
    }
    this.stored.forget(id);
  }
}

function notFound(id: string): AppError {
  return new AppError('KEY_NOT_FOUND', `There is no key "${id}": \`GET /api/keys\` lists those there are.`);
}

function checkUsable({ role, scopes, expiresAt }: NewApiKey, now: number): void {
  if (expiresAt !== null && expiresAt <= now) {
    throw invalid(fieldMistake('expiresAt', 'expiresAt must be in the future', 'isInTheFuture', String(expiresAt)));
  }
  for (const [at, scope] of scopes.entries()) {
    if (scope === ALL_SCOPES || hasScope({ roles: [role] }, scope)) continue;
    throw invalid(fieldMistake(`scopes.${at}`, `the role ${role} does not have the scope ${scope}`, 'isOfRole', scope));
  }
}

/** Once a key exists, every request needs one; so the first key must be able to create others. */
function checkFirst(maker: Principal, { role, scopes }: NewApiKey): void {
  if (maker !== LOCAL || hasScope({ roles: [role], scopes }, 'keys')) return;
  throw new AppError(
    'REQUEST_REFUSED',
    'Once a key exists, every request needs one, so the first key must be able to create others: give it the role "admin".',
  );
}

/** A caller with restricted scopes or visibility cannot create a key with more. */
function checkWithin(maker: Principal, { role, scopes, visibility }: NewApiKey): void {
  const sees = visibilityOf({ roles: [role], ...(visibility && { visibility }) });
  if (sees === 'all' && visibilityOf(maker) === 'own') {
    const message = 'A key cannot see all of the tenant if its creator does not: give it the visibility "own".';
    throw new AppError('FORBIDDEN', message);
  }
  const beyond = scopesOf({ roles: [role], scopes }).find((scope) => !hasScope(maker, scope));
  if (beyond === undefined) return;
  throw new AppError('FORBIDDEN', `A key cannot have a scope that its creator lacks: "${beyond}".`, {
    details: { scope: beyond },
  });
}

function invalid(mistake: FieldMistake): AppError {
  return new AppError('VALIDATION_FAILED', `The request is not valid: ${mistake.message}.`, {
    details: { errors: [mistake] },
  });
}
