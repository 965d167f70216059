import { Injectable, Logger } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { AppError, type Principal } from '../../common/index.js';
import { ALL_SCOPES } from '../scope.types.js';
import { ApiKeyStore } from './api-key.store.js';
import type { ApiKeyRecord } from './api-key.types.js';

/** How long a key is known without another look: a revocation takes so long to reach other processes, in ms. */
const KNOWN_MS = 3_000;
/** The most keys that are known at once. */
const MAX_KNOWN = 10_000;
/** How exact `last_used_at` is, in ms. */
const USE_MS = 60_000;
/** What we make: `jd_` and 256 random bits. Anything else is no key of the table. */
const KEY = /^jd_[\w-]{43}$/;

interface KnownKey {
  readonly record: ApiKeyRecord;
  /** On the monotonic clock: one that is set back makes nothing young. */
  readonly readAt: number;
  /** As noted; epoch ms. */
  usedAt: number;
}

/** The hash that a key is kept as. Plain SHA-256 is enough, and fast: a random key of 256 bits cannot be guessed from it. */
export function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** Knows the keys of the table: those used lately without asking it. Keys that do not exist are never remembered. */
@Injectable()
export class StoredKeyRegistry {
  private readonly logger = new Logger(StoredKeyRegistry.name);
  private readonly known = new Map<string, KnownKey>();
  /** Counts revocations: what was read before one is not remembered after it. */
  private revocations = 0;

  constructor(private readonly store: ApiKeyStore) {}

  /** Whose key this is; `null` when there is none. @throws AppError `UNAUTHENTICATED` when it was revoked or has expired */
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

  /** The principal of this id, if their key is still good; always asks the table. */
  async ownerOf(tenant: string, id: string): Promise<Principal | null> {
    const record = await this.store.find(tenant, id);
    return record && !faultOf(record, Date.now()) ? toPrincipal(record) : null;
  }

  /** Lets a revocation that was just committed take effect here at once. */
  forget(id: string): void {
    this.revocations++;
    for (const [hash, { record }] of this.known) if (record.id === id) this.known.delete(hash);
  }

  /** By the hash: what somebody without a key can time is how far the hash of a guess goes, which tells nothing. */
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

  /** Behind the request's back, and rarely. */
  private noteUse(key: KnownKey, now: number): void {
    if (now - key.usedAt < USE_MS) return;
    key.usedAt = now;
    this.store.noteUse(key.record.id, now).catch((err: unknown) => {
      this.logger.warn({ err, key_id: key.record.id }, 'The use of a key could not be noted');
    });
  }
}

function faultOf({ revokedAt, expiresAt }: ApiKeyRecord, now: number): string | null {
  if (revokedAt !== null) return 'was revoked';
  if (expiresAt !== null && expiresAt <= now) return `expired at ${new Date(expiresAt).toISOString()}`;
  return null;
}

function toPrincipal({ id, tenant, role, scopes }: ApiKeyRecord): Principal {
  return { id, tenant, roles: [role], ...(!scopes.includes(ALL_SCOPES) && { scopes }) };
}
