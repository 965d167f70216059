import type { ErrorCode } from '../../errors/index.js';
import type { JsonSchema } from '../../kernel/json/index.js';
import type { BudgetLimit, EFFORTS } from '../../config/index.js';
import type { AssistantMessage, Message } from './message.types.js';

/** Definition of a tool, as the model sees it. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
}

/** Reasoning effort; `none` means no reasoning. */
export type Effort = (typeof EFFORTS)[number];

/** Sampling parameters. A request to a model omits the unsupported ones. */
export interface ModelParameters {
  /** Sampling temperature, 0–2. */
  readonly temperature?: number;
  /** Maximum length of the reply, in tokens. */
  readonly maxTokens?: number;
  /** Nucleus sampling probability mass (top-p), 0–1. */
  readonly topP?: number;
  /** Penalty of a token by its frequency in the text so far, -2 to 2. */
  readonly frequencyPenalty?: number;
  /** Penalty of a token that occurs in the text so far, -2 to 2. */
  readonly presencePenalty?: number;
  /** Stop sequences: the reply ends before the first one. */
  readonly stop?: readonly string[];
  /** Best-effort determinism: the same seed gives the same reply if the provider supports it. */
  readonly seed?: number;
  /** Reasoning effort; a request has the nearest level that the model supports. */
  readonly effort?: Effort;
}

export type ParameterName = keyof ModelParameters;

/** Unsupported parameters of a model; all others are supported. */
export interface ParameterLimits {
  readonly lacking?: readonly ParameterName[];
  /** Parameters that it may refuse, as its name does not state the model: only a caller sets them. */
  readonly uncertain?: readonly ParameterName[];
  /** Maximum temperature; 2 by default. */
  readonly maxTemperature?: number;
  /** Maximum number of stop sequences; unlimited by default. */
  readonly maxStops?: number;
  /** Whether a request may have `temperature` or `topP`, but not both. */
  readonly isOneOfTemperatureAndTopP?: boolean;
  /** Supported levels of effort, `[]` for none; if absent, they are unknown and the provider decides. */
  readonly efforts?: readonly Effort[];
  /** Whether a request that reasons has neither `temperature` nor `topP`. */
  readonly hasNoSamplingBesideEffort?: boolean;
}

/** Tool calls of the reply: optional, none, at least one, or one of the named tool. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

/** Format of the answer: one JSON object, or JSON that matches a schema. */
export type ResponseFormat =
  | 'json'
  | {
      readonly schema: JsonSchema;
      /** Name of the schema, for providers that require one; 1 to 64 of A-Z a-z 0-9 _ -. */
      readonly name?: string;
    };

export interface ChatRequest {
  readonly messages: readonly Message[];
  readonly tools?: readonly ToolSpec[];
  /** `auto` by default. */
  readonly toolChoice?: ToolChoice;
  readonly parameters?: ModelParameters;
  /** Parameters that no user set: a request whose provider refuses one is repeated without it. */
  readonly optionalParameters?: readonly ParameterName[];
  /** A model with `jsonMode` enforces it, others get it as an instruction. The caller must validate the reply. */
  readonly responseFormat?: ResponseFormat;
  /** Chat Completions, for a model that also has the Responses API; by default the latter. */
  readonly api?: 'chat';
}

/** Identifies a call for the budgets. Its usage counts once per run and step. */
export interface CallAccount {
  readonly tenant: string;
  readonly runId: string;
  /** The root run, whose budget counts the call; absent if it is `runId` itself. */
  readonly rootRunId?: string;
  /** Session of the root run. */
  readonly sessionId: string | null;
  /** Unique in the run. */
  readonly step: string;
  /** Whether a journal will record the usage of the call. */
  readonly isJournaled?: boolean;
  /** Further budgets that limit the call: of its agent, and of the agents of calling runs. */
  readonly own?: readonly OwnBudget[];
}

/** Budgets of an agent, each with a total of its own; as `BUDGET_…` of the server. */
export interface AgentBudgets {
  /** For a run of the agent together with its child runs. */
  readonly run?: BudgetLimit | undefined;
  /** For the agent's own runs in one session. */
  readonly session?: BudgetLimit | undefined;
  readonly tenantDay?: BudgetLimit | undefined;
  readonly day?: BudgetLimit | undefined;
}

/** A budget of an agent, applied to one call. */
export interface OwnBudget {
  readonly agent: string;
  /** Run of the agent whose total `limits.run` limits. */
  readonly runId: string;
  readonly limits: AgentBudgets;
}

/** The progress of a streamed reply: the model updates it, its caller reads it. */
export interface ReplyProgress {
  /** UTF-16 units generated so far: text, reasoning and call arguments. */
  length: number;
  /** Usage of an incomplete reply, if the provider has reported it. */
  usage?: Usage | undefined;
}

export interface CallOptions {
  /** Aborts the call; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Tenant of the caller; cached replies are never shared across tenants. */
  readonly tenant?: string;
  /** Time after which the reply is useless, ms since the epoch: no retry starts after it. */
  readonly deadlineAt?: number;
  /** Bypass the cache: the cached reply was rejected. */
  readonly isFresh?: boolean;
  /**
   * Whether the caller can use a reply. A cache stores no other reply, and ignores an entry that fails this check. By
   * default, a complete reply with a text or a call is usable.
   */
  readonly accepts?: ((reply: ChatResult) => boolean | Promise<boolean>) | undefined;
  /** Called with the body of each request to a provider, and with its JSON if that is known, before it is sent. */
  readonly onRequest?: (body: object, json?: string) => void;
  /** Called before each further request to a provider, after a failure. */
  readonly onRetry?: () => void;
  /** Without an account, no budget limits the call. */
  readonly account?: CallAccount;
  /** Set by the budget of a streamed call. The stream then yields empty parts while call arguments arrive. */
  readonly progress?: ReplyProgress;
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** Token counts, as the provider reports them. */
export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
  /** Prompt tokens that the provider read from its cache; absent if not reported. */
  readonly cachedTokens?: number;
  /** Prompt tokens that the provider wrote to its cache; absent if not reported. */
  readonly cacheWriteTokens?: number;
  /** Completion tokens that are reasoning; absent if not reported. */
  readonly reasoningTokens?: number;
  /** Cost in the unit of `LLM_PRICES`, rounded to a billionth; absent if the model has no price. */
  readonly cost?: number;
}

/** One complete reply; an incomplete one is an error. */
export interface ChatResult {
  readonly message: AssistantMessage;
  readonly finishReason: FinishReason;
  readonly usage?: Usage;
  /** Name of the model that replied, as the provider reports it. */
  readonly model: string;
  /** Set if the reply comes from the cache, without a provider call. */
  readonly isCached?: true;
  /** Fallbacks before the reply, in order. */
  readonly switches?: readonly ModelSwitch[];
  /** The number of earlier images that notes replaced, because the provider had refused the request with them. */
  readonly refusedImages?: number;
}

/** A fallback from a model that failed to another one; both as `provider:model`. */
export interface ModelSwitch {
  readonly from: string;
  readonly to: string;
  /** Error of the failed model. */
  readonly code: ErrorCode;
  /** Parameters of the request that the other model does not support. */
  readonly dropped?: readonly ParameterName[];
}

/**
 * A stream is any number of deltas, then exactly one `finish` with the complete reply. A `restart` discards all parts
 * before it; the reply starts again.
 */
export type ChatStreamPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'restart' }
  | { readonly type: 'finish'; readonly result: ChatResult };

/** Limits of a provider for the images of a request; each is unlimited when left out. */
export interface ImageLimits {
  /** Length of the base64 text of one image. */
  readonly maxBase64Bytes?: number;
  /** Width and height of one image, in pixels. */
  readonly maxSide?: number;
  readonly mediaTypes?: readonly string[];
  /** Maximum images of one request, history included. */
  readonly maxCount?: number;
  /** A request with more than `above` images has this limit for each. */
  readonly crowd?: { readonly above: number; readonly maxSide: number };
}

export interface ModelCapabilities {
  readonly vision: boolean;
  readonly functionCalling: boolean;
  /** Whether it supports `responseFormat` of a request. */
  readonly jsonMode: boolean;
  /** Whether the answer's format can be requested, at least as an instruction; true by default. */
  readonly structuredOutput?: boolean;
  /** Whether it fetches images from URLs; by default true for a model with vision. */
  readonly imageUrls?: boolean;
  /** Whether it takes audio (WAV, MP3); false by default. */
  readonly audio?: boolean;
  /** Limits for images; if absent, the limits are unknown and the provider decides. */
  readonly imageLimits?: ImageLimits;
  /** Whether a request can force a call of any or of a certain tool; true by default. */
  readonly forcedToolChoice?: boolean;
  /** Maximum length of a reply, in tokens, for providers that require a limit; 4,096 by default. */
  readonly maxReplyTokens?: number;
  /** Unsupported parameters; it ignores them in a request. */
  readonly parameterLimits?: ParameterLimits;
}
