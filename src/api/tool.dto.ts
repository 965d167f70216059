import type { ToolEffect } from '../tool/index.js';

/** How calls of a tool are handled. */
export class ToolMetadataDto {
  /** `never`, `always`, or `sometimes` (depends on the arguments). */
  approval!: 'never' | 'always' | 'sometimes';
  /** Whether a call can carry data out of the application. */
  egress!: boolean;
  /** Whether results may contain untrusted content. */
  untrusted!: boolean;
  /** Whether results are private data. */
  private!: boolean;
  /** Maximum number of retries of a failed call. */
  retries!: number;
  /** Maximum duration of one call, in ms; if absent, the run's limit applies. */
  timeout_ms?: number;
  /** Time for which a cached result serves the same call, in ms. */
  cache_ttl_ms?: number;
  /** Maximum number of concurrent calls per process. */
  concurrency?: number;
  /** Maximum time that a call waits in the queue, in ms. */
  queue_timeout_ms?: number;
}

/** A suspicious part of a tool's definition. */
export class ToolWarningDto {
  /** A JSON pointer into the definition. */
  at!: string;
  what!: string;
}

/** A model whose requests omit a tool, since the format of its provider cannot express it. */
export class ToolOmissionDto {
  /** As `provider:model`. */
  model!: string;
  reason!: string;
}

/** A tool. */
export class ToolDto {
  name!: string;
  /** The description that models receive. */
  description!: string;
  /** Repetition after a crash: `read` may repeat, `idempotent` may repeat with the same key, `once` must not. */
  effect!: ToolEffect;
  /** Where the tool is declared. */
  source!: string;
  /**
   * Whether the tool is enabled for the caller's tenant. Models do not receive a disabled tool, and its calls are
   * refused.
   */
  enabled!: boolean;
  /** Models that do not receive the tool, if any; known since the first request to each. */
  omitted?: ToolOmissionDto[];
  /** Suspicious parts of an MCP tool's definition, if any. Models receive the tool nevertheless. */
  warnings?: ToolWarningDto[];
  /** JSON Schema of the arguments. */
  input_schema!: Record<string, unknown>;
  /** JSON Schema of the results, if declared. */
  output_schema?: Record<string, unknown>;
  metadata!: ToolMetadataDto;
}

/** All tools. */
export class ToolListDto {
  tools!: ToolDto[];
}
