/** Tools: declaration, discovery, registry and execution. */
import { ToolStateChangeEntity } from './state/entities/tool-state-change.entity.js';
import { ToolStateEntryEntity } from './state/entities/tool-state-entry.entity.js';
import { ToolStateHistoryEntity } from './state/entities/tool-state-history.entity.js';
import { ToolStateVersionEntity } from './state/entities/tool-state-version.entity.js';
import { ToolStateEntity } from './state/entities/tool-state.entity.js';
import { CreateToolState1764000000015 } from './state/migrations/1764000000015-create-tool-state.migration.js';
import { DisabledToolEntity } from './switch/entities/disabled-tool.entity.js';
import { CreateDisabledTool1764000000012 } from './switch/migrations/1764000000012-create-disabled-tool.migration.js';

export { BuiltinToolModule } from './builtin/builtin-tool.module.js';
export { isStandardSchema } from './standard-schema.types.js';
export type { StandardInputSchema } from './standard-schema.types.js';
export type { InvokeOptions } from './tool.executor.js';
export { ToolExecutor } from './tool.executor.js';
export { ToolModule } from './tool.module.js';
export { Parameter } from './parameter.builder.js';
export type { ToolRegistration } from './tool-registration.types.js';
export type { ToolOptions } from './method/tool-options.types.js';
export { markMethod, Tool } from './method/tool.decorator.js';
export { ToolContext, ToolSignal, ToolState } from './method/tool-parameter.decorator.js';
export { ToolExecutionContext } from './method/tool-context.accessor.js';
export { meterOf, ToolRequest } from './call/tool-request.factory.js';
export { cutText } from './call/cut-text.mapper.js';
export { failedResult, succeededCall, succeededResult, withValue } from './call/tool-result.factory.js';
export type { SucceededCall } from './call/tool-result.factory.js';
export { closeSchema } from './input/closed-schema.mapper.js';
export { jsonSchemaOf } from './input/standard-input.factory.js';
export { createValueCheck } from './input/schema-input.factory.js';
export { CallRates } from './policy/call-rate.service.js';
export type { PolicyNote } from './policy/policy-note.types.js';
export { agentRules } from './policy/agent-rules.factory.js';
export type { AgentRules, GivenRules } from './policy/agent-rules.factory.js';
export { guardrailsSchema } from './policy/security-policy.schema.js';
export { SecurityPolicies } from './policy/security-policies.registry.js';
export { SecurityPolicyModule } from './policy/security-policy.module.js';
export type { ArgumentValidator, CallLimit, SecurityPolicy } from './policy/security-policy.types.js';
export type { Guardrails, TaintMode, ToolRule } from './policy/guardrails.types.js';
export { anyPattern } from './policy/name-pattern.parser.js';
export { partTools } from './policy/tool-list.policy.js';
export { ToolPolicy } from './policy/tool-policy.js';
export type { PolicyDecision } from './policy/tool-policy.js';
export { ToolPolicyRegistry } from './policy/tool-policy.registry.js';
export { ToolSwitchModule } from './switch/tool-switch.module.js';
export { toolDisabled, ToolSwitchService } from './switch/tool-switch.service.js';
export { suspend, UnknownOutcome } from './suspension.factory.js';
export { withImages } from './illustrated-result.factory.js';
export type { IllustratedResult } from './illustrated-result.factory.js';
export type { Suspension } from './suspension.factory.js';
export type { ToolHandling } from './tool-handling.types.js';
export type {
  ApprovalPredicate,
  CallResources,
  CallSite,
  CheckedCall,
  Invoked,
  PlannedCall,
  Reconciled,
  Reconciliation,
  RequestedCall,
  SuspendOptions,
  SuspensionAnswer,
  ToolApproval,
  ToolDefinition,
  ToolEffect,
  ToolInput,
  ToolMetadata,
  ToolResult,
} from './tool.types.js';
export { valueAt } from './rest/json-pointer.parser.js';
export type { OpenApiImport, OpenApiOperation } from './rest/openapi/openapi.types.js';
export { RestToolModule } from './rest/rest-tool.module.js';
export { RestToolRegistry } from './rest/rest-tool.registry.js';
export type { RestConnection, RestRetry, TokenCapture } from './rest/connection/rest-connection.types.js';
export type { RestAuth, RestMethod, RestToolDeclaration } from './rest/rest-tool.types.js';
export { ToolExplorer } from './method/tool.explorer.js';
export { nearNames } from './near-name.mapper.js';
export { ToolRegistry } from './tool.registry.js';
export type { ChangedState, StoredState } from './state/stateful-call.executor.js';
export type { StatefulOptions, StateManagerName } from './state/stateful-options.types.js';
export { ToolStateAdminService } from './state/tool-state-admin.service.js';
export type { DamagedContext, ShownContext, StateFilter } from './state/tool-state-admin.service.js';
export type { ContextInfo, StateEntry, StateHistoryEntry, StateType, StateVersion } from './state/tool-state.types.js';
export { ToolStateBackups } from './state/tool-state-backup.service.js';
export { ToolStateForks } from './state/tool-state-fork.service.js';
export { adaptStateful } from './state/stateful-adapter.factory.js';
export type { ContextHolder } from './state/context-holder.types.js';
export type { StatefulAdapter } from './state/stateful-adapter.types.js';
export { StatefulToolSessions } from './state/stateful-tool-sessions.service.js';
export type { StatefulToolSession, StatefulToolSessionOptions } from './state/stateful-tool-sessions.service.js';
export { ToolStateModule } from './state/tool-state.module.js';
export { ToolStates } from './state/tool-states.service.js';
export type { StatesEnd } from './state/backend/state-backend.js';
export { ToolStateManager } from './state/tool-state-manager.js';
export { contextIdOf } from './state/context-id.factory.js';
export { toolResultText } from './tool-result.mapper.js';

export const TOOL_ENTITIES = [
  DisabledToolEntity,
  ToolStateEntity,
  ToolStateEntryEntity,
  ToolStateVersionEntity,
  ToolStateHistoryEntity,
  ToolStateChangeEntity,
];
export const TOOL_MIGRATIONS = [CreateDisabledTool1764000000012, CreateToolState1764000000015];
