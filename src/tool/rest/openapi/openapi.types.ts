import type { RestLogin, RestToolDeclaration } from '../rest-tool.types.js';

/** Secret of a security scheme: names of variables that `TOOL_SECRETS` allows. */
export type OpenApiSecret = string | RestLogin;

/** An operation that becomes a tool, with overrides of the document and of the defaults of its method. */
export interface OpenApiOperation extends Partial<
  Omit<RestToolDeclaration, 'method' | 'url' | 'parameters' | 'query' | 'headers' | 'body' | 'bodyType' | 'auth'>
> {
  readonly operationId: string;
  /** Optional parameters that are hidden from the model. */
  readonly omit?: readonly string[];
}

/** Operations of an OpenAPI document (3.0 or 3.1) that become tools. */
export interface OpenApiImport {
  /** The document itself, or the path of its file (JSON or YAML). */
  readonly document: string | object;
  /** Operations to import, by `operationId`. */
  readonly operations: readonly (string | OpenApiOperation)[];
  /** Base URL; required if the document names no server, several, or a relative one. */
  readonly server?: string;
  /** Keyed by security scheme of the document. OAuth 2 and OpenID Connect take an access token. */
  readonly secrets?: Readonly<Record<string, OpenApiSecret>>;
  /** Prefix of each tool's name. */
  readonly prefix?: string;
}

/** A part of a document. */
export type Node = Readonly<Record<string, unknown>>;

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
