/** Decisions of users on waiting runs: approvals, denials, inputs and settlements. */
export { AgentDecisionService } from './agent-decision.service.js';
export type { Approval, Denial, Input } from './agent-decision.service.js';
export type { GivenDecision, Settlement } from './personal-verdict.factory.js';
