import type { RestLogin, RestToolDeclaration } from '../rest-tool.types.js';

/** Secret of a security scheme: names of variables that `TOOL_SECRETS` allows. */
export type OpenApiSecret = string | RestLogin;

/**
 * Operations that become tools, with overrides of the document and of the defaults of their method. Exactly one of
 * `operationId`, `tag` and `path` selects them; `*` in it matches any characters.
 */
export interface OpenApiOperation extends Partial<
  Omit<
    RestToolDeclaration,
    'name' | 'method' | 'url' | 'parameters' | 'query' | 'headers' | 'body' | 'bodyType' | 'auth'
  >
> {
  readonly operationId?: string;
  readonly tag?: string;
  /** `/pets/*`, or with a method `GET /pets/*`. */
  readonly path?: string;
  /** Only for a single operation. */
  readonly name?: string;
  /** Optional parameters that are hidden from the model. */
  readonly omit?: readonly string[];
}

/** Operations of an OpenAPI document that become tools. */
export interface OpenApiImport {
  /** The document itself, or the path of its file (JSON or YAML). */
  readonly document: string | object;
  /**
   * Operations to import: `listPets`, `pets.*`, `tag:pets`, `/pets/*`, `GET /pets/*`; `!` before a text excludes. By
   * default all.
   */
  readonly operations?: readonly (string | OpenApiOperation)[];
  /** Base URL; required if the document names no server, several, or a relative one. */
  readonly server?: string;
  /** Keyed by security scheme of the document. OAuth 2 and OpenID Connect take an access token. */
  readonly secrets?: Readonly<Record<string, OpenApiSecret>>;
  /** Prefix of each tool's name. */
  readonly prefix?: string;
  /** Whether replies are private data; by default those of a request with credentials. */
  readonly private?: boolean;
}

/** Outcome of an import. */
export interface OpenApiImported {
  /** Location of the declaration. */
  readonly source: string;
  /** Names of the registered tools. */
  readonly tools: readonly string[];
  /** Selected operations that cannot be expressed as a tool. */
  readonly refused: readonly OpenApiRefusal[];
}

export interface OpenApiRefusal {
  /** `get /pets/{id}`. */
  readonly operation: string;
  readonly reason: string;
}

/** A part of a document. */
export type Node = Readonly<Record<string, unknown>>;

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
