import type { WireAccess } from '../wire/wire-access.types.js';

/**
 * What `response_format` takes: a schema that the reply is held to (and the model is told of), any schema (the model does
 * not read it, so it is also told in words), only that it is an object, or nothing.
 */
export type FormatMode = 'strict' | 'schema' | 'object' | 'none';

/** Where a provider differs from the others that speak OpenAI's wire. */
export interface WireDialect {
  /** Which field limits the reply's length; OpenAI's newer models refuse the old name. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /**
   * Whether earlier messages carry their `reasoning_content`: never, where there is one, or also (empty) with every
   * tool call.
   */
  readonly reasoningEcho: 'never' | 'present' | 'with_calls';
  /** What its `response_format` takes; `object` when left out. */
  readonly formatMode?: (model: string, hasTools: boolean) => FormatMode;
  /** Further fields of the request's body. */
  readonly extras?: (model: string, hasTools: boolean) => Readonly<Record<string, unknown>>;
}

/** Where an endpoint is, and what goes with every request to it. */
export interface WireRoute {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/** The endpoint of a path that begins with a slash, such as `/chat/completions`. */
export type RouteTo = (access: WireAccess, path: string) => WireRoute;
