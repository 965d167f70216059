/** The security policy of tool calls, and the switches that disable tools. */
import { CallApprovalEntity } from './approvals/entities/call-approval.entity.js';
import { CreateCallApproval1764000000026 } from './approvals/migrations/1764000000026-create-call-approval.migration.js';
import { DisabledToolEntity } from './switch/entities/disabled-tool.entity.js';
import { CreateDisabledTool1764000000012 } from './switch/migrations/1764000000012-create-disabled-tool.migration.js';

export { agentRules, type GivenRules, partTools, TaintPolicy } from './tool-policies.js';
export {
  APPROVAL_SEALED_TABLES,
  CallApprovalStore,
  withoutApprovals,
  withoutApprovalsOf,
} from './approvals/call-approval.store.js';
export type { CallApproval, WideScope } from './approvals/call-approval.store.js';
export { coverageOf, CallRules } from './approvals/call-approvals.service.js';
export { CallRates } from './call-rate.service.js';
export { SecurityPolicies } from './security-policies.registry.js';
export { SecurityPolicyModule } from './security-policy.module.js';
export {
  guardrailsSchema,
  type ArgumentValidator,
  type CallLimit,
  type SecurityPolicy,
} from './security-policy.schema.js';
export { ToolSwitchModule } from './switch/tool-switch.module.js';
export { ToolSwitchService } from './switch/tool-switch.service.js';

export const TOOL_POLICY_ENTITIES = [DisabledToolEntity, CallApprovalEntity];
export const TOOL_POLICY_MIGRATIONS = [CreateDisabledTool1764000000012, CreateCallApproval1764000000026];
