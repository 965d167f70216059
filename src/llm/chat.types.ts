import type { ErrorCode, JsonSchema } from '../common/index.js';
import type { BudgetLimit } from '../config/index.js';
import type { AssistantMessage, Message } from './message.types.js';

/** What a model is told about a tool. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
}

/** How a model chooses its words; what a model does not take is not sent to it. */
export interface ModelParameters {
  /** 0 to 2: how freely. */
  readonly temperature?: number;
  /** The longest reply, in tokens. */
  readonly maxTokens?: number;
  /** 0 to 1: among the likeliest words that make up so much of all likelihood. */
  readonly topP?: number;
  /** -2 to 2: against words the more often they were said. */
  readonly frequencyPenalty?: number;
  /** -2 to 2: against words that were said. */
  readonly presencePenalty?: number;
  /** Texts that end the reply where they would come. */
  readonly stop?: readonly string[];
  /** The same seed gives the same reply, as far as a provider can. */
  readonly seed?: number;
}

export type ParameterName = keyof ModelParameters;

/** What a model does not take of the parameters; all else it takes. */
export interface ParameterLimits {
  readonly lacking?: readonly ParameterName[];
  /** 2 when left out. */
  readonly maxTemperature?: number;
  /** How many texts may end a reply; any number when left out. */
  readonly maxStops?: number;
  /** Whether `temperature` and `topP` are not taken both at once. */
  readonly isOneOfTemperatureAndTopP?: boolean;
}

/** Whether the model calls tools: as it likes, none, at least one, or the one of that name. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

/** What the answer must be: one JSON object, or JSON that fits a schema. */
export type ResponseFormat =
  | 'json'
  | {
      readonly schema: JsonSchema;
      /** What the answer is called, where the provider wants it to have a name; 1 to 64 of A-Z a-z 0-9 _ -. */
      readonly name?: string;
    };

export interface ChatRequest {
  readonly messages: readonly Message[];
  readonly tools?: readonly ToolSpec[];
  /** By default `auto`. */
  readonly toolChoice?: ToolChoice;
  readonly parameters?: ModelParameters;
  /** A model with `jsonMode` sees to it, or tells the model so; whoever needs it looks whether it came. */
  readonly responseFormat?: ResponseFormat;
}

/** Whose call it is, and which: what it takes is counted there, once. */
export interface CallAccount {
  readonly tenant: string;
  readonly runId: string;
  /** The run whose budget it counts in, when that is another one: the one at the top, where runs call others. */
  readonly rootRunId?: string;
  /** That of the run at the top. */
  readonly sessionId: string | null;
  /** Unique in the run. */
  readonly step: string;
  /** Whether a journal will tell of its usage. */
  readonly isJournaled?: boolean;
  /** Budgets beside those of the server that it counts in: of the agent, and of runs that called its own. */
  readonly own?: readonly OwnBudget[];
}

/** What an agent may spend, of which each part is counted by itself; as in `BUDGET_…`. */
export interface AgentBudgets {
  /** A run of it, with the runs that it calls. */
  readonly run?: BudgetLimit | undefined;
  /** Its own runs, in one session. */
  readonly session?: BudgetLimit | undefined;
  readonly tenantDay?: BudgetLimit | undefined;
  readonly day?: BudgetLimit | undefined;
}

/** A budget of an agent, for one call. */
export interface OwnBudget {
  readonly agent: string;
  /** The run of the agent that `run` is about. */
  readonly runId: string;
  readonly limits: AgentBudgets;
}

/** The progress of a streamed reply: the model updates it, its caller reads it. */
export interface ReplyProgress {
  /** UTF-16 units that were generated so far: text, reasoning and arguments of calls. */
  length: number;
  /** The counts of a reply that was broken off, where the provider has reported some. */
  usage?: Usage | undefined;
}

export interface CallOptions {
  /** Aborts the call; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Who asks: what one tenant was answered is not given to another. */
  readonly tenant?: string;
  /** When the answer is of no use any more, epoch ms: nobody waits for another attempt beyond it. */
  readonly deadlineAt?: number;
  /** Whether a reply that was kept will not do: it was of no use. */
  readonly isFresh?: boolean;
  /**
   * Whether the caller can use a reply. A cache stores no other reply, and ignores an entry that fails this check. Without
   * it, a whole reply with a text or a call is usable.
   */
  readonly accepts?: ((reply: ChatResult) => boolean) | undefined;
  /** Without one no budget limits the call. */
  readonly account?: CallAccount;
  /** Set by the budget of a streamed call. The stream then also has empty parts while arguments of a call arrive. */
  readonly progress?: ReplyProgress;
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** In tokens, as the provider counted them. */
export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
  /** Of the prompt: what the provider had read before. Left out where it does not say. */
  readonly cachedTokens?: number;
  /** Of the completion: what was thought and not said. Left out where it does not say. */
  readonly reasoningTokens?: number;
  /** What it costs, in the unit of `LLM_PRICES`, to a billionth. Left out where the model has no price. */
  readonly cost?: number;
}

/** One whole reply: a model only gives it when the provider's reply was complete. */
export interface ChatResult {
  readonly message: AssistantMessage;
  readonly finishReason: FinishReason;
  readonly usage?: Usage;
  /** The model that answered, as the provider names it. */
  readonly model: string;
  /** Whether it was answered before, so that nobody was asked now. */
  readonly isCached?: true;
  /** How it came that another model answered than was asked, in order. */
  readonly switches?: readonly ModelSwitch[];
  /** The number of earlier images that notes replaced, because the provider had refused the request with them. */
  readonly refusedImages?: number;
}

/** A model did not answer, and another one was asked; both as `provider:model`. */
export interface ModelSwitch {
  readonly from: string;
  readonly to: string;
  /** Why. */
  readonly code: ErrorCode;
}

/**
 * A stream is any number of deltas, then exactly one `finish` with the whole reply. A `restart` makes void what came
 * before it: the reply begins anew.
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
  /** Images of one request, with those of its history. */
  readonly maxCount?: number;
  /** A request with more than `above` images has this limit for each. */
  readonly crowd?: { readonly above: number; readonly maxSide: number };
}

export interface ModelCapabilities {
  readonly vision: boolean;
  readonly functionCalling: boolean;
  /** Whether it heeds `responseFormat` of a request. */
  readonly jsonMode: boolean;
  /** Whether it can be told what its answer is to be, in words at least; it can when left out. */
  readonly structuredOutput?: boolean;
  /** Whether it fetches pictures from URLs; it does when left out, if it has vision. */
  readonly imageUrls?: boolean;
  /** Limits for images; without it nothing is known, and the provider decides. */
  readonly imageLimits?: ImageLimits;
  /** Whether it can be made to call a tool, any or a certain one; it can when left out. */
  readonly forcedToolChoice?: boolean;
  /** What it does not take of the parameters; it passes over such in a request. */
  readonly parameterLimits?: ParameterLimits;
}
