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
export { JackdawHttpModule, type JackdawHttpOptions } from './jackdaw-http.module.js';
export { JackdawMcpModule, type JackdawMcpOptions } from './jackdaw-mcp.module.js';
export { JackdawModule, type JackdawAsyncOptions, type JackdawOptions } from './jackdaw.module.js';
export { AgentForkService, AgentService, Extension, UserErasureService } from './agent/index.js';
export { StreamRestartedError, type AnsweredTool, type GivenFormat, type RunAnswer } from './agent/answer/index.js';
export { AgentDecisionService } from './agent/decision/index.js';
export { AgentRegistry, type AgentDefinition, type AgentDefinitionInput } from './agent/definition/index.js';
export { RunHistoryService } from './agent/history/index.js';
export type {
  BackgroundRequest,
  ForkRequest,
  RunMessage,
  ExtensionHost,
  AgentRequest,
  OwnEventListener,
  SubAgentToolOptions,
} from './agent/index.js';
export type {
  FollowedRun,
  JournalEvent,
  JournalStep,
  PageRequest,
  RunJournalPage,
  RunPosition,
  UsageReport,
} from './agent/history/index.js';
export { Cache } from './cache/index.js';
export { AppError, HttpExceptionFilter, type ErrorCode } from './errors/index.js';
export { ExactInteger, type JsonSchema, type JsonValue } from './kernel/json/index.js';
export { serviceToken, type ServiceName } from './kernel/nest/index.js';
export type { Principal, Visibility } from './kernel/index.js';
export { parseAgent, type ParseAgentOptions } from './definition-files/index.js';
export { DatabaseExtension, type DatabaseExtensionOptions } from './database-extension/index.js';

export { EmbeddingModel, ModelFactory, ModelRegistry, openModels, type ModelOmission } from './llm/index.js';
export { Cassette, type CassetteOptions } from './llm/cassette/index.js';
export { ChatModel } from './llm/chat/index.js';
export { bearerRoute, WireModelFactory } from './llm/openai-wire/index.js';
export type {
  EmbeddingResult,
  LlmOptions,
  ModelTrace,
  OpenedModelChoice,
  OpenedModels,
  OpenModelsOptions,
  TracedCall,
  ModelSettings,
  HttpClient,
} from './llm/index.js';
export type {
  CallOptions,
  ChatRequest,
  ChatResult,
  ChatStreamPart,
  Message,
  ModelCapabilities,
  ModelParameters,
  ParameterLimits,
  ResponseFormat,
  ToolCall,
  ToolChoice,
  Usage,
} from './llm/chat/index.js';
export type { RouteTo, WireDialect, WireRoute } from './llm/openai-wire/index.js';
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
export { Telemetry, type TelemetryOption } from './extension/index.js';
export type { Measured, ModelCallMeasured, ToolCallMeasured, UsageMeasured } from './extension/index.js';
export { RunFeedbackService, RunService, type RunStatus } from './run/index.js';
export { ScheduleService } from './schedule/index.js';
export type { NewSchedule, Schedule, ScheduleChanges, ScheduledWork } from './schedule/index.js';
export { WebhookService, type NewWebhook, type Webhook, type WebhookChanges } from './webhook/index.js';
export type { WaitingRequest } from './run/decision/index.js';
export type { RunEvent } from './run/event/index.js';
export type { PublishedFile, RunFile } from './run/files/index.js';
export type { RunEventPattern, RunNotice, RunNoticeListener } from './run/follow/index.js';
export { ApiKeyAuthenticator, Authenticator, CurrentPrincipal, Public, Requires } from './security/index.js';
export type { CredentialRequest, Scope } from './security/index.js';
export type { ContentRules, OwnPattern } from './security/content/index.js';
export { FactMemory, LocalTurnArchive, SessionAdminService, SessionService, TurnArchive } from './session/index.js';
export { Memory, MemoryFactory, MemoryPolicy, MemoryPolicyRegistry } from './session/memory/index.js';
export type {
  Fact,
  FactOwner,
  FactPage,
  RecalledFact,
  RecallOptions,
  RememberOptions,
  SessionExport,
  SessionKey,
  SessionMessage,
  SessionRecord,
  StoredTurn,
  Turn,
  TurnChange,
  TurnSpan,
  TurnStatus,
} from './session/index.js';
export type {
  MemoryConversation,
  MemoryRules,
  OwnMemories,
  OwnMemory,
  RunMemory,
  TurnSize,
} from './session/memory/index.js';
export {
  adaptStateful,
  StatefulToolSessions,
  StateStore,
  ToolStateBackups,
  ToolStateManager,
  ToolStateService,
} from './tool-state/index.js';
export { suspend, ToolRegistry } from './tool/index.js';
export { ToolRequest, type ToolLogger } from './tool/call/index.js';
export { ToolPolicy, ToolPolicyRegistry, type PolicyDecision, type ToolRule } from './tool/decision/index.js';
export { Parameter, type DtoClass, type StandardInputSchema } from './tool/input/index.js';
export { Tool, ToolContext, ToolExecutionContext, ToolSignal, ToolState } from './tool/method/index.js';
export { withImages, type IllustratedResult } from './tool/result/index.js';
export { RestToolRegistry } from './rest-tool/index.js';
export { SecurityPolicies, ToolSwitchService } from './tool-policy/index.js';
export type { ArgumentValidator, CallLimit, SecurityPolicy } from './tool-policy/index.js';
export type {
  CheckedCall,
  Reconciliation,
  SuspendOptions,
  Suspension,
  ApprovalRule,
  Approvers,
  ToolApproval,
  ToolEffect,
  ToolHandling,
  ToolRegistration,
} from './tool/index.js';
export type { ToolEnhancerKind, ToolOptions } from './tool/method/index.js';
export type { RemoteAgentDeclaration } from './remote-agent/index.js';
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
export { serve, type HostRequest, type MountOptions, type ServeOptions, type Server } from './server/index.js';
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
  WorkflowForkService,
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
export { Retriever, retrieverTool } from './tool/retriever/index.js';
export type { Passage, RetrieveOptions, RetrieverToolOptions } from './tool/retriever/index.js';
export type { AgentModuleOptions, Erasure, ForkEdit, GivenImage, StreamedChat } from './agent/index.js';
export type { AgentStep, AnsweredNode } from './agent/answer/index.js';
export type { Approval, Denial, Input, Settlement } from './agent/decision/index.js';
export type { RegisteredAgent } from './agent/definition/index.js';
export type { BuiltinToolSelection } from './builtin-tool/index.js';
export type { AgentEvents } from './client/index.js';
export type { CassetteMode, EnvRecord } from './config/index.js';
export type {
  AssistantMessage,
  FinishReason,
  ImageLimits,
  ModelSwitch,
  ParameterName,
  SystemMessage,
  ToolMessage,
  ToolSpec,
  UserMessage,
} from './llm/chat/index.js';
export type { ChangedTool, McpHandling, McpOAuthClient, McpOAuthTokens } from './mcp/index.js';
export type { McpClientCapabilities, McpLogLevel } from './mcp-server/index.js';
export type { Conversation, DecodeContext, DecodedReply, StreamDecoder } from './reasoning/index.js';
export type { RunHandle, RunRecord, StartRun } from './run/index.js';
export type { RunContext } from './run/context/index.js';
export type { WaitingKind } from './run/decision/index.js';
export type {
  AnsweredBy,
  JournaledEvent,
  LiveEvent,
  MemoryState,
  RunFailure,
  RunFinishReason,
  RunItem,
  RunUsage,
} from './run/event/index.js';
export type { DataFact, WaitFact } from './run/facts/index.js';
export type { PublishedImage } from './run/files/index.js';
export type { RunListener } from './run/follow/index.js';
export type { RunFilter, RunPage } from './run/query/index.js';
export type { UsageFilter, UsageKind, UsagePage, UsageSum } from './run/usage/index.js';
export type { ContentActions, ContentClass } from './security/content/index.js';
export type { PrunedSessions, SessionImport, SessionOptions, SessionPlace, TurnQuery } from './session/index.js';
export type { Summary, TurnGroup } from './session/memory/index.js';
export type { ApprovalPredicate, SuspensionAnswer, ToolAnnouncement, ToolResources, ToolResult } from './tool/index.js';
export type { TaintMode, TaintRule } from './tool/decision/index.js';
export type { ToolEnhancerOptions } from './tool/method/index.js';
export type { StateData, StateInjection, StatefulOptions } from './tool/stateful/index.js';
export type { SetStateOptions } from './tool-state/index.js';
export type { RegisteredWorkflow, WorkflowFork } from './workflow/index.js';
export type { OwnPartsOptions } from './own-parts.module.js';
