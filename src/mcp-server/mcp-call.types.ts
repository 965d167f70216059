import type { CallToolResult, GetPromptResult, InputRequiredResult } from '@modelcontextprotocol/server';
import type { Principal } from '../common/index.js';
import type { McpClientCapabilities, McpLogLevel } from './mcp-protocol.types.js';

/** Who is at the other end of a call, and how to reach them while it goes on. */
export interface McpClient {
  readonly name?: string;
  readonly version?: string;
  /** What it says that it can be asked for. */
  readonly capabilities: McpClientCapabilities;
  /** Tells it a line; it hears those from the level on that it wants, the older ones all. */
  log(level: McpLogLevel, data: unknown, logger?: string): void;
}

/** A request of an MCP client, whatever way it came. */
export interface McpCall {
  readonly principal: Principal;
  readonly client: McpClient;
  /** Aborted when the client takes the request back or goes away. */
  readonly signal: AbortSignal;
  /** What the client answers to what it was asked before, by the keys of the questions; nobody has checked it. */
  readonly inputs: Readonly<Record<string, unknown>>;
  /** What the client was given with those questions. */
  readonly state?: string;
  /** Tells the client how far it is, if it wants to know. */
  progress(progress: number, total?: number, message?: string): void;
}

/** What a client is told of a call: its result, or what it must answer first. */
export type McpToolAnswer = CallToolResult | InputRequiredResult;
export type McpPromptAnswer = GetPromptResult | InputRequiredResult;
