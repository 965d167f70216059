/** `jackdaw/client`: a client of the REST API for browsers and Node. It imports nothing and needs only web standards. */
export type {
  Agent,
  BackgroundRequest,
  ChatAnswer,
  ChatRequest,
  Key,
  ListedRun,
  McpServer,
  Message,
  Problem,
  RunAnswer,
  RunEvent,
  RunExport,
  RunJournal,
  RunUsage,
  Session,
  SessionExport,
  Tool,
  ToolCallAnswer,
  UsagePage,
  WaitingRequest,
  Workflow,
} from './generated/operations.js';
export type { AgentRoutes, ToolRoutes, WorkflowRoutes } from './definition-routes.js';
export type { CreateOptions, JackdawClientOptions, RequestOptions } from './http-transport.js';
export { JackdawClient } from './jackdaw-client.js';
export { JackdawError, type ClientErrorCode, type JackdawErrorDetails } from './jackdaw.error.js';
export type { EvalRoutes, KeyRoutes, McpRoutes } from './operation-routes.js';
export type { RunRoutes } from './run-routes.js';
export type { ChatStreamOptions, FollowOptions, RunStream, StreamOptions } from './run-stream.js';
export type { SessionRoutes } from './session-routes.js';
