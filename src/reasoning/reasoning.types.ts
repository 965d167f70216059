import type { AppError } from '../errors/index.js';
import type {
  CallOptions,
  ChatModel,
  ChatResult,
  Message,
  ModelParameters,
  OwnBudget,
  ParameterName,
  ResponseFormat,
  ToolChoice,
} from '../llm/chat/index.js';
import type { Postponed } from '../run/index.js';
import type { RunContext, StepRequest } from '../run/context/index.js';
import type { WaitingRequest } from '../run/decision/index.js';
import type { AnsweredBy, CompactedState, RunFailure, RunFinishReason, RunUsage } from '../run/event/index.js';
import type { DataFact } from '../run/facts/index.js';
import type { ToolResult } from '../tool/index.js';
import type { AgentRules } from '../tool/decision/index.js';
import type { Tool } from '../tool/method/index.js';
import type { Compaction } from './loop/compaction.types.js';
import type { DeferredTools } from './loop/deferred-tools.js';
import type { ReplyPlan } from './loop/reply-plan.policy.js';
import type { DecodedReply, Protocol } from './protocols/protocol.js';

export interface ReasoningLimits {
  /** Maximum model calls of a run. */
  readonly maxIterations: number;
  /** Maximum size of one tool result, in UTF-8 bytes. */
  readonly maxResultBytes: number;
  /** Maximum depth of nested agent calls; 3 by default. */
  readonly maxDepth?: number;
  /** Maximum tools described to the model from the start; of more tools, some are deferred. By default none is. */
  readonly maxTools?: number;
  /** The same for the tokens of their schemas. */
  readonly maxToolTokens?: number;
}

/** A finished run that executed a call, as recorded in the journal. */
export interface CalledRun {
  readonly run_id: string;
  /** Usage of the run and of the runs below it. */
  readonly usage: RunUsage;
  /** Whether it has read untrusted content. Recorded by earlier versions; now in `facts`. */
  readonly is_tainted?: true;
  /** Facts of the data that it has read. */
  readonly facts?: readonly DataFact[];
  /** Its answer after a hand-off, which becomes the answer of the calling run. */
  readonly answer?: HandedAnswer;
}

/** The answer of another agent. */
export interface HandedAnswer {
  readonly agent: string;
  readonly text: string;
  readonly output?: unknown;
  readonly finish_reason: RunFinishReason;
  readonly model: string;
}

/** Rules for calls that wait for a person. */
export interface WaitingRules {
  /** Time until a request expires, in ms; `null` if it never expires. */
  readonly expiresMs: number | null;
  /** Whether the loop continues with the error of a denied call, or the run ends with that error. */
  readonly onDenied: 'continue' | 'end';
  readonly onExpired: 'continue' | 'end';
}

/** Input of the loop. */
export interface ReasoningRequest {
  /** The agent's name; `null` for a loop without an agent. */
  readonly agent: string | null;
  /** Restrictions of that agent, in addition to the global ones. */
  readonly rules?: AgentRules | undefined;
  readonly instructions: string;
  /** Earlier turns, oldest first. */
  readonly history: readonly Message[];
  /** The user's new message. */
  readonly input: Message;
  readonly model: ChatModel;
  readonly parameters?: ModelParameters;
  /** Parameters that no user set, as in a request to a model. */
  readonly optionalParameters?: readonly ParameterName[];
  readonly protocol: string;
  readonly tools: readonly Tool[];
  /** Names of tools that are deferred last: those that the agent's definition names. */
  readonly namedTools?: readonly string[];
  /** Whether the model calls tools by scripts. */
  readonly isCodeMode?: boolean;
  /** Denied tools of the agent: not described to the model; a call of one is refused. */
  readonly deniedTools?: readonly Tool[];
  /** Facts of the data in the history and the input. */
  readonly facts?: readonly DataFact[];
  /** Tool that the first reply must call; none by default. */
  readonly toolChoice?: ToolChoice;
  /** Format of the final answer; any text by default. */
  readonly responseFormat?: ResponseFormat;
  readonly limits: ReasoningLimits;
  /** Context window of the model, in tokens; by default infinite: only a refusal of the provider compacts the run. */
  readonly contextTokens?: number;
  /** Budgets that its model calls count against, in addition to those of the server. */
  readonly budgets?: readonly OwnBudget[];
  /** By default requests never expire, and the loop continues after every decision. */
  readonly waiting?: WaitingRules;
  /** Whether replies are streamed, so that clients receive the text while the model writes it. */
  readonly isStreaming: boolean;
  /** The loop version of the recorded run, one of `LOOP_VERSIONS`; the current one by default. */
  readonly loopVersion?: number;
}

/** Outcome of the loop. The messages are this run's turn: the input first, every call with exactly one result. */
export type ReasoningOutcome =
  | {
      readonly kind: 'ended';
      readonly finishReason: RunFinishReason;
      readonly text: string;
      /** The parsed answer, if a format is required; only with the finish reason `stop`. */
      readonly output?: unknown;
      readonly iterations: number;
      readonly usage: RunUsage;
      readonly model: string;
      readonly messages: readonly Message[];
      /** Usage of its child runs; not included in `usage`. */
      readonly childrenUsage?: RunUsage;
      /** The agent that answered, after a hand-off. */
      readonly answeredBy?: AnsweredBy;
      /** Facts of the data in the turn and the earlier context. */
      readonly facts: readonly DataFact[];
      /** Reason of the failure; only with the finish reasons `timeout` and `error`. */
      readonly failure?: RunFailure;
      /** The parts that the last requests left out: results with a note in their place, and summarised messages. */
      readonly compacted?: CompactedState;
      /** The stateful tools that the run called. */
      readonly stateful: Iterable<Tool>;
    }
  | { readonly kind: 'waiting'; readonly requests: readonly WaitingRequest[] }
  | Postponed;

/** Receives the pieces of a streamed message. */
export interface ReplyListener {
  /** @returns a promise that delays reading the rest of the reply; `null` to continue at once */
  readonly onText: (text: string) => Promise<void> | null;
  /** The earlier text is void: the message restarts. */
  readonly onRestart: () => void;
  /** Called before each further request to a provider. */
  readonly onRetry: () => void;
  /** As `onRequest` of `CallOptions`. */
  readonly onRequest: (body: object, json?: string) => void;
}

/** Conditions for reading and storing replies in a cache. */
export type CacheOptions = Pick<CallOptions, 'isFresh' | 'accepts'>;

/** Possible ends of a loop that has not failed. */
export type LoopEnd =
  | { readonly kind: 'answered'; readonly finishReason: RunFinishReason }
  | { readonly kind: 'waiting'; readonly requests: readonly WaitingRequest[] };

/** State of the loop; each processor reads the fields that earlier processors wrote. */
export interface Loop {
  /** Its `tools` are those that the model knows; format-results appends the found ones. */
  request: ReasoningRequest;
  /** The version of the loop that the run was started with; a replay uses the format of that version. */
  readonly version: number;
  readonly protocol: Protocol;
  readonly run: RunContext;
  tools: ReadonlyMap<string, Tool>;
  /** The deferred tools, if any; set at the start. */
  deferred: DeferredTools | null;
  /** The parts that requests leave out; `null` while the turn fits the context window. */
  compaction: Compaction | null;
  /** The tool that reads left-out results, once there are any. */
  resultReader: Tool | null;
  /** The list of tools that the instructions describe, set by prepare-tools. */
  describedTools: readonly Tool[] | null;
  /** Tools that are not described to the model because a policy denies them. */
  readonly deniedTools: ReadonlyMap<string, Tool>;
  /** Facts of the data that the model has read. */
  facts: readonly DataFact[];
  /** Facts of the results of the current reply's calls; set by execute-tools. */
  reading: readonly DataFact[];
  /** The messages of this run so far. */
  readonly turn: Message[];
  /** The number of messages of the turn that a model has accepted in a request; set by tee-stream. */
  acceptedMessages: number;
  /** Whether the provider has refused images of the history in this run; set by tee-stream. */
  areEarlierImagesRefused: boolean;
  /** Maximum total size of the turn's tool images, in bytes. */
  readonly maxImageBytes: number;
  usage: RunUsage;
  /** The current iteration, counted from 1. */
  iteration: number;
  /** Model calls so far, set by tee-stream. */
  modelCalls: number;
  /** The model of the latest reply. */
  model: string;
  /** Set by prepare-tools. */
  instructions: string;
  /** The deferred model call of the step at this place, set by ask-model. */
  ask: ((listener: ReplyListener, place: string, cache: CacheOptions) => Promise<ChatResult>) | null;
  /** The request that `ask` would send; set by ask-model. */
  requestOf: ((place: string) => StepRequest) | null;
  /** Faulty answers to the current request, each with our correction for the model; set by tee-stream. */
  corrections: readonly Message[];
  /** Corrections of the answer's format so far; each is a model call within `maxIterations`. */
  repairs: number;
  /** The parsed value of the current reply, if it is an answer with a required format; set by tee-stream. */
  output: { readonly value: unknown } | null;
  /** Set by tee-stream. */
  reply: ChatResult | null;
  /** The reply as decoded by the protocol, set by tee-stream; extract-calls applies a person's edits to its `calls`. */
  decoded: DecodedReply | null;
  /** Set by execute-tools. */
  replyPlan: ReplyPlan;
  /** Aborted with the run, and when a call of the current reply ends the run; set by execute-tools. */
  signal: AbortSignal;
  /** The calls of the current reply whose tool or agent was started in this execution, by index. */
  started: Set<number>;
  /** Results of the current reply's calls so far, by the calls' index. */
  results: Map<number, ToolResult>;
  /** Usage of the child runs, set by execute-tools. */
  childrenUsage: RunUsage | null;
  /** The run that answered after a hand-off, set by execute-tools. */
  handedTo: (CalledRun & { readonly answer: HandedAnswer }) | null;
  /** Stateful tools that this run has called, set by execute-tools. */
  readonly stateful: Set<Tool>;
  /** Calls of this run that failed, by name and arguments, set by execute-tools. */
  readonly failed: Set<string>;
  /** Pending requests of the current reply's calls, by the calls' index, set by execute-tools. */
  waiting: ReadonlyMap<number, readonly WaitingRequest[]>;
  /** The outage that has postponed a child run of the current reply's calls, set by execute-tools. */
  outage: AppError | null;
  /** Set by the processor that ends the loop. */
  end: LoopEnd | null;
}

/** The parts of a loop that a call needs; a direct tool call has no others. */
export type CallLoop = Pick<
  Loop,
  | 'run'
  | 'version'
  | 'tools'
  | 'deniedTools'
  | 'deferred'
  | 'resultReader'
  | 'replyPlan'
  | 'started'
  | 'signal'
  | 'iteration'
  | 'repairs'
  | 'failed'
  | 'stateful'
  | 'facts'
  | 'reading'
> & {
  readonly request: Pick<ReasoningRequest, 'agent' | 'rules' | 'limits' | 'waiting' | 'budgets'>;
};
