import type { Principal } from '../common/index.js';

/** A request that the guard has let through. */
export interface PrincipalRequest {
  principal?: Principal;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}
