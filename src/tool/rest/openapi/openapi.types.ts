import type { RestLogin, RestToolDeclaration } from '../rest-tool.types.js';

/** Values for a security scheme of the document: names of variables that `TOOL_SECRETS` allows. */
export type OpenApiSecret = string | RestLogin;

/** An operation that becomes a tool, with what is to be otherwise than the document and its method say. */
export interface OpenApiOperation extends Partial<
  Omit<RestToolDeclaration, 'method' | 'url' | 'parameters' | 'query' | 'headers' | 'body' | 'bodyType' | 'auth'>
> {
  readonly operationId: string;
  /** Parameters that are not required and that the model is not told of. */
  readonly omit?: readonly string[];
}

/** Operations of an OpenAPI document (3.0 or 3.1) that become tools. */
export interface OpenApiImport {
  /** The document itself, or the path of its file (JSON or YAML). */
  readonly document: string | object;
  /** Of which operations, by their `operationId`. */
  readonly operations: readonly (string | OpenApiOperation)[];
  /** Where it is served; needed when the document names no server, several, or one relative to itself. */
  readonly server?: string;
  /** By the names of the document's security schemes. OAuth 2 and OpenID Connect are given an access token. */
  readonly secrets?: Readonly<Record<string, OpenApiSecret>>;
  /** Stands before each tool's name. */
  readonly prefix?: string;
}

/** A part of a document. */
export type Node = Readonly<Record<string, unknown>>;

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
