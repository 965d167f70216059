/** The public API of Jackdaw. Any addition is public API: a spec lists all names. */
export { AgentBuilder } from './agent.builder.js';
export { Agent } from './agent.client.js';
export { createAgent } from './agent.factory.js';
export type { ChatOptions, ChatReply, ChatStreamOptions } from './agent-reply.mapper.js';
export { AgentSession } from './agent-session.client.js';
export type { CreateAgentOptions, LlmOptions, McpChoice } from './create-agent.types.js';
export { JackdawModule } from './jackdaw.module.js';
export type { JackdawAsyncOptions, JackdawOptions } from './jackdaw.module.js';
export type { JackdawFeatureOptions } from './jackdaw-feature.module.js';
export { AgentSessions } from './agent-sessions.client.js';
export {
  AgentDecisionService,
  AgentRegistry,
  AgentService,
  Extension,
  StreamRestartedError,
  UserErasureService,
} from './agent/index.js';
export type {
  ExtensionHost,
  AgentDefinition,
  AgentDefinitionInput,
  AgentRequest,
  GivenFormat,
  RunAnswer,
  SubAgentToolOptions,
} from './agent/index.js';
export { AppError, ExactInteger, HttpExceptionFilter } from './common/index.js';
export type { ErrorCode, Principal } from './common/index.js';
export { parseAgent } from './dpml/index.js';
export type { ParseAgentOptions } from './dpml/index.js';
export { DatabaseExtension } from './extension/index.js';
export type { DatabaseExtensionOptions } from './extension/index.js';
export { bearerRoute, ChatModel, EmbeddingModel, ModelFactory, ModelRegistry, WireModelFactory } from './llm/index.js';
export type {
  CallOptions,
  ChatRequest,
  ChatResult,
  ChatStreamPart,
  EmbeddingResult,
  Message,
  ModelCapabilities,
  ModelParameters,
  ParameterLimits,
  ResponseFormat,
  RouteTo,
  ToolCall,
  ToolChoice,
  ModelSettings,
  HttpClient,
  Usage,
  WireDialect,
  WireRoute,
} from './llm/index.js';
export { McpError, McpErrorType, McpRegistry, registerMcp, unregisterMcp } from './mcp/index.js';
export type {
  HttpConfig,
  McpAuth,
  McpClientCredentials,
  McpConfig,
  McpErrorCode,
  McpOAuthProvider,
  McpServerConfig,
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
export { RunService } from './run/index.js';
export type {
  RunEvent,
  RunEventPattern,
  RunNotice,
  RunNoticeListener,
  RunStatus,
  WaitingRequest,
} from './run/index.js';
export { ApiKeyAuthenticator, Authenticator } from './security/index.js';
export type { ContentRules, CredentialRequest, OwnPattern } from './security/index.js';
export {
  FactMemory,
  Memory,
  MemoryFactory,
  MemoryPolicy,
  MemoryPolicyRegistry,
  SessionAdminService,
  SessionService,
} from './session/index.js';
export type {
  Fact,
  FactOwner,
  FactPage,
  MemoryRules,
  RecalledFact,
  RecallOptions,
  RememberOptions,
  SessionExport,
  SessionMessage,
  SessionRecord,
  StoredTurn,
  TurnSize,
} from './session/index.js';
export {
  adaptStateful,
  Parameter,
  RestToolRegistry,
  SecurityPolicies,
  StatefulToolSessions,
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
  ToolStateBackups,
  ToolStateManager,
  withImages,
} from './tool/index.js';
export type {
  ArgumentValidator,
  CallLimit,
  CheckedCall,
  IllustratedResult,
  OpenApiImport,
  OpenApiOperation,
  PolicyDecision,
  Reconciliation,
  RestAuth,
  RestConnection,
  RestMethod,
  RestRetry,
  RestToolDeclaration,
  TokenCapture,
  SecurityPolicy,
  StatefulAdapter,
  StatefulToolSession,
  StatefulToolSessionOptions,
  SuspendOptions,
  Suspension,
  ToolApproval,
  ToolEffect,
  ToolHandling,
  ToolOptions,
  ToolRegistration,
  ToolRule,
} from './tool/index.js';
export { serve } from './serve.js';
export type { Server } from './serve.js';
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
  NodeAgent,
  WorkflowInput,
  WorkflowNode,
  WorkflowStart,
} from './workflow/index.js';
