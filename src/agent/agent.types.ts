import type {
  Message,
  ModelParameters,
  OwnBudget,
  ParameterName,
  ResponseFormat,
  ToolChoice,
} from '../llm/chat/index.js';
import type { ClientWait, IdempotentRequest } from '../run/index.js';
import type { DataFact } from '../run/facts/index.js';
import type { ClientTool } from './offered-tools.service.js';
import type { GivenFormat } from './answer/response-format.mapper.js';

/** An image: an https URL, or a base64 data URI of a PNG, JPEG, GIF or WebP. */
export interface GivenImage {
  readonly url: string;
}

/** The part of a conversation that the client of a request keeps, not a session. */
export interface GivenConversation {
  /** Follow the instructions of the agent. */
  readonly instructions?: string;
  /** Earlier messages, oldest first; absent if the run has a session. */
  readonly history?: readonly Message[];
  /** Whether the last message of the history, a tool result, takes the place of the question. */
  readonly isContinued?: true;
  /** Whether the history contains tool results that this server cannot attribute: they are untrusted and private. */
  readonly hasForeignResults?: true;
  /** Facts of the data in the history, as of an earlier run. */
  readonly facts?: readonly DataFact[];
  /** Members of the request that the answers of its protocol repeat. */
  readonly request?: Readonly<Record<string, unknown>>;
  /** Number and hash of the messages of the request, by which a later request with results finds the run. */
  readonly messages?: { readonly count: number; readonly hash: string };
}

/** Overrides of a request to the agent's definition. */
export interface RequestOverrides {
  readonly model?: { readonly provider: string; readonly name: string };
  /** Tool-call protocol, if that model does not support the agent's own. */
  readonly protocol?: string;
  /** Override those of the definition. */
  readonly parameters?: ModelParameters;
  readonly toolChoice?: ToolChoice;
  readonly responseFormat?: ResponseFormat;
  /** Images beside the question. */
  readonly images?: readonly GivenImage[];
}

/** The input of an agent run, as the journal stores it. */
export interface AgentRunInput extends RequestOverrides {
  readonly query: string;
  /** Whether the query contains untrusted content, as its caller states. */
  readonly isTainted?: true;
  /** Facts of the data in the context of the calling run. */
  readonly facts?: readonly DataFact[];
  /** Kinds of content that were masked in the query. */
  readonly masked?: readonly string[];
  readonly isStreaming: boolean;
  /** Whether the run creates its session, which then has no history to load. */
  readonly isNewSession: boolean;
  /** Session whose history it reads, if not its own: after a handoff, the session of the parent run. */
  readonly historyOf?: string;
  /** Maximum tokens of the run and its child runs, as its client states; the agent's own limit also applies. */
  readonly budgetTokens?: number;
  /** Budgets of parent runs that also count its model calls. */
  readonly heldTo?: readonly OwnBudget[];
  /** Of an llm node only, which uses Chat Completions: parameters of the definition that no user set. */
  readonly optionalParameters?: readonly ParameterName[];
  /** Stored with the question. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Numbers of earlier turns that the question refers to. */
  readonly references?: readonly number[];
  readonly conversation?: GivenConversation;
  /** Tools that the client executes. */
  readonly clientTools?: readonly ClientTool[];
}

/** A request to an agent. */
export interface AgentRequest {
  readonly query: string;
  /** The query contains untrusted content (a mail, a web page): calls may then wait by the rule of three facts. */
  readonly isTainted?: boolean;
  /** Default: a new session. */
  readonly sessionId?: string;
  /** Default: the default agent. */
  readonly agent?: string;
  /** Stored with the question; not sent to models. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Numbers of earlier turns that the question refers to; the policy `lru` retains them longer. */
  readonly references?: readonly number[];
  /** Another model of the agent's provider by name, or of another provider as `provider:name`. */
  readonly model?: string;
  /** Override the agent's. */
  readonly parameters?: ModelParameters;
  /** Tool choice of the first model call; by default the model decides. `none`: the model receives no tools. */
  readonly toolChoice?: ToolChoice;
  /** Format of the final answer, instead of the agent's: `json`, or a schema. */
  readonly responseFormat?: GivenFormat;
  /** Images beside the question. */
  readonly images?: readonly GivenImage[];
  /** The part of the conversation that the client keeps. With a history, the run has no session. */
  readonly conversation?: GivenConversation;
  /** Tools that the client executes; they replace tools of the agent with the same names. */
  readonly clientTools?: readonly ClientTool[];
  /** Omits parameters that the model does not support; by default they are errors. */
  readonly isLenient?: boolean;
  /** Whether the model streams, so that followers receive message deltas. */
  readonly isStreaming?: boolean;
  /** Repeated requests with the same key return the same run. */
  readonly idempotency?: IdempotentRequest;
  /** Maximum tokens of the run and its child runs, in addition to the budgets of the agent and the server. */
  readonly budgetTokens?: number;
  /** Time to the run's deadline, in ms; the run then ends, whatever its status. */
  readonly deadlineMs?: number;
  /** Set if a client of an HTTP request waits: its wait for capacity is limited by `RUN_QUEUE_WAIT_MS` and the deadline. */
  readonly wait?: Pick<ClientWait, 'signal'> | undefined;
}

/** An agent request that runs in the background. */
export interface BackgroundRequest extends AgentRequest {
  /** 0 (default) to 9; among queued runs, the higher priority starts first. */
  readonly priority?: number;
}
