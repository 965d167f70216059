import type { Role, Visibility } from '../../kernel/index.js';
import type { ALL_SCOPES, Scope } from '../authorization.js';

export type KeyScope = Scope | typeof ALL_SCOPES;

/** Properties of a key to create. */
export interface NewApiKey {
  readonly name: string;
  readonly role: Role;
  /** Restricts the scopes of the role; `*` means all of them. */
  readonly scopes: readonly KeyScope[];
  /** `null` for the visibility of its role. */
  readonly visibility: Visibility | null;
  /** Epoch ms; `null` for no expiry. */
  readonly expiresAt: number | null;
}

/** A stored key, without the key itself. Times are epoch ms. */
export interface ApiKeyRecord extends NewApiKey {
  /** Also the id of the key's principal. */
  readonly id: string;
  readonly tenant: string;
  readonly createdAt: number;
  /** Id of the principal that created it. */
  readonly createdBy: string;
  readonly revokedAt: number | null;
  /** Accurate to a minute. */
  readonly lastUsedAt: number | null;
}

export interface ApiKeyPage {
  readonly keys: readonly ApiKeyRecord[];
  /** Cursor of the next page; `null` on the last page. */
  readonly next: string | null;
}
