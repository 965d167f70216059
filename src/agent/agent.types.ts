import type { Message, ModelParameters, OwnBudget, ParameterName, ResponseFormat, ToolChoice } from '../llm/index.js';
import type {
  AnsweredBy,
  ClientWait,
  DataFact,
  IdempotentRequest,
  MemoryState,
  NodeCompleted,
  NodeKind,
  RunFailure,
  RunFinishReason,
  RunStatus,
  RunUsage,
  PublishedFile,
  PublishedImage,
  WaitingRequest,
} from '../run/index.js';
import type { ClientTool } from './offered-tools.service.js';
import type { GivenFormat } from './response-format.mapper.js';

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

/** One action of the agent's loop; wire form. */
export interface AgentStep {
  readonly iteration: number;
  readonly thought: string;
  /** A tool name, or `finish`. */
  readonly action: string;
  /** The tool's arguments; `null` for `finish`. */
  readonly action_input: unknown;
  readonly is_finished: boolean;
}

/** A tool result in the API's form. */
export interface AnsweredTool {
  readonly tool: string;
  readonly success: boolean;
  /** Omitted in a workflow run if it is the output of a node. */
  readonly result?: unknown;
  /** The workflow node that made the call. */
  readonly node?: string;
  /** Size of a result too large for the answer, in bytes of UTF-8 JSON. */
  readonly result_bytes?: number;
  /** URL of such a result. */
  readonly result_url?: string;
  /** Files that the result refers to; only if there are any. */
  readonly files?: PublishedFile[];
  /** Images of the result; only if there are any. */
  readonly images?: PublishedImage[];
  /** Number of omitted images: too many, too large, or not a PNG, JPEG, GIF or WebP. */
  readonly images_left_out?: number;
  readonly error?: string;
  readonly execution_time_ms: number;
  /** The child run, if the call started one. */
  readonly child_run_id?: string;
}

/** State of a workflow node; wire form. */
export interface AnsweredNode {
  /** The node's id; `<id>/<n>` for the n-th item of a map, counted from 1. */
  readonly node: string;
  readonly kind: NodeKind;
  /** `skipped`: no path led to the node. */
  readonly status: 'running' | NodeCompleted['status'];
  readonly output?: unknown;
  /** Size of an output too large for the answer, in bytes of UTF-8 JSON. */
  readonly output_bytes?: number;
  /** URL of the node with such an output. */
  readonly output_url?: string;
  readonly error?: RunFailure;
  /** Nodes that a branch selected. */
  readonly next?: string[];
  /** The child run, if the node started one. */
  readonly child_run_id?: string;
}

/** Answer of a run: the fold of its events; wire form. */
export interface RunAnswer {
  readonly run_id: string;
  readonly session_id: string | null;
  readonly agent: string;
  readonly status: RunStatus;
  readonly result: string;
  /** The answer's value, if the answer has a format. */
  readonly output?: unknown;
  readonly iterations: number;
  readonly duration_ms: number;
  readonly is_complete: boolean;
  readonly finish_reason: RunFinishReason | null;
  readonly usage: RunUsage;
  readonly model: string;
  /** Usage of all runs below this one; not included in `usage`. */
  readonly children_usage?: RunUsage;
  /** The agent that answered, after a handoff. */
  readonly answered_by?: AnsweredBy;
  readonly memory_state?: MemoryState;
  readonly steps: AgentStep[];
  readonly tool_results: AnsweredTool[];
  /** Nodes of a workflow run that have started, in start order. */
  readonly nodes?: AnsweredNode[];
  readonly error?: RunFailure;
  /** The run that called this one. */
  readonly parent_run_id?: string;
  /** Child runs, in start order; only if there are any. */
  readonly child_run_ids?: string[];
  /** The run that this one was forked from. */
  readonly forked_from?: string;
  /** Reason for which an accepted run is queued again; only while its provider is unavailable. */
  readonly queued_reason?: string;
  /** Time of its next attempt, epoch ms. */
  readonly next_attempt_at?: number;
  /** Open requests for a person; only while the run waits. */
  readonly waiting?: WaitingRequest[];
}
