import type { ModelParameters, OwnBudget, ResponseFormat, ToolChoice } from '../llm/index.js';
import type {
  AnsweredBy,
  IdempotentRequest,
  MemoryState,
  NodeCompleted,
  NodeKind,
  RunFailure,
  RunFinishReason,
  RunStatus,
  RunUsage,
  ToldImage,
  WaitingRequest,
} from '../run/index.js';
import type { GivenFormat } from './response-format.mapper.js';

/** A picture: an https URL, or a data URI of a PNG, JPEG, GIF or WebP in base64. */
export interface GivenImage {
  readonly url: string;
}

/** What a request wants otherwise than the agent's definition says. */
export interface AskedChanges {
  readonly model?: { readonly provider: string; readonly name: string };
  /** How tools are written for that model, where the agent's own way is not one of its. */
  readonly protocol?: string;
  /** They win over those of the definition. */
  readonly parameters?: ModelParameters;
  readonly toolChoice?: ToolChoice;
  readonly responseFormat?: ResponseFormat;
  /** What the user shows beside the question. */
  readonly images?: readonly GivenImage[];
}

/** The input of an agent's run, as the journal holds it. */
export interface AgentRunInput extends AskedChanges {
  readonly query: string;
  /** Whether the query holds what strangers wrote. */
  readonly isTainted?: true;
  /** What kinds of content were masked in the query. */
  readonly masked?: readonly string[];
  readonly isStreaming: boolean;
  /** Whether the run begins its session, so that there is nothing to load. */
  readonly isNewSession: boolean;
  /** The session whose past it sees, when that is not its own: it answers for a run of that session. */
  readonly historyOf?: string;
  /** Budgets of the runs that called it, which its model calls count in too. */
  readonly heldTo?: readonly OwnBudget[];
  /** What the users keep with the question. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Earlier turns that the question refers to. */
  readonly references?: readonly number[];
}

/** What is asked of an agent. */
export interface AgentRequest {
  readonly query: string;
  /** Whether it holds what strangers wrote (a mail, a page): the run then carries nothing out without a person. */
  readonly isTainted?: boolean;
  /** A new session when left out. */
  readonly sessionId?: string;
  /** The default agent when left out. */
  readonly agent?: string;
  /** Kept with the question; no model sees it. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Numbers of earlier turns that the question refers to: with the policy `lru` they stay longer. */
  readonly references?: readonly number[];
  /** Another model of the agent's provider by its name, or one of another provider: `provider:name`. */
  readonly model?: string;
  /** They win over the agent's. */
  readonly parameters?: ModelParameters;
  /** Whether the model calls tools in its first reply; by default as it likes. `none`: it is told of none at all. */
  readonly toolChoice?: ToolChoice;
  /** What the final answer must be, instead of what the agent says: `json`, or a schema. */
  readonly responseFormat?: GivenFormat;
  /** What the user shows beside the question. */
  readonly images?: readonly GivenImage[];
  /** Whether the model is asked to stream, for followers to see its message as it comes. */
  readonly isStreaming?: boolean;
  /** Makes a repetition of the request the same run. */
  readonly idempotency?: IdempotentRequest;
}

/** What is asked of an agent by somebody who does not wait. */
export interface BackgroundRequest extends AgentRequest {
  /** 0 (the default) to 9: of runs that wait for their turn, the higher goes first. */
  readonly priority?: number;
  /** Milliseconds from now after which the run ends, whatever it does or waits for. */
  readonly deadlineMs?: number;
}

/** What an agent did in one place of its loop; wire form. */
export interface AgentStep {
  readonly iteration: number;
  readonly thought: string;
  /** A tool's name, or `finish`. */
  readonly action: string;
  /** The tool's arguments; `null` for `finish`. */
  readonly action_input: unknown;
  readonly is_finished: boolean;
}

/** A tool's result as the API tells it. */
export interface AnsweredTool {
  readonly tool: string;
  readonly success: boolean;
  /** Left out in a workflow's run where it is the output of a node. */
  readonly result?: unknown;
  /** The node of a workflow that made the call. */
  readonly node?: string;
  /** Bytes of a result (UTF-8 JSON) that is too large to be in the answer. */
  readonly result_bytes?: number;
  /** Where such a result can be read. */
  readonly result_url?: string;
  /** Of what it shows beside its text; only when it shows something. */
  readonly images?: ToldImage[];
  /** The number of its other images: too many, too large, or no PNG, JPEG, GIF or WebP. */
  readonly images_left_out?: number;
  readonly error?: string;
  readonly execution_time_ms: number;
  /** The run that the call was, where it was one. */
  readonly child_run_id?: string;
}

/** What came of a node of a workflow; wire form. */
export interface AnsweredNode {
  /** The node's id; `<id>/<n>` for the n-th item of a map, counted from 1. */
  readonly node: string;
  readonly kind: NodeKind;
  /** `skipped`: no way led there. */
  readonly status: 'running' | NodeCompleted['status'];
  readonly output?: unknown;
  /** Bytes of an output (UTF-8 JSON) that is too large to be in the answer. */
  readonly output_bytes?: number;
  /** Where the node can be read with such an output. */
  readonly output_url?: string;
  readonly error?: RunFailure;
  /** Where a branch went on. */
  readonly next?: string[];
  /** The run that the node was, where it was one. */
  readonly child_run_id?: string;
}

/** What came of a run: the fold of its events; wire form. */
export interface RunAnswer {
  readonly run_id: string;
  readonly session_id: string | null;
  readonly agent: string;
  readonly status: RunStatus;
  readonly result: string;
  /** The answer's value, where it has a format. */
  readonly output?: unknown;
  readonly iterations: number;
  readonly duration_ms: number;
  readonly is_complete: boolean;
  readonly finish_reason: RunFinishReason | null;
  readonly usage: RunUsage;
  readonly model: string;
  /** What the runs took that it called, and those that they called; not in `usage`. */
  readonly children_usage?: RunUsage;
  /** Who gave the answer, when the run was handed over. */
  readonly answered_by?: AnsweredBy;
  readonly memory_state?: MemoryState;
  readonly steps: AgentStep[];
  readonly tool_results: AnsweredTool[];
  /** Of a workflow's run: its nodes so far, in the order in which they began. */
  readonly nodes?: AnsweredNode[];
  readonly error?: RunFailure;
  /** The run that called it. */
  readonly parent_run_id?: string;
  /** Runs that it has called, in the order in which they began; only of one that has. */
  readonly child_run_ids?: string[];
  /** The run that it is a fork of. */
  readonly forked_from?: string;
  /** What must be decided before it goes on; only while it waits. */
  readonly waiting?: WaitingRequest[];
}
