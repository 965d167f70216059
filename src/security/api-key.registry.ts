import { createHash, timingSafeEqual } from 'node:crypto';
import type { Principal } from '../common/index.js';
import type { ApiKeyEntry } from '../config/index.js';

interface KnownKey {
  readonly hash: Buffer;
  readonly principal: Principal;
}

/** Knows the hashes of the configured keys and whose they are; the keys themselves are kept nowhere. */
export class ApiKeyRegistry {
  private readonly known: readonly KnownKey[];

  constructor(entries: readonly ApiKeyEntry[]) {
    this.known = entries.map(({ id, tenant, roles, sha256 }) => ({
      hash: Buffer.from(sha256, 'hex'),
      principal: Object.freeze({ id, tenant, roles: Object.freeze([...roles]) }),
    }));
  }

  get isEmpty(): boolean {
    return this.known.length === 0;
  }

  /** Whose key this is, in a time that depends on the number of keys only. */
  find(key: string): Principal | undefined {
    const hash = createHash('sha256').update(key).digest();
    let found: Principal | undefined;
    for (const candidate of this.known) {
      if (timingSafeEqual(candidate.hash, hash)) found = candidate.principal;
    }
    return found;
  }

  /** The principal of this id, if a key of theirs is configured. */
  ownerOf(tenant: string, id: string): Principal | undefined {
    return this.known.find(({ principal }) => principal.tenant === tenant && principal.id === id)?.principal;
  }
}
