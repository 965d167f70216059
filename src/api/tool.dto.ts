import type { ToolEffect } from '../tool/index.js';

/** How calls of a tool are handled. */
export class ToolMetadataDto {
  /** `never`, `always`, or `sometimes`: it depends on the arguments. */
  approval!: 'never' | 'always' | 'sometimes';
  /** Whether a call can carry data out of the application. */
  egress!: boolean;
  /** Whether results hold text of strangers. */
  untrusted!: boolean;
  /** How often a failed call is made again. */
  retries!: number;
  /** The longest one call may take, in ms; without it the run's own limit. */
  timeout_ms?: number;
  /** How long a result serves the same call again, in ms. */
  cache_ttl_ms?: number;
  /** The most calls at once in a process. */
  concurrency?: number;
}

/** A tool. */
export class ToolDto {
  name!: string;
  /** What models are told of it. */
  description!: string;
  /** What may happen when a call is repeated after a crash: `read` may repeat, `idempotent` with the same key, `once` must not. */
  effect!: ToolEffect;
  /** Where it was declared. */
  source!: string;
  /** Whether it is on for the tenant of who asks: else no model is shown it, and nobody's call of it is made. */
  enabled!: boolean;
  /** The JSON Schema of its arguments. */
  input_schema!: Record<string, unknown>;
  /** The JSON Schema of its results, where it has one. */
  output_schema?: Record<string, unknown>;
  metadata!: ToolMetadataDto;
}

/** All tools. */
export class ToolListDto {
  tools!: ToolDto[];
}
