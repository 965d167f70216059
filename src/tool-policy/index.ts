/** The security policy of tool calls, and the switches that disable tools. */
import { DisabledToolEntity } from './switch/entities/disabled-tool.entity.js';
import { CreateDisabledTool1764000000012 } from './switch/migrations/1764000000012-create-disabled-tool.migration.js';

export { agentRules } from './agent-rules.factory.js';
export type { GivenRules } from './agent-rules.factory.js';
export { CallRates } from './call-rate.service.js';
export { SecurityPolicies } from './security-policies.registry.js';
export { SecurityPolicyModule } from './security-policy.module.js';
export { guardrailsSchema } from './security-policy.schema.js';
export type { ArgumentValidator, CallLimit, SecurityPolicy } from './security-policy.types.js';
export { TaintPolicy } from './taint.policy.js';
export { partTools } from './tool-list.policy.js';
export { ToolSwitchModule } from './switch/tool-switch.module.js';
export { ToolSwitchService } from './switch/tool-switch.service.js';

export const TOOL_POLICY_ENTITIES = [DisabledToolEntity];
export const TOOL_POLICY_MIGRATIONS = [CreateDisabledTool1764000000012];
