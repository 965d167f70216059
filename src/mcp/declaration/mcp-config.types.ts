import type { McpAuth } from '../mcp-server.types.js';

/** An MCP server declared in code; docs/mcp.md describes the file format. */
export interface McpConfig {
  /** Unique name; its tools are named `name__tool`. */
  readonly name: string;
  /** A disabled server is listed but not started. */
  readonly enabled: boolean;
  /** `sse` is HTTP with Server-Sent Events, the transport of 2024, which `http` detects. */
  readonly type: 'http' | 'sse' | 'stdio';
  /** For the types `http` and `sse`. */
  readonly http?: HttpConfig;
  /** For the type `stdio`. */
  readonly stdio?: StdioConfig;
}

export interface HttpConfig {
  readonly url: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Authentication: a token, OAuth client credentials, or a custom OAuth provider. */
  readonly auth?: McpAuth;
}

export interface StdioConfig {
  /** Started without a shell. */
  readonly command: string;
  readonly args?: readonly string[];
  /**
   * The program's whole environment, in addition to `HOME`, `LOGNAME`, `PATH`, `SHELL`, `TERM` and `USER`, and
   * `JACKDAW_MCP_CHILD`, which identifies it if it outlives a killed server.
   */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** Handling of a server's tools; see docs/mcp.md. */
export interface McpHandling {
  /** Maximum duration of one call, in ms. */
  readonly timeoutMs?: number;
  /** Whether its hints about its tools apply; by default `believe`. */
  readonly hints?: 'believe' | 'ignore';
  /** Deprecated: `true` is `hints: 'believe'`, `false` is `hints: 'ignore'`. */
  readonly trusted?: boolean;
  /** By the tools' names on the server. */
  readonly effects?: Readonly<Record<string, 'read' | 'idempotent' | 'once'>>;
  /** Patterns that select tools by their names on the server. */
  readonly tools?: readonly string[];
  readonly approval?: 'always' | 'never';
  /** Whether each session has a connection of its own. */
  readonly stateful?: boolean;
  /** Whether runs of agents that select its tools fail while it has never been connected. */
  readonly required?: boolean;
  /** Handling of changed definitions and new tools; see docs/mcp.md. */
  readonly pins?: 'follow' | 'hold' | 'block';
  /** Handling of suspicious definitions. */
  readonly scan?: 'hide' | 'warn' | 'off';
  readonly egress?: boolean;
  readonly untrusted?: boolean;
  /** Whether results are private data; by default all but those of HTTP servers without credentials. */
  readonly private?: boolean;
}

/** A server without a name: a program, or a URL. */
export type McpServerConfig = (StdioConfig | HttpConfig) & McpHandling;
