import type { Effort } from '../chat/chat.types.js';
import type { ToolRules } from '../tool-schema.mapper.js';
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
   * Whether assistant messages of the history contain `reasoning_content`: never, if present, or in all messages of a
   * turn from its first call on, even if empty.
   */
  readonly reasoningEcho: 'never' | 'present' | 'with_calls';
  /** Requirements on the definitions of tools; by default those of OpenAI. */
  readonly toolRules?: ToolRules;
  /**
   * Arrangement of messages: by default that of the history; `json` for arguments that are JSON objects; `template` for
   * a chat template.
   */
  readonly arrangement?: 'json' | 'template';
  /** Whether calls must have Gemini's thought signatures. */
  readonly hasSignatures?: boolean;
  /** Whether tool messages have the name of their tool. */
  readonly hasToolNames?: boolean;
  /** Whether call ids must have nine letters or digits. */
  readonly hasShortIds?: boolean;
  /** Field of the seed; `seed` by default. */
  readonly seedField?: 'seed' | 'random_seed';
  /** Whether every request must stream. */
  readonly isStreamOnly?: boolean;
  /** Whether a stream reports its usage without a request for it, which the server rejects. */
  readonly reportsUsage?: boolean;
  /** Supported mode of `response_format`; `object` by default. */
  readonly formatMode?: (model: string, hasTools: boolean) => FormatMode;
  /** Whether requests have `prompt_cache_key`. */
  readonly hasCacheKey?: boolean;
  /** Fields of an effort; `reasoning_effort` by default. */
  readonly effortFields?: (effort: Effort, model: string) => Readonly<Record<string, unknown>>;
  /** Further fields of the request body; those of an effort override them. */
  readonly extras?: (model: string, hasTools: boolean) => Readonly<Record<string, unknown>>;
}

/** URL of an endpoint, and the headers of every request to it. */
export interface WireRoute {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/** The endpoint of a path that starts with a slash, such as `/chat/completions`. */
export type RouteTo = (access: WireAccess, path: string) => WireRoute;
