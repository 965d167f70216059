import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { AppError, Log } from '../../errors/index.js';
import { type Principal } from '../../kernel/index.js';
import { ALL_SCOPES } from '../authorization.js';
import { ApiKeyStore } from './api-key.store.js';
import type { ApiKeyRecord } from './api-key.types.js';

/** Cache time of a key, in ms: maximum delay until a revocation reaches other processes. */
const KNOWN_MS = 3_000;
/** Maximum cached keys. */
const MAX_KNOWN = 10_000;
/** Resolution of `last_used_at`, in ms. */
const USE_MS = 60_000;
/** Format of created keys: `jd_` and 256 random bits. Other texts need no query. */
const KEY = /^jd_[\w-]{43}$/;

interface KnownKey {
  readonly record: ApiKeyRecord;
  /** On the monotonic clock, in ms, so that a wall clock set back cannot extend the cache time. */
  readonly readAt: number;
  /** Last written `last_used_at`, epoch ms. */
  usedAt: number;
}

/** The stored hash of a key. Plain SHA-256 suffices: a random key of 256 bits cannot be guessed from its hash. */
export function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** Looks up keys of the table and caches those used recently. Unknown keys are not cached. */
@Injectable()
export class StoredKeyRegistry {
  private readonly logger = new Log(StoredKeyRegistry.name);
  private readonly known = new Map<string, KnownKey>();
  /** Counts revocations, so that a read that started before one is not cached after it. */
  private revocations = 0;

  constructor(private readonly store: ApiKeyStore) {}

  /** The principal of a key; `null` for an unknown key. @throws AppError `UNAUTHENTICATED` if it is revoked or expired */
  async find(key: string): Promise<Principal | null> {
    if (!KEY.test(key)) return null;
    const found = await this.read(hashOf(key));
    if (!found) return null;
    const now = Date.now();
    const fault = faultOf(found.record, now);
    if (fault) throw new AppError('UNAUTHENTICATED', `This API key ${fault}: ask an admin for a new one.`);
    this.noteUse(found, now);
    return toPrincipal(found.record);
  }

  /** The principal with this id, if its key is still valid; always queries the table. */
  async ownerOf(tenant: string, id: string): Promise<Principal | null> {
    const record = await this.store.find(tenant, id);
    return record && !faultOf(record, Date.now()) ? toPrincipal(record) : null;
  }

  /** Applies a committed revocation to this process at once. */
  forget(id: string): void {
    this.revocations++;
    for (const [hash, { record }] of this.known) if (record.id === id) this.known.delete(hash);
  }

  /** Looks up by hash: the duration of a lookup then reveals nothing about a key. */
  private async read(hash: string): Promise<KnownKey | null> {
    const known = this.known.get(hash);
    const now = performance.now();
    if (known && now - known.readAt < KNOWN_MS) return known;
    const before = this.revocations;
    const record = await this.store.findByHash(hash);
    if (!record) return null;
    const fresh = { record, readAt: now, usedAt: Math.max(record.lastUsedAt ?? 0, known?.usedAt ?? 0) };
    if (before === this.revocations) this.remember(hash, fresh);
    return fresh;
  }

  private remember(hash: string, key: KnownKey): void {
    this.known.delete(hash);
    this.known.set(hash, key);
    if (this.known.size <= MAX_KNOWN) return;
    const [oldest = ''] = this.known.keys();
    this.known.delete(oldest);
  }

  /** Updates `last_used_at` in the background, at most once per `USE_MS`. */
  private noteUse(key: KnownKey, now: number): void {
    if (now - key.usedAt < USE_MS) return;
    key.usedAt = now;
    this.store.noteUse(key.record.id, now).catch((err: unknown) => {
      this.logger.warn({ err, key_id: key.record.id }, 'Failed to update last_used_at of an API key');
    });
  }
}

function faultOf({ revokedAt, expiresAt }: ApiKeyRecord, now: number): string | null {
  if (revokedAt !== null) return 'was revoked';
  if (expiresAt !== null && expiresAt <= now) return `expired at ${new Date(expiresAt).toISOString()}`;
  return null;
}

function toPrincipal({ id, tenant, role, scopes, visibility }: ApiKeyRecord): Principal {
  const narrowed = { ...(!scopes.includes(ALL_SCOPES) && { scopes }), ...(visibility && { visibility }) };
  return { id, tenant, roles: [role], ...narrowed };
}
