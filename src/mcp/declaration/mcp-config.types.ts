import type { McpAuth } from '../mcp-server.types.js';

/** An MCP server as it is declared in code; what a file says is docs/mcp.md's. */
export interface McpConfig {
  /** What it is known by: its tools are called `name__tool`. */
  readonly name: string;
  /** One that is not is known, and not started. */
  readonly enabled: boolean;
  readonly type: 'http' | 'stdio';
  /** For the type `http`. */
  readonly http?: HttpConfig;
  /** For the type `stdio`. */
  readonly stdio?: StdioConfig;
}

export interface HttpConfig {
  readonly url: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Who calls: a token, OAuth client credentials, or an OAuth provider of one's own. */
  readonly auth?: McpAuth;
}

export interface StdioConfig {
  /** Started without a shell. */
  readonly command: string;
  readonly args?: readonly string[];
  /**
   * All that it sees of the environment, beside `HOME`, `LOGNAME`, `PATH`, `SHELL`, `TERM` and `USER`, and
   * `JACKDAW_MCP_CHILD`, by which it is known again when it outlives a server that was killed.
   */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** How a server's tools are handled; docs/mcp.md says more. */
export interface McpHandling {
  /** The longest that one call may take, in ms. */
  readonly timeoutMs?: number;
  /** Whether its hints about effects are believed. */
  readonly trusted?: boolean;
  /** By the server's names. */
  readonly effects?: Readonly<Record<string, 'read' | 'idempotent' | 'once'>>;
  /** Which of its tools are there, as patterns of its names. */
  readonly tools?: readonly string[];
  readonly approval?: 'always' | 'never';
  /** Whether each session has a connection of its own. */
  readonly stateful?: boolean;
  readonly egress?: boolean;
  readonly untrusted?: boolean;
}

/** A server that is connected to by its name: a program, or an address. */
export type McpServerConfig = (StdioConfig | HttpConfig) & McpHandling;
