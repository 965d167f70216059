/** Decisions on calls: the ports of policies and switches, and the rules of an agent. */
export {
  ToolLogFilter,
  ToolPolicy,
  type PolicyDecision,
  type ApprovalNeed,
  type PlannedCall,
  type PolicyNote,
  type WaitCause,
  ToolPolicyRegistry,
} from './tool-policy.js';
export type { AgentRules, Guardrails, TaintMode, TaintRule, ToolRule } from './agent-rules.types.js';
export { NoToolSwitch, toolDisabled, ToolSwitch } from './tool-switch.js';
