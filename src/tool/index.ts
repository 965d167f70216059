/** Tools: declaration, discovery, registry and execution; ports to policies, switches and states. */

export { recordedOutcomeOf, RecordedTools } from './wrappers/recorded-tool.wrapper.js';
export { ToolExecutor } from './tool.executor.js';
export { ToolModule } from './tool.module.js';
export type { ContextHolder, ToolRegistration, ToolHandling } from './tool-registration.types.js';
export { assertSchemaLimits } from './bounded/bounded-schema.factory.js';
export { anyPattern } from './name-pattern.parser.js';
export { attempt } from './attempt.policy.js';
export { inputOf } from './registered-tool.factory.js';
export { refusedName } from './tool-refusal.policy.js';
export { suspend, Suspension, UnknownOutcome } from './suspension.factory.js';
export { ToolRegistry } from './tool.registry.js';
export type { ToolAnnouncement } from './tool.registry.js';
export { createToolNow } from './tool.factory.js';
export type {
  CallResources,
  CallSite,
  CheckedCall,
  Invoked,
  Reconciled,
  Reconciliation,
  RequestedCall,
  SuspendOptions,
  SuspensionAnswer,
  ApprovalRule,
  Approvers,
  ToolApproval,
  ToolDefinition,
  ToolEffect,
  ToolMetadata,
  ToolResult,
} from './tool.types.js';
export type { ToolOrigin } from './tool-origin.types.js';
export type { ApprovalPredicate } from './tool.types.js';
export type { ToolResources } from './tool.types.js';
