import type { ToolApproval, ToolEffect } from '../tool/index.js';
import type { McpOAuthProvider } from './oauth-provider.types.js';

/** How a server is reached. */
export type McpTransport =
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      /** Beside the few variables that every program needs, all that the program sees. */
      readonly env: Readonly<Record<string, string>>;
      readonly cwd?: string;
    }
  | {
      readonly kind: 'http';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly auth?: McpAuth;
    };

/** Who calls a server over HTTP, beside what the headers say. */
export type McpAuth =
  | { readonly type: 'bearer'; readonly token: string }
  | McpClientCredentials
  | { readonly type: 'provider'; readonly provider: McpOAuthProvider };

/** OAuth 2.1 between machines (RFC 6749, 4.4); the authorization server is found as MCP says (RFC 9728). */
export interface McpClientCredentials {
  readonly type: 'client_credentials';
  readonly clientId: string;
  readonly clientSecret: string;
  /** What is asked for; without it what the server says that it wants. */
  readonly scope?: string;
  /** The only authorization server that is given the secret. */
  readonly issuer?: string;
}

/** An MCP server whose tools agents use, whoever declared it. */
export interface McpServer {
  /** `[A-Za-z0-9_-]{1,32}`, without two underscores in a row. */
  readonly name: string;
  readonly isEnabled: boolean;
  readonly transport: McpTransport;
  /** The longest that one call may take, in ms. */
  readonly timeoutMs: number;
  /** Whether the server's own hints about its tools' effects are believed. */
  readonly isTrusted: boolean;
  /** Effects of tools as an operator says, by the server's names of them. */
  readonly effects: Readonly<Record<string, ToolEffect>>;
  /** Which of its tools are there, as patterns of the server's names; without it all. */
  readonly tools?: readonly string[];
  /** When a call waits for a person. */
  readonly approval?: Exclude<ToolApproval, (...args: never) => unknown>;
  /** Whether calls can carry data out of the application, where an operator says it of all its tools. */
  readonly egress?: boolean;
  /** Whether its results are taken for strangers' words; by default they are. */
  readonly isUntrusted: boolean;
  /** Whether each session has a connection of its own, for servers that remember what came before. */
  readonly isStateful: boolean;
  /** Where it was declared, for people. */
  readonly source: string;
  /** Whether it was added over REST: such a one may be removed so, and has no private address. */
  readonly origin: 'declared' | 'rest';
}

/** How it stands with a server. Wire form. */
export type McpServerStatus = 'disabled' | 'connecting' | 'ready' | 'failed' | 'closed';
