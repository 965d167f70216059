import type { Principal } from '../kernel/index.js';

/** The part of a request that an authenticator reads. */
export interface CredentialRequest {
  readonly method: string;
  /** The path with its query. */
  readonly url: string;
  /** Keyed by lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Address of the client. */
  readonly ip: string;
}

/** A request that passed the guard. */
export interface PrincipalRequest extends CredentialRequest {
  principal?: Principal;
}
