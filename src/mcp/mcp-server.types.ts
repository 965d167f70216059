import type { ToolEffect } from '../tool/index.js';
import type { ScanMode } from './trust/description-scan.policy.js';
import type { McpOAuthProvider } from './oauth-provider.types.js';

/**
 * Handling of changed definitions and new tools: `follow` uses them if the server's version changed too, `hold` uses the
 * accepted ones until a person accepts the new ones, `block` hides changed tools until then.
 */
export type PinMode = 'follow' | 'hold' | 'block';

/** Transport of a server. */
export type McpTransport =
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      /** The program's environment, in addition to a few basic variables. */
      readonly env: Readonly<Record<string, string>>;
      readonly cwd?: string;
      /** Whether it starts with an empty home folder: it must not find private data of this user. */
      readonly hasOwnHome?: true;
    }
  | {
      readonly kind: 'http';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly auth?: McpAuth;
      /** Whether it is Server-Sent Events, the transport of 2024; if absent, it is detected. */
      readonly isSse?: true;
    };

/** Name of a transport. Wire format. */
export type TransportKind = McpTransport['kind'] | 'sse';

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
  readonly pins: PinMode;
  readonly scan: ScanMode;
  /** Whether the server's hints about its tools decide on their effects, and on calls that wait. */
  readonly areHintsBelieved: boolean;
  /** The operator's effects of tools, by their names on the server. */
  readonly effects: Readonly<Record<string, ToolEffect>>;
  /** Patterns that select tools by their names on the server; if absent, all. */
  readonly tools?: readonly string[];
  /** Whether calls need approval. */
  readonly approval?: 'never' | 'always';
  /** The operator's statement whether calls can carry data out of the application. */
  readonly egress?: boolean;
  /** Whether its results are private data; by default all but those of HTTP servers without credentials. */
  readonly isPrivate: boolean;
  /** Whether its results are untrusted content; the default. */
  readonly isUntrusted: boolean;
  /** Whether each session has a connection of its own, for stateful servers. */
  readonly isStateful: boolean;
  /** Whether runs of agents that select its tools fail if it has never been connected. */
  readonly isRequired: boolean;
  /** Where it is declared, for people. */
  readonly source: string;
  /** `rest` for a server added over REST: it can be removed over REST, and cannot have a private address. */
  readonly origin: 'declared' | 'rest';
}

/** Status of a server. Wire format. */
export type McpServerStatus = 'disabled' | 'connecting' | 'ready' | 'failed' | 'closed';
