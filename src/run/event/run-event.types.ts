import type { RunUsage } from '../usage/run-usage.types.js';
import type { DataFact } from '../facts/data-facts.js';
import type { PublishedFile } from '../files/run-file.types.js';
import type { PublishedImage } from '../files/published-image.types.js';
import type { RunFailure } from './run-failure.types.js';
import type { NodeCompleted, NodeStarted } from './node-event.types.js';
import type { ApprovalReference } from '../decision/decision.types.js';
import type { WaitingKind, WaitingRequest } from '../decision/waiting-request.types.js';
import type { ContextCompacted, MemoryState } from './memory-state.types.js';

export type { RunUsage };

export const NO_USAGE: RunUsage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

/** Why a run ended; an API value. */
export type RunFinishReason =
  'stop' | 'length' | 'content_filter' | 'iteration_limit' | 'timeout' | 'cancelled' | 'error';

/** The common fields of all terminal events. */
export interface RunResult {
  /** The answer's text; the last text when the run ended early. */
  readonly result: string;
  /** The answer as a JSON value if it has an output format, only for a complete run; the output of a workflow. */
  readonly output?: unknown;
  readonly finish_reason: RunFinishReason;
  readonly is_complete: boolean;
  readonly iterations: number;
  readonly usage: RunUsage;
  /** The model of the last reply; the requested model if there was no reply. */
  readonly model: string;
  /** Set if the run, or the part of the session it received, contains untrusted content. */
  readonly is_tainted?: true;
  /** Facts of the data that the run has read, with their sources. */
  readonly data_facts?: readonly DataFact[];
  /** Usage of all descendant runs; not included in `usage`. */
  readonly children_usage?: RunUsage;
  /** The agent that answered, after a handoff. */
  readonly answered_by?: AnsweredBy;
  /** Only of a run that loaded its session. */
  readonly memory_state?: MemoryState;
}

/** Another agent and its run. */
export interface AnsweredBy {
  readonly agent: string;
  readonly run_id: string;
}

export interface RunStarted {
  readonly type: 'run.started';
  readonly run_id: string;
  readonly session_id: string | null;
  readonly agent: string;
  /** The calling run. */
  readonly parent_run_id?: string;
  /** Selected MCP servers that are not connected: the run has no tools of them. */
  readonly missing_mcp_servers?: readonly string[];
}
export interface RunResumed {
  readonly type: 'run.resumed';
  readonly run_id: string;
  readonly attempt: number;
}
export interface RunWaiting {
  readonly type: 'run.waiting';
  readonly run_id: string;
  /** The kind of the first request. */
  readonly reason: WaitingKind;
  readonly requests: readonly WaitingRequest[];
}
/** Outcome of a human decision request; with `approved`, the approval may cover later calls. */
export interface PolicyDecided extends Partial<ApprovalReference> {
  readonly type: 'policy.decided';
  readonly run_id: string;
  readonly request_id: string;
  readonly call_id: string;
  readonly tool: string;
  readonly decision: 'approved' | 'denied' | 'answered' | 'settled' | 'released' | 'expired';
  /** The id of the principal who decided; `null` for an expiry, and for an outcome that another process reported. */
  readonly by: string | null;
  /** The reason of a denial. */
  readonly reason?: string;
  /** Whether a person changed the arguments of the call; with `approved` only. */
  readonly arguments_edited?: boolean;
}
/** The automatic decision of a configured policy on a call, a result or a text, or of an earlier approval; without the content. */
export interface PolicyApplied extends Partial<ApprovalReference> {
  readonly type: 'policy.decided';
  /** The policy's name: `tools`, `arguments`, `rate-limit`, `taint`, `content`, or one of the application's own. */
  readonly policy: string;
  readonly on: 'call' | 'input' | 'result' | 'output';
  readonly decision: 'allowed' | 'approval' | 'denied' | 'limited' | 'masked' | 'blocked';
  /** 0 for the input. */
  readonly iteration: number;
  readonly call_id?: string;
  readonly tool?: string;
  readonly reason?: string;
  /** The kinds of content that were masked or blocked; with the policy `content` only. */
  readonly found?: readonly string[];
  /** When the limit resets, epoch ms; with `limited` only. */
  readonly resets_at?: number;
}
export interface RunCompleted extends RunResult {
  readonly type: 'run.completed';
  readonly run_id: string;
}
export interface RunFailed extends RunResult {
  readonly type: 'run.failed';
  readonly run_id: string;
  readonly error: RunFailure;
}
export interface RunCancelled extends RunResult {
  readonly type: 'run.cancelled';
  readonly run_id: string;
}
export interface StepStarted {
  readonly type: 'step.started';
  readonly step: string;
}
export interface MessageDelta {
  readonly type: 'message.delta';
  readonly iteration: number;
  readonly text: string;
}
/** The model call is repeated: earlier deltas of this message are void, `text` is the text so far. */
export interface StepRestarted {
  readonly type: 'step.restarted';
  readonly iteration: number;
  readonly text: string;
}
export interface MessageCompleted {
  readonly type: 'message.completed';
  readonly iteration: number;
  readonly text: string;
  readonly finish_reason: string;
  readonly tool_calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  /** Duration of the model call with its retries, in ms; only of a reply of a model. */
  readonly execution_time_ms?: number;
  /** The author, if it is not the run's own agent. */
  readonly answered_by?: AnsweredBy;
}
export interface Thought {
  readonly type: 'thought';
  readonly iteration: number;
  readonly text: string;
}
export interface ToolStarted {
  readonly type: 'tool.started';
  readonly iteration: number;
  readonly call_id: string;
  readonly tool: string;
  /** The arguments as the model wrote them, or as a person edited them. */
  readonly arguments: string;
  /** The call's child run, if it has one. */
  readonly child_run_id?: string;
}
/** A call changed its tool's state; `GET /api/tool-states/:contextId` returns the new state. */
export interface StateChanged {
  readonly type: 'state.changed';
  readonly iteration: number;
  readonly call_id: string;
  readonly tool: string;
  readonly context_id: string;
}
export interface ToolCompleted {
  readonly type: 'tool.completed';
  readonly iteration: number;
  readonly call_id: string;
  readonly tool: string;
  readonly success: boolean;
  readonly result?: unknown;
  /** The original length in bytes (UTF-8); only of a truncated result. */
  readonly result_bytes?: number;
  /** Binary content of the result, which its text refers to as `[file 1: …]`. */
  readonly files?: readonly PublishedFile[];
  /** The images of the result. */
  readonly images?: readonly PublishedImage[];
  /** The number of its other images: too many, too large, or no PNG, JPEG, GIF or WebP. */
  readonly images_left_out?: number;
  readonly error?: string;
  readonly code?: string;
  readonly execution_time_ms: number;
  readonly child_run_id?: string;
}
/** Progress of a call, as reported by its tool. */
export interface ToolProgressed {
  readonly type: 'tool.progress';
  readonly iteration: number;
  readonly call_id: string;
  readonly tool: string;
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}
/** A model call failed, and the next model was called; both as `provider:model`. */
export interface ModelSwitched {
  readonly type: 'model.switched';
  readonly iteration: number;
  readonly from: string;
  readonly to: string;
  /** The error's code. */
  readonly code: string;
  /** Parameters that the next model does not support: they are not part of its request. */
  readonly dropped?: readonly string[];
}
/** The reply came from the cache. */
export interface ModelCached {
  readonly type: 'model.cached';
  readonly iteration: number;
  readonly model: string;
}
export interface UsageReported extends RunUsage {
  readonly type: 'usage';
  /** 0 for the summary of earlier turns, before the loop. */
  readonly iteration: number;
  readonly model: string;
  /** Only of a model call that the tool of this call made. */
  readonly call_id?: string;
  /** Duration of the call, with retries, in ms. Absent for a call outside the loop. */
  readonly execution_time_ms?: number;
  /** Time to the first text of a streamed reply, in ms. */
  readonly first_token_ms?: number;
}

/**
 * The run uses its history in a repaired form; the stored turns do not change. Either turns are damaged, and the run uses
 * their valid parts; or the provider refused a request with earlier images, and notes replace these.
 */
export interface HistoryRepaired {
  readonly type: 'history.repaired';
  readonly session_id: string | null;
  /** Numbers of the damaged turns; empty when only images were refused. */
  readonly turns: readonly number[];
  /** The iteration whose request was refused. */
  readonly iteration?: number;
  /** The number of images that notes replace. */
  readonly images?: number;
}

/** This server ends the stream before the run has ended; the client reconnects with its last event id. */
export interface StreamClosed {
  readonly type: 'stream.closed';
  readonly run_id: string;
  readonly code: string;
}

/** The end of a run; nothing follows it. */
export type TerminalEvent = RunCompleted | RunFailed | RunCancelled;

/** Recorded in the journal, numbered within the run. */
export type JournaledEvent =
  | RunStarted
  | RunResumed
  | RunWaiting
  | PolicyDecided
  | PolicyApplied
  | TerminalEvent
  | MessageCompleted
  | Thought
  | ToolStarted
  | ToolCompleted
  | StateChanged
  | NodeStarted
  | NodeCompleted
  | UsageReported
  | ModelSwitched
  | ModelCached
  | ContextCompacted
  | HistoryRepaired;

/** Not recorded: only for connected clients. */
export type LiveEvent = StepStarted | MessageDelta | StepRestarted | ToolProgressed | StreamClosed;

/** Everything a run publishes, in wire form; consumers switch over `type` exhaustively. */
export type RunEvent = JournaledEvent | LiveEvent;

const LIVE_TYPES: ReadonlySet<RunEvent['type']> = new Set<LiveEvent['type']>([
  'message.delta',
  'step.started',
  'step.restarted',
  'tool.progress',
  'stream.closed',
]);

export function isLive(event: RunEvent): event is LiveEvent {
  return LIVE_TYPES.has(event.type);
}

export function isTerminal(event: RunEvent): event is TerminalEvent {
  return event.type === 'run.completed' || event.type === 'run.failed' || event.type === 'run.cancelled';
}

/** Whether this event ends a stream of the run's events: no event follows until a person or the server acts. */
export function endsStream(event: RunEvent): boolean {
  return isTerminal(event) || event.type === 'run.waiting' || event.type === 'stream.closed';
}
