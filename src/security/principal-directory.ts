import type { Principal } from '../common/index.js';

/** The port that knows what a principal may do now; asked when a run goes on that somebody began earlier. */
export abstract class PrincipalDirectory {
  /** The principal with the rights of today, or `null` when all were revoked. */
  abstract lookUp(principal: Principal): Promise<Principal | null>;
}
