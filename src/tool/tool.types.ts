import type { ErrorCode, JsonSchema, JsonValue, Principal } from '../common/index.js';

/**
 * What may happen when a call is repeated after a crash: `read` may repeat, `idempotent` may repeat with the same
 * key, `once` must not repeat.
 */
export type ToolEffect = 'read' | 'idempotent' | 'once';

/** What the model sees. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
}

/** How the executor handles it. */
export interface ToolMetadata {
  readonly effect: ToolEffect;
  /** Where it was declared, for people: `WeatherTools.forecast`. */
  readonly source: string;
  /** The longest one call may take, in ms; without it the run's own limit. */
  readonly timeoutMs?: number;
}

/** What one call may know about where it runs. */
export interface ToolContext {
  readonly principal: Principal;
  readonly sessionId: string | null;
  readonly runId: string;
  /** The model's id of the call. */
  readonly callId: string;
  /** Stable over crashes: the same call of the same run always has the same key. */
  readonly key: string;
  /** Aborted when the run is cancelled, times out or the call's own time is over. */
  readonly signal: AbortSignal;
}

export type ToolInput =
  | { readonly valid: true; readonly value: unknown }
  /** `reason` says which argument and why, for the model to read. */
  | { readonly valid: false; readonly reason: string };

/** Whatever a tool is (a method, an MCP tool, an endpoint, an agent), it is one of these in the registry. */
export interface Tool {
  readonly definition: ToolDefinition;
  readonly metadata: ToolMetadata;
  /** Checks parsed JSON arguments; the value of a valid input is what `invoke` takes. */
  validate(args: unknown): ToolInput | Promise<ToolInput>;
  invoke(input: unknown, context: ToolContext): unknown;
}

/** What came of a call. Wire form, as it stands in events and in the API. */
export type ToolResult =
  | { readonly tool: string; readonly success: true; readonly result: JsonValue; readonly execution_time_ms: number }
  | {
      readonly tool: string;
      readonly success: false;
      readonly error: string;
      readonly code: ErrorCode;
      readonly execution_time_ms: number;
    };

/** A call as the loop hands it over: `arguments` is the model's raw text. */
export interface RequestedCall {
  readonly name: string;
  readonly arguments: string;
}

/** What is to happen to a call: it runs with a checked input, or it already has its (error) result. */
export type PlannedCall =
  | { readonly kind: 'run'; readonly tool: Tool; readonly input: unknown }
  | { readonly kind: 'rejected'; readonly result: ToolResult };
