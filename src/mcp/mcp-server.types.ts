import type { ToolApproval, ToolEffect } from '../tool/index.js';
import type { McpOAuthProvider } from './oauth-provider.types.js';

/** Transport of a server. */
export type McpTransport =
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      /** The program's environment, in addition to a few basic variables. */
      readonly env: Readonly<Record<string, string>>;
      readonly cwd?: string;
    }
  | {
      readonly kind: 'http';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly auth?: McpAuth;
    };

/** Authentication at an HTTP server, in addition to its headers. */
export type McpAuth =
  | { readonly type: 'bearer'; readonly token: string }
  | McpClientCredentials
  | { readonly type: 'provider'; readonly provider: McpOAuthProvider };

/** OAuth 2.1 client credentials (RFC 6749, 4.4); the authorization server is discovered as MCP specifies (RFC 9728). */
export interface McpClientCredentials {
  readonly type: 'client_credentials';
  readonly clientId: string;
  readonly clientSecret: string;
  /** Requested scope; by default the scope that the server requests. */
  readonly scope?: string;
  /** The only authorization server that may receive the secret. */
  readonly issuer?: string;
}

/** An MCP server, from any declaration. */
export interface McpServer {
  /** `[A-Za-z0-9_-]{1,32}`, without two underscores in a row. */
  readonly name: string;
  readonly isEnabled: boolean;
  readonly transport: McpTransport;
  /** Maximum duration of one call, in ms. */
  readonly timeoutMs: number;
  /** Whether Jackdaw trusts the server's hints about the effects of its tools. */
  readonly isTrusted: boolean;
  /** The operator's effects of tools, by their names on the server. */
  readonly effects: Readonly<Record<string, ToolEffect>>;
  /** Patterns that select tools by their names on the server; if absent, all. */
  readonly tools?: readonly string[];
  /** Whether calls need approval. */
  readonly approval?: Exclude<ToolApproval, (...args: never) => unknown>;
  /** The operator's statement whether calls can carry data out of the application. */
  readonly egress?: boolean;
  /** Whether its results are untrusted content; the default. */
  readonly isUntrusted: boolean;
  /** Whether each session has a connection of its own, for stateful servers. */
  readonly isStateful: boolean;
  /** Where it is declared, for people. */
  readonly source: string;
  /** `rest` for a server added over REST: it can be removed over REST, and cannot have a private address. */
  readonly origin: 'declared' | 'rest';
}

/** Status of a server. Wire format. */
export type McpServerStatus = 'disabled' | 'connecting' | 'ready' | 'failed' | 'closed';
