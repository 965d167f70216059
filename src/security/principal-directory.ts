import type { Principal } from '../kernel/index.js';

/** The port that returns a principal's current rights; used when a run resumes. */
export abstract class PrincipalDirectory {
  /** The principal with its current rights, or `null` if all were revoked. */
  abstract lookUp(principal: Principal): Promise<Principal | null>;
}
