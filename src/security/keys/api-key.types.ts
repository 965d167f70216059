import type { Role } from '../../common/index.js';
import type { ALL_SCOPES, Scope } from '../scope.types.js';

export type KeyScope = Scope | typeof ALL_SCOPES;

/** What a key is to be. */
export interface NewApiKey {
  readonly name: string;
  readonly role: Role;
  /** To what the rights of the role are narrowed. */
  readonly scopes: readonly KeyScope[];
  /** Epoch ms; `null` is never. */
  readonly expiresAt: number | null;
}

/** A key as it is kept: all of it but the key itself. Times are epoch ms. */
export interface ApiKeyRecord extends NewApiKey {
  /** Also the id of the principal whose key it is. */
  readonly id: string;
  readonly tenant: string;
  readonly createdAt: number;
  /** The id of the principal who made it. */
  readonly createdBy: string;
  readonly revokedAt: number | null;
  /** To the minute. */
  readonly lastUsedAt: number | null;
}

export interface ApiKeyPage {
  readonly keys: readonly ApiKeyRecord[];
  /** What to give as cursor for the next page; `null` on the last one. */
  readonly next: string | null;
}
