import { createHash, timingSafeEqual } from 'node:crypto';
import type { Principal } from '../kernel/index.js';
import type { ApiKeyEntry } from '../config/namespaces/index.js';

interface KnownKey {
  readonly hash: Buffer;
  readonly principal: Principal;
}

/** The configured keys: SHA-256 hash and principal of each. The keys themselves are not stored. */
export class ApiKeyRegistry {
  private readonly known: readonly KnownKey[];

  constructor(entries: readonly ApiKeyEntry[]) {
    this.known = entries.map(({ id, tenant, roles, sha256, visibility }) => ({
      hash: Buffer.from(sha256, 'hex'),
      principal: Object.freeze({ id, tenant, roles: Object.freeze([...roles]), ...(visibility && { visibility }) }),
    }));
  }

  get isEmpty(): boolean {
    return this.known.length === 0;
  }

  /** The principal of a key. Takes a time that depends only on the number of keys (constant-time comparison). */
  find(key: string): Principal | undefined {
    const hash = createHash('sha256').update(key).digest();
    let found: Principal | undefined;
    for (const candidate of this.known) {
      if (timingSafeEqual(candidate.hash, hash)) found = candidate.principal;
    }
    return found;
  }

  /** The principal with this id, if a key of it is configured. */
  ownerOf(tenant: string, id: string): Principal | undefined {
    return this.known.find(({ principal }) => principal.tenant === tenant && principal.id === id)?.principal;
  }
}
