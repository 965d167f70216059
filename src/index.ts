/** The public API of Jackdaw. Any addition is public API: a spec lists all names. */
export { Agent, AgentBuilder, AgentSession, AgentSessions, createAgent, IterationLimitError } from './client/index.js';
export type {
  ChatMessage,
  ChatOptions,
  ChatPart,
  ChatReply,
  ChatStreamOptions,
  CreateAgentOptions,
  McpChoice,
  MemoryPersistence,
} from './client/index.js';
export type { JackdawFeatureOptions } from './jackdaw-feature.module.js';
export { JackdawModule } from './jackdaw.module.js';
export type { JackdawAsyncOptions, JackdawOptions } from './jackdaw.module.js';
export {
  AgentDecisionService,
  AgentRegistry,
  AgentService,
  Extension,
  StreamRestartedError,
  UserErasureService,
} from './agent/index.js';
export type {
  AnsweredTool,
  ExtensionHost,
  AgentDefinition,
  AgentDefinitionInput,
  AgentRequest,
  GivenFormat,
  OwnEventListener,
  RunAnswer,
  SubAgentToolOptions,
} from './agent/index.js';
export { Cache } from './cache/index.js';
export { AppError, HttpExceptionFilter } from './errors/index.js';
export { ExactInteger } from './kernel/index.js';
export type { ErrorCode } from './errors/index.js';
export type { Principal, Visibility } from './kernel/index.js';
export { parseAgent } from './definition-files/index.js';
export type { ParseAgentOptions } from './definition-files/index.js';
export { DatabaseExtension } from './database-extension/index.js';

export type { DatabaseExtensionOptions } from './database-extension/index.js';

export {
  bearerRoute,
  ChatModel,
  EmbeddingModel,
  ModelFactory,
  ModelRegistry,
  openModels,
  WireModelFactory,
} from './llm/index.js';
export type {
  CallOptions,
  ChatRequest,
  ChatResult,
  ChatStreamPart,
  EmbeddingResult,
  LlmOptions,
  Message,
  ModelCapabilities,
  ModelParameters,
  ModelTrace,
  OpenedModelChoice,
  OpenedModels,
  OpenModelsOptions,
  ParameterLimits,
  ResponseFormat,
  RouteTo,
  ToolCall,
  ToolChoice,
  TracedCall,
  ModelSettings,
  HttpClient,
  Usage,
  WireDialect,
  WireRoute,
} from './llm/index.js';
export { McpError, McpErrorType, McpRegistry, registerMcp, toMcpError, unregisterMcp } from './mcp/index.js';
export type {
  HttpConfig,
  McpAuth,
  McpClientCredentials,
  McpConfig,
  McpErrorCode,
  McpOAuthProvider,
  McpServerConfig,
  McpToolsChanged,
  StdioConfig,
} from './mcp/index.js';
export { enhance, Processor, PromptBuilder } from './reasoning/index.js';
export type {
  EnhanceOptions,
  EnhancingTools,
  Loop,
  ProcessorPlace,
  ProcessorPlacement,
  Protocol,
} from './reasoning/index.js';
export { askClient, McpClients, mcpContent, McpPrompts, McpResources, McpServerModule } from './mcp-server/index.js';
export type {
  McpClient,
  McpContentBlock,
  McpPrompt,
  McpPromptCall,
  McpPromptMessage,
  McpPromptText,
  McpRequest,
  McpRequests,
  McpResource,
  McpResourceContent,
} from './mcp-server/index.js';
export { Telemetry } from './extension/index.js';
export type { Measured, ModelCallMeasured, ToolCallMeasured, UsageMeasured } from './extension/index.js';
export { RunService } from './run/index.js';
export type {
  PublishedFile,
  RunEvent,
  RunEventPattern,
  RunFile,
  RunNotice,
  RunNoticeListener,
  RunStatus,
  WaitingRequest,
} from './run/index.js';
export { ApiKeyAuthenticator, Authenticator } from './security/index.js';
export type { ContentRules, CredentialRequest, OwnPattern } from './security/index.js';
export {
  FactMemory,
  LocalTurnArchive,
  Memory,
  MemoryFactory,
  MemoryPolicy,
  MemoryPolicyRegistry,
  SessionAdminService,
  SessionService,
  TurnArchive,
} from './session/index.js';
export type {
  Fact,
  FactOwner,
  FactPage,
  MemoryConversation,
  MemoryRules,
  OwnMemories,
  OwnMemory,
  RecalledFact,
  RecallOptions,
  RememberOptions,
  RunMemory,
  SessionExport,
  SessionKey,
  SessionMessage,
  SessionRecord,
  StoredTurn,
  Turn,
  TurnChange,
  TurnSize,
  TurnSpan,
  TurnStatus,
} from './session/index.js';
export {
  adaptStateful,
  StatefulToolSessions,
  StateStore,
  ToolStateBackups,
  ToolStateManager,
  ToolStateService,
} from './tool-state/index.js';
export {
  Parameter,
  suspend,
  Tool,
  ToolContext,
  ToolExecutionContext,
  ToolPolicy,
  ToolPolicyRegistry,
  ToolRegistry,
  ToolRequest,
  ToolSignal,
  ToolState,
  withImages,
} from './tool/index.js';
export { RestToolRegistry } from './rest-tool/index.js';
export { SecurityPolicies } from './tool-policy/index.js';
export type { ArgumentValidator, CallLimit, SecurityPolicy } from './tool-policy/index.js';
export type {
  CheckedCall,
  IllustratedResult,
  PolicyDecision,
  Reconciliation,
  SuspendOptions,
  Suspension,
  ApprovalRule,
  Approvers,
  ToolApproval,
  ToolEffect,
  ToolEnhancerKind,
  ToolHandling,
  ToolOptions,
  ToolRegistration,
  ToolRule,
} from './tool/index.js';
export type {
  OpenApiImport,
  OpenApiImported,
  OpenApiOperation,
  OpenApiRefusal,
  RestAuth,
  RestConnection,
  RestMethod,
  RestRetry,
  RestToolDeclaration,
  TokenCapture,
} from './rest-tool/index.js';
export type {
  ContextFilter,
  ContextInfo,
  ContextKey,
  ContextWrite,
  ListContextsOptions,
  OwnedStates,
  StateEntry,
  StateHistoryEntry,
  StateType,
  StateUpdate,
  StateVersion,
  StoredContext,
  StoredContextState,
  StoredStates,
  StoredVersion,
  StatefulAdapter,
  StatefulToolSession,
  StatefulToolSessionOptions,
  WritableStateType,
} from './tool-state/index.js';
export { serve } from './server/index.js';
export type { Server } from './server/index.js';
export {
  AgentNode,
  BranchNode,
  CodeNode,
  HumanNode,
  LlmNode,
  MapNode,
  ToolNode,
  WorkflowBuilder,
  WorkflowCode,
  WorkflowRegistry,
  WorkflowService,
} from './workflow/index.js';
export type {
  CodeOptions,
  Condition,
  LlmNodeOptions,
  LlmNodeOutput,
  NodeAgent,
  WorkflowInput,
  WorkflowNode,
  WorkflowStart,
} from './workflow/index.js';
export { Retriever, retrieverTool } from './tool/index.js';
export type { Passage, RetrieveOptions, RetrieverToolOptions } from './tool/index.js';
