import type { CallToolResult, GetPromptResult, InputRequiredResult } from '@modelcontextprotocol/server';
import type { Principal } from '../kernel/index.js';
import type { McpClientCapabilities, McpLogLevel } from './mcp-protocol.types.js';

/** The client of a call, reachable during the call. */
export interface McpClient {
  readonly name?: string;
  readonly version?: string;
  /** Requests that the client supports. */
  readonly capabilities: McpClientCapabilities;
  /** Sends a log line; the client receives levels from its own minimum on (older clients receive all). */
  log(level: McpLogLevel, data: unknown, logger?: string): void;
}

/** A request of an MCP client, from any transport. */
export interface McpCall {
  readonly principal: Principal;
  readonly client: McpClient;
  /** Aborted if the client cancels the request or disconnects. */
  readonly signal: AbortSignal;
  /** The client's answers to earlier questions, by their keys; not validated. */
  readonly inputs: Readonly<Record<string, unknown>>;
  /** The state that the client received with those questions. */
  readonly state?: string;
  /** Reports progress, if the client requested it. */
  progress(progress: number, total?: number, message?: string): void;
}

/** The response to a call: its result, or questions that the client must answer first. */
export type McpToolAnswer = CallToolResult | InputRequiredResult;
export type McpPromptAnswer = GetPromptResult | InputRequiredResult;
