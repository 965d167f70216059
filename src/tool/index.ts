/** Tools: declaration, discovery, registry and execution; ports to policies, switches and states. */
export { IllustratedResult, withImages, ShownResult } from './illustrated-result.factory.js';
export { isStandardSchema } from './standard-schema.types.js';
export type { StandardInputSchema } from './standard-schema.types.js';
export { recordedOutcomeOf, RecordedTools } from './wrappers/recorded-tool.wrapper.js';
export { ToolExecutor } from './tool.executor.js';
export type { InvokeOptions } from './call/result-limits.policy.js';
export { TypedBytes } from './call/json-result.mapper.js';
export { fileReference, withoutBinary } from './files/result-files.builder.js';
export { ToolModule } from './tool.module.js';
export { Parameter } from './parameter.builder.js';
export type { ContextHolder, ToolRegistration, ToolHandling } from './tool-registration.types.js';
export { type ToolOptions, markMethod, Tool } from './method/tool.decorator.js';
export { ToolContext, ToolSignal, ToolState, ToolExecutionContext } from './method/tool-parameter.decorator.js';
export { executingCall } from './call/direct-call.executor.js';
export { ToolEnhancerModule } from './method/tool-enhancer.module.js';
export type { ToolEnhancerKind, ToolEnhancerOptions } from './method/tool-enhancer.module.js';
export { ToolExplorer } from './method/tool.explorer.js';
export {
  createCallSite,
  endsAtOf,
  factsOf,
  learnFacts,
  meterOf,
  noteOf,
  ToolRequest,
} from './call/tool-request.factory.js';
export {
  ToolLogFilter,
  ToolPolicy,
  type PolicyDecision,
  type ApprovalNeed,
  type PlannedCall,
  type PolicyNote,
  type WaitCause,
  ToolPolicyRegistry,
} from './decision/tool-policy.js';
export {
  cutText,
  failedResult,
  succeededCall,
  succeededResult,
  withValue,
  type SucceededCall,
} from './call/tool-result.factory.js';
export type { AgentRules, Guardrails, TaintMode, TaintRule, ToolRule } from './decision/agent-rules.types.js';
export { assertSchemaLimits } from './bounded/bounded-schema.factory.js';
export { closeSchema } from './input/closed-schema.mapper.js';
export type { InputSource } from './input/input.types.js';
export { createBoundedCheck, createBoundedInput, createValueCheck } from './input/schema-input.factory.js';
export { jsonSchemaOf } from './input/standard-input.factory.js';
export { anyPattern } from './name-pattern.parser.js';
export { attempt } from './attempt.policy.js';
export { inputOf } from './registered-tool.factory.js';
export {
  assertChanges,
  toStateData,
  isOwnStateManager,
  type ConflictResolution,
  type StatefulOptions,
  type StateManagerName,
} from './stateful/stateful-options.policy.js';
export { StatefulCalls } from './stateful/stateful-calls.js';
export type { ContextListener, StatefulCall, StateRun, StateSite } from './stateful/stateful-calls.js';
export type { CallEnd, ChangedState, RecordedState, StoredState } from './stateful/stored-state.types.js';
export type { HeldToolState, SideStateType, StateData } from './stateful/tool-state.types.js';
export { refusedName } from './tool-refusal.policy.js';
export { suspend, Suspension, UnknownOutcome } from './suspension.factory.js';
export { ToolRegistry } from './tool.registry.js';
export type { ToolAnnouncement } from './tool.registry.js';
export { createToolNow } from './tool.factory.js';
export { modelText, toolResultText } from './tool-result.mapper.js';
export { NoToolSwitch, toolDisabled, ToolSwitch } from './tool-switch.js';
export type { CallNote } from './call-note.types.js';
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
export { Retriever, retrieverTool } from './retriever.js';
export type { Passage, RetrieveOptions, RetrieverToolOptions } from './retriever.js';
export type { ToolLogger } from './call/tool-logger.factory.js';
export type { ApprovalPredicate } from './tool.types.js';
export type { ToolResources } from './tool.types.js';
export type { StateInjection } from './stateful/state-argument.policy.js';
export type { DtoClass } from './input/dto-schema.factory.js';
