import { Injectable } from '@nestjs/common';
import { CallApprovals } from './approvals/call-approvals.service.js';
import { CallRates } from './call-rate.service.js';

/** The rules about a call that depend on earlier calls: limits, and approvals that cover later calls. */
@Injectable()
export class CallRules {
  constructor(
    readonly rates: CallRates,
    /** `null` if no approval covers later calls. */
    readonly approvals: CallApprovals | null,
  ) {}
}
