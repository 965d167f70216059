import type { Principal } from '../common/index.js';

/** What an authenticator sees of a request. */
export interface CredentialRequest {
  readonly method: string;
  /** The path with its query. */
  readonly url: string;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The address that the request came from. */
  readonly ip: string;
}

/** A request that the guard has let through. */
export interface PrincipalRequest extends CredentialRequest {
  principal?: Principal;
}
