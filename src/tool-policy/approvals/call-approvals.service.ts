import { Injectable, Optional } from '@nestjs/common';
import { createHash } from 'node:crypto';
import type { Principal } from '../../kernel/index.js';
import { canonicalJson } from '../../kernel/json/index.js';
import type { WaitingRequest } from '../../run/decision/index.js';
import { PrincipalDirectory } from '../../security/index.js';
import type { CallSite, CheckedCall } from '../../tool/index.js';
import { CallRates } from '../call-rate.service.js';
import { boundAddresses } from '../foreign-address.policy.js';
import { type CallApproval, CallApprovalStore } from './call-approval.store.js';

/** Maximum number of addresses to which an approval is bound. */
const MAX_ADDRESSES = 20;

/** Coverage of an approval of the call with a wider scope; undefined if its addresses cannot be compared. */
export function coverageOf({ tool, input }: CheckedCall): WaitingRequest['covers'] {
  const addresses = boundAddresses(input, MAX_ADDRESSES);
  if (!addresses) return undefined;
  const { definition, metadata } = tool;
  const text = canonicalJson({ definition, source: metadata.source });
  return { definition: createHash('sha256').update(text).digest('hex'), addresses: [...addresses] };
}

/** Finds the approvals of earlier calls that cover a call. */
@Injectable()
export class CallApprovals {
  /** @param principals absent in an application without `PrincipalModule`: every principal then keeps its rights */
  constructor(
    private readonly store: CallApprovalStore,
    @Optional() private readonly principals?: PrincipalDirectory,
  ) {}

  /**
   * The first approval that covers a call and whose decider may make the call.
   * @param isPermitted whether a principal with the present rights of the decider may make the call
   */
  async find(
    call: CheckedCall,
    { principal, runId, sessionId }: CallSite,
    isPermitted: (decider: Principal) => Promise<boolean>,
  ): Promise<CallApproval | null> {
    const coverage = coverageOf(call);
    if (!coverage) return null;
    const { definition, addresses } = coverage;
    const { tenant, id: owner } = principal;
    const tool = call.tool.definition.name;
    const known = await this.store.covering({ tenant, owner, runId, sessionId, tool, definition });
    for (const approval of known) {
      if (!addresses.every((address) => approval.addresses.includes(address))) continue;
      const decider = this.principals ? await this.principals.lookUp(approval.decider) : approval.decider;
      if (decider && (await isPermitted(decider))) return approval;
    }
    return null;
  }
}

/** The rules about a call that depend on earlier calls: limits, and approvals that cover later calls. */
@Injectable()
export class CallRules {
  constructor(
    readonly rates: CallRates,
    /** `null` if no approval covers later calls. */
    readonly approvals: CallApprovals | null,
  ) {}
}
