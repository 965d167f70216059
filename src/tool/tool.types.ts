import type { ToolApp, ToolOrigin } from './tool-origin.types.js';
import type { ErrorCode } from '../errors/index.js';
import type { FieldMistake, Principal, Semaphore } from '../kernel/index.js';
import type { JsonSchema, JsonValue } from '../kernel/json/index.js';
import type { RunContext } from '../run/context/index.js';
import type { DataFact } from '../run/facts/index.js';
import type { PublishedFile, RunFile } from '../run/files/index.js';
import type { ChildRunRequest } from '../run/tree/index.js';
import type { ModelMeter } from '../run/usage/index.js';
import type { CallNote } from './call/call-note.types.js';
import type { ToolLogger } from './call/tool-logger.factory.js';
import type { AgentRules } from './decision/agent-rules.types.js';
import type { StoredState } from './stateful/stored-state.types.js';
import type { StatefulOptions } from './stateful/stateful-options.policy.js';
import type { ToolState } from './stateful/tool-state.types.js';

/**
 * Whether a call may be repeated after a crash: `read` may repeat, `idempotent` may repeat with the same idempotency
 * key, `once` must not repeat.
 */
export type ToolEffect = 'read' | 'idempotent' | 'once';

/** The tool's own decision, by the validated input, whether a call needs approval. */
export type ApprovalPredicate = (input: never, context: ToolContext) => boolean | Promise<boolean>;

/** Who may approve: a second person with permission for the call, or principals with a role, who need no permission. */
export type Approvers = 'another' | readonly string[];

/** Approval by certain persons; `when`: by default `always`. */
export interface ApprovalRule {
  readonly when?: 'always' | ApprovalPredicate;
  readonly by: Approvers;
}

/** Whether a call needs approval: `never` (default), `always`, or if the predicate returns true or throws. */
export type ToolApproval = 'never' | 'always' | ApprovalPredicate | ApprovalRule;

/** Names of the resources that calls use (`order:17`): a fixed list, or a function of the validated input. */
export type ToolResources = readonly string[] | ((input: never) => readonly string[]);

/** The part of a tool that the model sees. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  /** Schema of results, if the tool declares one. */
  readonly outputSchema?: JsonSchema;
}

/** Settings for the executor. */
export interface ToolMetadata {
  readonly effect: ToolEffect;
  /** Place of the declaration, used in messages: `WeatherTools.forecast`. */
  readonly source: string;
  /** Name of the Nest module that provides the tool; for methods only. */
  readonly module?: string;
  /** Time limit of one call from the start of the tool's code, in ms; by default the run's limit. */
  readonly timeoutMs?: number;
  readonly approval?: ToolApproval;
  /** Maximum retries of a failed call; never set for the effect `once`. */
  readonly retries?: number;
  /** Time to live of a cached result, in ms; only set for the effect `read`. */
  readonly cacheTtlMs?: number;
  /** Maximum concurrent calls in this process. */
  readonly concurrency?: number;
  /** Maximum wait of a call for its turn, in ms; default 300,000. */
  readonly queueTimeoutMs?: number;
  /** Whether a call can send data out of the application. */
  readonly egress: boolean;
  /** Whether `egress` is true under the rule `strict` only. */
  readonly isEgressIfStrict?: true;
  /** Whether results may contain untrusted text (prompt injection). */
  readonly untrusted: boolean;
  /** Whether results are private data; the default. */
  readonly private?: boolean;
  /** Whether the client of the run executes its calls: no policy and no person of ours decides about them. */
  readonly isClient?: true;
  /** Where its data is, for tools of MCP servers and REST documents. */
  readonly origin?: ToolOrigin;
  /**
   * Whether name, description and schema are unreviewed, untrusted text too: a model that gets them has read untrusted
   * content.
   */
  readonly untrustedDefinition?: boolean;
  /** Suspicious parts of the definition that do not hide the tool: JSON pointers and descriptions. */
  readonly warnings?: readonly { readonly at: string; readonly what: string }[];
  readonly resources?: ToolResources;
  /** State options of a stateful tool. */
  readonly state?: StatefulOptions;
  /** The tool's view in clients with MCP Apps, for tools of MCP servers. */
  readonly app?: ToolApp;
  /** Whether the return value is foreign data: a `state` in it is part of the result and does not change the state. */
  readonly isReturnForeign?: boolean;
}

/** A question for a person. */
export interface SuspendOptions {
  readonly question: string;
  /** JSON Schema (2020-12) of the answer; default: any JSON value. */
  readonly schema?: JsonSchema;
  /** Time to answer, in ms; default: the setting of the agent's definition. */
  readonly expiresInMs?: number;
  /**
   * Data that the tool gets back with the answer: up to 64 KiB of JSON, journaled with the question and never
   * displayed.
   */
  readonly memo?: JsonValue;
  /**
   * Whether the tool is called again after a denial too. By default a call with a denied question fails
   * (`TOOL_DENIED`).
   */
  readonly takesDenial?: boolean;
}

/** A person's answer to the question of a `suspend`. */
export interface SuspensionAnswer {
  /** Valid against the question's schema; `null` for a denied question. */
  readonly value: JsonValue;
  /** Principal id of the person. */
  readonly by: string;
  /** The `memo` of the answered question. */
  readonly memo?: JsonValue;
  /** Set if a person denied the question; only with `takesDenial`. */
  readonly denied?: { readonly reason?: string };
}

/** Context of a call, provided by its caller. */
export interface CallSite {
  readonly principal: Principal;
  /** Name of the calling agent; `null` outside of an agent's run. */
  readonly agent: string | null;
  /** Rules of that agent, in addition to the global rules. */
  readonly rules?: AgentRules | undefined;
  readonly sessionId: string | null;
  readonly runId: string;
  /** Call id assigned by the model. */
  readonly callId: string;
  /** Idempotency key: a repeated call of the same run has the same key, also after a crash. */
  readonly key: string;
  /** Aborted if the run is cancelled or times out, or if the call exceeds its own time limit. */
  readonly signal: AbortSignal;
  /** Whether the model had read untrusted content before it made the call. */
  readonly isTainted: boolean;
  /** Facts of the data that the model had read before it made the call; by default those of `isTainted`. */
  readonly facts?: readonly DataFact[];
  /** Receives the facts of stored data that the call reads. */
  readonly learn?: (facts: readonly DataFact[]) => void;
  /** Answer to the last question; set if the call was suspended and is repeated. */
  readonly answer?: SuspensionAnswer;
  /** Receives the progress of the call. */
  readonly report?: (progress: ToolProgress) => void;
  /** Counts the usage of model calls by the tool; only in a run. */
  readonly meter?: ModelMeter;
  /** Files that the model may name; only in a run. */
  readonly files?: RunContext['files'];
  readonly note?: CallNote;
  /** The deadline of the run's request, epoch ms; only with one. */
  readonly endsAt?: number | undefined;
}

/** Progress of a call. */
export interface ToolProgress {
  /** In the unit of `total`; increasing. */
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** Context of one call, for the tool. */
export interface ToolContext extends Omit<
  CallSite,
  'report' | 'rules' | 'meter' | 'files' | 'facts' | 'learn' | 'note' | 'endsAt'
> {
  /** Name of the tool. */
  readonly tool: string;
  /** Tenant of the principal. */
  readonly tenant: string;
  /** Validated arguments. */
  readonly arguments: unknown;
  /** Whether the model had read private data before it made the call. */
  readonly isPrivate: boolean;
  /** State of the tool in this session; for stateful tools only. */
  readonly state?: ToolState;
  /** Adds the ids of run and session to each line. */
  readonly logger: ToolLogger;
  /** Publishes the progress of the call (`tool.progress`) to clients of the run. No effect outside of a run. */
  progress(progress: number, total?: number, message?: string): void;
}

/** Outcome of a call without a recorded result, determined by its tool. */
export type Reconciliation =
  | { readonly outcome: 'succeeded'; readonly result?: unknown }
  | { readonly outcome: 'failed'; readonly error: string }
  | { readonly outcome: 'not_happened' }
  | { readonly outcome: 'unknown' };

export type ToolInput =
  | { readonly valid: true; readonly value: unknown }
  /** `reason` names the argument and the cause, for the model; `mistakes` are the same as data, if known. */
  | {
      readonly valid: false;
      readonly reason: string;
      readonly mistakes?: readonly FieldMistake[];
      /** Whether the value may be valid: its check did not complete. */
      readonly isUndecided?: boolean;
    };

/** Common form of all tools in the registry: methods, MCP tools, REST endpoints, agents. */
export interface Tool {
  readonly definition: ToolDefinition;
  readonly metadata: ToolMetadata;
  /** Validates parsed JSON arguments; the value of a valid input is the input of `invoke`. */
  validate(args: unknown): ToolInput | Promise<ToolInput>;
  /** Returns the result, or the question created by `suspend`. */
  invoke(input: unknown, context: ToolContext): unknown;
  /** Limits concurrent calls in this process; by default there is no limit. Set by a registry. */
  readonly places?: Semaphore;
  /** Returns the cached result of the call, if any. Set by a registry. */
  recall?(context: ToolContext): Promise<{ readonly value: unknown } | undefined>;
  /** Set if each call is a child run: the calling run starts, joins and records it, and does not call `invoke`. */
  readonly child?: Pick<ChildRunRequest, 'kind' | 'name' | 'isHandoff'>;
  /** Whether scripts cannot call it: it loads something for the model. */
  readonly isDirect?: true;
  /** Set for the tool that runs scripts: the tools that they can call, by name. Each call of one is a call of the run. */
  readonly scripted?: ReadonlyMap<string, Tool>;
  /** Validates a JSON result against the output schema; by default every result is valid. */
  checkOutput?(result: JsonValue): ToolInput | Promise<ToolInput>;
  /**
   * Determines the outcome of a call that was started before a crash; returns (or resolves to) a `Reconciliation`.
   * @param key `ToolContext.key` of the call
   */
  reconcile?(key: string, context: ToolContext): unknown;
}

/** Result of a call, in the wire format of events and API. */
export type ToolResult =
  | {
      readonly tool: string;
      readonly success: true;
      readonly result: JsonValue;
      /** For the model only: a line before the text of the result, and a text in place of it. */
      readonly note?: string;
      readonly text?: string;
      /** Only of a truncated result: its full size in bytes (UTF-8). The run's journal has the full result. */
      readonly result_bytes?: number;
      /** Files that the result refers to. */
      readonly files?: readonly PublishedFile[];
      /** Images of the result: https URLs, and data URIs (`file:<n>` in the journal). */
      readonly images?: readonly string[];
      /** Audio of the result: data URIs of WAV and MP3 (`file:<n>` in the journal). */
      readonly audio?: readonly string[];
      /** Number of images left out: too many, too large, or not a PNG, JPEG, GIF or WebP. */
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

/** A call as the model requested it: `arguments` is the model's raw text. */
export interface RequestedCall {
  readonly name: string;
  readonly arguments: string;
}

/** A call with its tool and its validated input. */
export interface CheckedCall {
  readonly tool: Tool;
  readonly input: unknown;
}

/** Resources of a call. */
export interface CallResources {
  readonly names: readonly string[];
  readonly isChanging: boolean;
}

/** Outcome of an invocation: a result, or a question that a person must answer before the call is repeated. */
export type Invoked =
  /** `whole` is the full result of a truncated one, `storedState` the state change of a stateful tool. */
  | {
      readonly kind: 'result';
      readonly result: ToolResult;
      readonly whole?: JsonValue;
      readonly files?: readonly RunFile[];
      readonly storedState?: StoredState;
    }
  | { readonly kind: 'suspended'; readonly suspension: SuspendOptions }
  /** The tool cannot determine whether the call took effect: a person must settle it. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** Outcome of a call that was started before a crash, as far as its tool can determine it. */
export type Reconciled =
  Extract<Invoked, { kind: 'result' }> | { readonly kind: 'not_happened' } | { readonly kind: 'unknown' };
