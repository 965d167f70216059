import type {
  CallOptions,
  ChatModel,
  ChatResult,
  Message,
  ModelParameters,
  OwnBudget,
  ResponseFormat,
  ToolChoice,
} from '../llm/index.js';
import type { AnsweredBy, RunContext, RunFailure, RunFinishReason, RunUsage, WaitingRequest } from '../run/index.js';
import type { AgentRules, Tool, ToolResult } from '../tool/index.js';
import type { ReplyPlan } from './pipeline/reply-plan.policy.js';
import type { DecodedReply, Protocol } from './protocols/protocol.js';

export interface ReasoningLimits {
  /** Model calls a run may make. */
  readonly maxIterations: number;
  /** UTF-8 bytes of one tool result that are kept. */
  readonly maxResultBytes: number;
  /** How deep agents may ask one another; 3 when left out. */
  readonly maxDepth?: number;
}

/** A run that a call was, once it has ended; as the journal holds it. */
export interface CalledRun {
  readonly run_id: string;
  /** What it took, with the runs that it called. */
  readonly usage: RunUsage;
  /** Whether it has read what strangers wrote. */
  readonly is_tainted?: true;
  /** Its answer, when the conversation was handed over to it: it is this run's answer then. */
  readonly answer?: HandedAnswer;
}

/** An answer that another agent gave. */
export interface HandedAnswer {
  readonly agent: string;
  readonly text: string;
  readonly output?: unknown;
  readonly finish_reason: RunFinishReason;
  readonly model: string;
}

/** What becomes of calls that wait for a person. */
export interface WaitingRules {
  /** How long a request stays open, in ms; `null` for ever. */
  readonly expiresMs: number | null;
  /** Whether the loop goes on with a denied call's error, or the run ends with it. */
  readonly onDenied: 'continue' | 'end';
  readonly onExpired: 'continue' | 'end';
}

/** What the loop works on. */
export interface ReasoningRequest {
  /** The agent's name; `null` when a loop runs for none. */
  readonly agent: string | null;
  /** What that agent may not do, beside what no agent may. */
  readonly rules?: AgentRules | undefined;
  readonly instructions: string;
  /** Earlier turns, oldest first. */
  readonly history: readonly Message[];
  /** What the user says now. */
  readonly input: Message;
  readonly model: ChatModel;
  readonly parameters?: ModelParameters;
  readonly protocol: string;
  readonly tools: readonly Tool[];
  /** Tools that it has and that are denied: the model is not told of them, and a call of one is refused. */
  readonly deniedTools?: readonly Tool[];
  /** Whether the history or the input holds what strangers wrote. */
  readonly isTainted?: boolean;
  /** What the first reply must call, if anything; by default nothing. */
  readonly toolChoice?: ToolChoice;
  /** What the final answer must be; any text when left out. */
  readonly responseFormat?: ResponseFormat;
  readonly limits: ReasoningLimits;
  /** Budgets that its model calls count in, beside those of the server. */
  readonly budgets?: readonly OwnBudget[];
  /** By default requests stay open for ever, and the loop goes on whatever the answer. */
  readonly waiting?: WaitingRules;
  /** Whether the model is asked to stream, so that followers see its message as it comes. */
  readonly isStreaming: boolean;
  /** The version of the loop that the run was started with, one of `LOOP_VERSIONS`; the current one when left out. */
  readonly loopVersion?: number;
}

/** How the loop ended. The messages are this run's turn: the input first, every call with exactly one result. */
export type ReasoningOutcome =
  | {
      readonly kind: 'ended';
      readonly finishReason: RunFinishReason;
      readonly text: string;
      /** The answer's value, where it has a format; only with the finish reason `stop`. */
      readonly output?: unknown;
      readonly iterations: number;
      readonly usage: RunUsage;
      readonly model: string;
      readonly messages: readonly Message[];
      /** What the runs took that it called; not in `usage`. */
      readonly childrenUsage?: RunUsage;
      /** Who gave the answer, when the run was handed over. */
      readonly answeredBy?: AnsweredBy;
      /** Whether the turn, or what the run saw before, holds what strangers wrote. */
      readonly isTainted: boolean;
      /** Why it failed; only with the finish reasons `timeout` and `error`. */
      readonly failure?: RunFailure;
      /** The stateful tools that it called. */
      readonly stateful: Iterable<Tool>;
    }
  | { readonly kind: 'waiting'; readonly requests: readonly WaitingRequest[] };

/** Who hears a streamed message as it comes. */
export interface ReplyListener {
  /** @returns what to wait for before more of the reply is read; `null` when nothing holds it up */
  readonly onText: (text: string) => Promise<void> | null;
  /** What came so far is void: the message begins anew. */
  readonly onRestart: () => void;
}

/** Which replies a cache may give and store. */
export type CacheOptions = Pick<CallOptions, 'isFresh' | 'accepts'>;

/** How a loop that still runs may end. */
export type LoopEnd =
  | { readonly kind: 'answered'; readonly finishReason: RunFinishReason }
  | { readonly kind: 'waiting'; readonly requests: readonly WaitingRequest[] };

/** The loop's state; each processor reads what the ones before it wrote. */
export interface Loop {
  readonly request: ReasoningRequest;
  /** The version of the loop that the run was started with: it replays in the form of that version. */
  readonly version: number;
  readonly protocol: Protocol;
  readonly run: RunContext;
  readonly tools: ReadonlyMap<string, Tool>;
  /** Those that the model is not told of. */
  readonly deniedTools: ReadonlyMap<string, Tool>;
  /** Whether the model has read what strangers wrote. */
  isTainted: boolean;
  /** Whether it will have, once it sees the results of the current reply's calls; set by execute-tools. */
  isReadingStrangers: boolean;
  /** This run's messages; grows. */
  readonly turn: Message[];
  /** The number of messages of the turn that a model has accepted in a request; set by tee-stream. */
  acceptedMessages: number;
  /** Whether the provider has refused images of the history in this run; set by tee-stream. */
  areEarlierImagesRefused: boolean;
  /** Of what tools show in the turn, together. */
  readonly maxImageBytes: number;
  usage: RunUsage;
  /** The turn of the loop, counted from 1. */
  iteration: number;
  /** Model calls so far, set by tee-stream. */
  modelCalls: number;
  /** The model that answered last. */
  model: string;
  /** Set by prepare-tools. */
  instructions: string;
  /** Set by ask-model: asks, when called, for the model step at this place. */
  ask: ((listener: ReplyListener, place: string, cache: CacheOptions) => Promise<ChatResult>) | null;
  /** What was wrong with the answers to the current request, for the model: its words and ours; set by tee-stream. */
  corrections: readonly Message[];
  /** Corrections of the answer's format so far; each is a model call within `maxIterations`. */
  repairs: number;
  /** The value of the current reply, where it is the answer and has a format; set by tee-stream. */
  output: { readonly value: unknown } | null;
  /** Set by tee-stream. */
  reply: ChatResult | null;
  /** The reply as the protocol reads it, set by tee-stream; extract-calls puts a person's edits into its `calls`. */
  decoded: DecodedReply | null;
  /** Set by execute-tools. */
  replyPlan: ReplyPlan;
  /** Aborted with the run, and when a call of the current reply ends the run; set by execute-tools. */
  signal: AbortSignal;
  /** The calls of the current reply whose tool or agent was started in this execution, by index. */
  started: Set<number>;
  /** Results of the current reply's calls so far, by the calls' index. */
  results: Map<number, ToolResult>;
  /** What the runs took that were calls of this one, set by execute-tools. */
  childrenUsage: RunUsage | null;
  /** The run that the conversation was handed over to, once it has answered, set by execute-tools. */
  handedTo: (CalledRun & { readonly answer: HandedAnswer }) | null;
  /** Stateful tools that this run has called, set by execute-tools. */
  readonly stateful: Set<Tool>;
  /** Calls of this run that failed, by name and arguments, set by execute-tools. */
  readonly failed: Set<string>;
  /** What calls of the current reply wait for, by the calls' index, set by execute-tools. */
  waiting: ReadonlyMap<number, WaitingRequest>;
  /** Set by the processor that ends the loop. */
  end: LoopEnd | null;
}

/** What a call must know of the loop that makes it; a loop around one call has no more than this. */
export type CallLoop = Pick<
  Loop,
  | 'run'
  | 'version'
  | 'tools'
  | 'deniedTools'
  | 'replyPlan'
  | 'started'
  | 'signal'
  | 'iteration'
  | 'repairs'
  | 'failed'
  | 'stateful'
  | 'isTainted'
  | 'isReadingStrangers'
> & {
  readonly request: Pick<ReasoningRequest, 'agent' | 'rules' | 'limits' | 'waiting' | 'budgets'>;
};
