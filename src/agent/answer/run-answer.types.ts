import type { RunStatus } from '../../run/index.js';
import type { WaitingRequest } from '../../run/decision/index.js';
import type {
  AnsweredBy,
  MemoryState,
  NodeCompleted,
  NodeKind,
  RunFailure,
  RunFinishReason,
  RunUsage,
} from '../../run/event/index.js';
import type { PublishedFile, PublishedImage } from '../../run/files/index.js';

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
