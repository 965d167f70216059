import type { WireAccess } from '../wire/wire-access.types.js';

/**
 * Modes of `response_format`. `strict`: a schema that the provider enforces and shows to the model. `schema`: any
 * schema, enforced, but the model also needs it as an instruction. `object`: any JSON object. `none`: unsupported.
 */
export type FormatMode = 'strict' | 'schema' | 'object' | 'none';

/** Differences of a provider from OpenAI's API. */
export interface WireDialect {
  /** Field that limits the reply's length; OpenAI's newer models reject the old name. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /**
   * Whether assistant messages of the history contain `reasoning_content`: never, if present, or with every tool call,
   * even if empty.
   */
  readonly reasoningEcho: 'never' | 'present' | 'with_calls';
  /** Supported mode of `response_format`; `object` by default. */
  readonly formatMode?: (model: string, hasTools: boolean) => FormatMode;
  /** Further fields of the request body. */
  readonly extras?: (model: string, hasTools: boolean) => Readonly<Record<string, unknown>>;
}

/** URL of an endpoint, and the headers of every request to it. */
export interface WireRoute {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/** The endpoint of a path that starts with a slash, such as `/chat/completions`. */
export type RouteTo = (access: WireAccess, path: string) => WireRoute;
