import type { ErrorCode, FieldMistake, JsonSchema, JsonValue, Principal, Semaphore } from '../common/index.js';
import type { ChildRunRequest, ModelMeter } from '../run/index.js';
import type { ToolLogger } from './call/tool-logger.factory.js';
import type { AgentRules } from './policy/agent-rules.factory.js';
import type { PolicyNote } from './policy/policy-note.types.js';
import type { KeptState } from './state/stateful-call.executor.js';
import type { StatefulOptions } from './state/stateful-options.types.js';
import type { ToolState } from './state/tool-state-handle.factory.js';

/**
 * What may happen when a call is repeated after a crash: `read` may repeat, `idempotent` may repeat with the same
 * key, `once` must not repeat.
 */
export type ToolEffect = 'read' | 'idempotent' | 'once';

/** Whether a person must agree to a call before it is made: of the checked input, by the tool itself. */
export type ApprovalPredicate = (input: never, context: ToolContext) => boolean | Promise<boolean>;

/** When a call waits for a person: `never` (the default), `always`, or when the predicate says so or throws. */
export type ToolApproval = 'never' | 'always' | ApprovalPredicate;

/** Names of what calls work on (`order:17`): always the same ones, or told by a call's checked input. */
export type ToolResources = readonly string[] | ((input: never) => readonly string[]);

/** What the model sees. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  /** What results hold to, where the tool says it. */
  readonly outputSchema?: JsonSchema;
}

/** How the executor handles it. */
export interface ToolMetadata {
  readonly effect: ToolEffect;
  /** Where it was declared, for people: `WeatherTools.forecast`. */
  readonly source: string;
  /** The name of the Nest module that provides it; only of a method. */
  readonly module?: string;
  /** The longest one call may take from the start of the tool's code, in ms; without it the run's own limit. */
  readonly timeoutMs?: number;
  readonly approval?: ToolApproval;
  /** How often a failed call is made again; never set for the effect `once`. */
  readonly retries?: number;
  /** How long a result serves the same call again, in ms; only set for the effect `read`. */
  readonly cacheTtlMs?: number;
  /** The most calls at once in this process. */
  readonly concurrency?: number;
  /** The longest wait of a call for its turn, in ms; 300,000 by default. */
  readonly queueTimeoutMs?: number;
  /** Whether a call can carry data out of the application. */
  readonly egress: boolean;
  /** Whether results hold text of strangers. */
  readonly untrusted: boolean;
  /** Whether name, description and schema are a stranger's text too, which nobody has looked at: whoever is shown them has read it. */
  readonly untrustedDefinition?: boolean;
  readonly resources?: ToolResources;
  /** How it keeps state, if it does. */
  readonly state?: StatefulOptions;
  /** Whether what it returns is another's words: a `state` in it is then a part of the result and changes nothing. */
  readonly isReturnForeign?: boolean;
}

/** A question to a person. */
export interface SuspendOptions {
  readonly question: string;
  /** JSON Schema (2020-12) of the answer; any JSON value when left out. */
  readonly schema?: JsonSchema;
  /** How long the question stays open, in ms; by default as long as the agent's definition says. */
  readonly expiresInMs?: number;
  /** What the tool gets again with the answer: up to 64 KiB of JSON, journaled with the question and shown to nobody. */
  readonly memo?: JsonValue;
  /** Whether the tool is called again with a denial, too. Without it a call whose question is denied fails (`TOOL_DENIED`). */
  readonly takesDenial?: boolean;
}

/** What a person said to the question that a call returned by `suspend`. */
export interface SuspensionAnswer {
  /** Valid against the question's schema; `null` when the question was denied. */
  readonly value: JsonValue;
  /** The id of the principal who said it. */
  readonly by: string;
  /** The `memo` of the question that this answers. */
  readonly memo?: JsonValue;
  /** Set when somebody said that there will be no answer; only of a question with `takesDenial`. */
  readonly denied?: { readonly reason?: string };
}

/** Where a call is made, by whom and for what, as its caller knows it. */
export interface CallSite {
  readonly principal: Principal;
  /** The name of the agent that calls; `null` outside of an agent's run. */
  readonly agent: string | null;
  /** What that agent may not do, beside what no agent may. */
  readonly rules?: AgentRules | undefined;
  readonly sessionId: string | null;
  readonly runId: string;
  /** The model's id of the call. */
  readonly callId: string;
  /** Stable over crashes: the same call of the same run always has the same key. */
  readonly key: string;
  /** Aborted when the run is cancelled, times out or the call's own time is over. */
  readonly signal: AbortSignal;
  /** Whether the model had read what strangers wrote when it made the call. */
  readonly isTainted: boolean;
  /** Set when the call was suspended and is made again: the answer to its last question. */
  readonly answer?: SuspensionAnswer;
  /** Hears how far a call has come. */
  readonly report?: (progress: ToolProgress) => void;
  /** Counts what models take that the tool asks; only in a run. */
  readonly meter?: ModelMeter;
}

/** How far a call has come. */
export interface ToolProgress {
  /** In the unit of `total`; grows. */
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** What one call may know about itself and about where it runs. */
export interface ToolContext extends Omit<CallSite, 'report' | 'rules' | 'meter'> {
  /** The tool's name. */
  readonly tool: string;
  /** The principal's tenant. */
  readonly tenant: string;
  /** The checked arguments. */
  readonly arguments: unknown;
  /** The tool's state in this session; only of a stateful tool. */
  readonly state?: ToolState;
  /** Says with every line which run and session it is about. */
  readonly logger: ToolLogger;
  /** Tells those who follow the run how far the call has come (`tool.progress`). Outside of a run nobody hears it. */
  progress(progress: number, total?: number, message?: string): void;
}

/** What a tool finds out about a call of which nobody recorded how it ended. */
export type Reconciliation =
  | { readonly outcome: 'succeeded'; readonly result?: unknown }
  | { readonly outcome: 'failed'; readonly error: string }
  | { readonly outcome: 'not_happened' }
  | { readonly outcome: 'unknown' };

export type ToolInput =
  | { readonly valid: true; readonly value: unknown }
  /** `reason` says which argument and why, for the model to read; `mistakes` the same apart, where that is known. */
  | { readonly valid: false; readonly reason: string; readonly mistakes?: readonly FieldMistake[] };

/** Whatever a tool is (a method, an MCP tool, an endpoint, an agent), it is one of these in the registry. */
export interface Tool {
  readonly definition: ToolDefinition;
  readonly metadata: ToolMetadata;
  /** Checks parsed JSON arguments; the value of a valid input is what `invoke` takes. */
  validate(args: unknown): ToolInput | Promise<ToolInput>;
  /** Gives the result, or the question that `suspend` makes. */
  invoke(input: unknown, context: ToolContext): unknown;
  /** The places of calls at the same time in this process; without it there is no limit. A registry sets it. */
  readonly places?: Semaphore;
  /** Gives the cached result of the call, if there is one. A registry sets it. */
  recall?(context: ToolContext): Promise<{ readonly value: unknown } | undefined>;
  /** Set when each call is a run of its own: a run starts, joins and records that run, and does not call `invoke`. */
  readonly child?: Pick<ChildRunRequest, 'kind' | 'name' | 'isHandoff'>;
  /**
   * Checks a result that is JSON by now against what the tool says of its results; without it any will do.
   */
  checkOutput?(result: JsonValue): ToolInput;
  /**
   * Finds out whether a call that was begun before a crash happened: gives (or resolves to) a `Reconciliation`.
   * @param key the `ToolContext.key` that the call had
   */
  reconcile?(key: string, context: ToolContext): unknown;
}

/** What came of a call. Wire form, as it stands in events and in the API. */
export type ToolResult =
  | {
      readonly tool: string;
      readonly success: true;
      readonly result: JsonValue;
      /** Only of a result that was cut: how long it was, in bytes (UTF-8). The run's journal has it whole. */
      readonly result_bytes?: number;
      /** What it shows beside that: https URLs and data URIs. */
      readonly images?: readonly string[];
      /** The number of its other images: too many, too large, or no PNG, JPEG, GIF or WebP. */
      readonly images_left_out?: number;
      readonly execution_time_ms: number;
    }
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

/** A call with its tool and its checked input. */
export interface CheckedCall {
  readonly tool: Tool;
  readonly input: unknown;
}

/** What a call works on. */
export interface CallResources {
  readonly names: readonly string[];
  readonly isChanging: boolean;
}

/** What is to happen to a call: it runs, a person must agree to it first, or it already has its (error) result. */
export type PlannedCall = {
  /** What policies said that were asked; without it none was. */
  readonly notes?: readonly PolicyNote[];
} & (
  | (CheckedCall & { readonly kind: 'run' })
  /** `reason` is for the person. */
  | (CheckedCall & { readonly kind: 'approval'; readonly reason: string })
  | { readonly kind: 'rejected'; readonly result: ToolResult; readonly mistakes?: readonly FieldMistake[] }
);

/** What came of an invocation: a result, or the question that a person must answer before the call is made again. */
export type Invoked =
  /** `whole` is what the result was before it was cut, if it was; `kept` what a stateful tool left behind. */
  | { readonly kind: 'result'; readonly result: ToolResult; readonly whole?: JsonValue; readonly kept?: KeptState }
  | { readonly kind: 'suspended'; readonly asked: SuspendOptions }
  /** The tool cannot tell whether it happened: a person must. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** What became of a call that was begun before a crash, as far as its tool can tell. */
export type Reconciled =
  /** As of `Invoked`. */
  | { readonly kind: 'result'; readonly result: ToolResult; readonly whole?: JsonValue; readonly kept?: KeptState }
  | { readonly kind: 'not_happened' }
  | { readonly kind: 'unknown' };
