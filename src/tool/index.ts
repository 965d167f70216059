/** What a run can do besides talk: tools are declared, found, owned by one registry and called by one executor. */
export { BuiltinToolModule } from './builtin/builtin-tool.module.js';
export { isStandardSchema } from './standard-schema.types.js';
export type { StandardInputSchema } from './standard-schema.types.js';
export type { InvokeOptions } from './tool.executor.js';
export { ToolExecutor } from './tool.executor.js';
export { ToolModule } from './tool.module.js';
export { Parameter } from './parameter.builder.js';
export type { ToolRegistration } from './tool-registration.types.js';
export type { ToolOptions } from './tool-options.types.js';
export { Tool } from './tool.decorator.js';
export { cutText } from './call/cut-text.mapper.js';
export { failedResult, succeededResult } from './call/tool-result.factory.js';
export { closeSchema } from './input/closed-schema.mapper.js';
export { jsonSchemaOf } from './input/standard-input.factory.js';
export { createValueCheck } from './input/schema-input.factory.js';
export { ToolPolicy } from './policy/tool-policy.js';
export type { PolicyDecision } from './policy/tool-policy.js';
export { ToolPolicyRegistry } from './policy/tool-policy.registry.js';
export { suspend } from './suspension.factory.js';
export type { Suspension } from './suspension.factory.js';
export type {
  ApprovalPredicate,
  CheckedCall,
  Invoked,
  PlannedCall,
  Reconciled,
  Reconciliation,
  RequestedCall,
  SuspendOptions,
  SuspensionAnswer,
  ToolApproval,
  ToolContext,
  ToolDefinition,
  ToolEffect,
  ToolInput,
  ToolMetadata,
  ToolResult,
} from './tool.types.js';
export { ToolRegistry } from './tool.registry.js';
export { toolResultText } from './tool-result.mapper.js';
