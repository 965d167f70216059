import type { ToldImage } from './told-image.types.js';
import type { NodeCompleted, NodeStarted } from './node-event.types.js';
import type { RunFailure } from './run-failure.types.js';
import type { WaitingKind, WaitingRequest } from './decision/waiting-request.types.js';
import type { MemoryState } from './memory-state.types.js';

/** Tokens as the provider counted them, summed over a run's model calls. */
export interface RunUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  /** Of the prompts: what the provider had read before, where it says so. */
  readonly cached_tokens?: number;
  /** Of the completions: what was thought and not said, where the provider says so. */
  readonly reasoning_tokens?: number;
  /** In the unit of `LLM_PRICES`: of the calls whose model has a price. */
  readonly cost?: number;
}

export const NO_USAGE: RunUsage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

/** Why a run ended; an API value. */
export type RunFinishReason =
  'stop' | 'length' | 'content_filter' | 'iteration_limit' | 'timeout' | 'cancelled' | 'error';

/** What every end of a run tells. */
export interface RunResult {
  /** The answer's text; what was reached, when the run ended early. */
  readonly result: string;
  /** The answer's value, as JSON, where it has a format: only of a run that is complete. */
  readonly output?: unknown;
  readonly finish_reason: RunFinishReason;
  readonly is_complete: boolean;
  readonly iterations: number;
  readonly usage: RunUsage;
  /** The model that answered last; the requested one, when none did. */
  readonly model: string;
  /** Whether it, or what it saw of its session, has read what strangers wrote; left out when not. */
  readonly is_tainted?: true;
  /** What the runs took that it called, and those that they called; not in `usage`. */
  readonly children_usage?: RunUsage;
  /** Who gave the answer, when the run was handed over. */
  readonly answered_by?: AnsweredBy;
  /** Only of a run that came so far as to look back. */
  readonly memory_state?: MemoryState;
}

/** Another agent, and its run. */
export interface AnsweredBy {
  readonly agent: string;
  readonly run_id: string;
}

export interface RunStarted {
  readonly type: 'run.started';
  readonly run_id: string;
  readonly session_id: string | null;
  readonly agent: string;
  /** The run that called it. */
  readonly parent_run_id?: string;
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
/** What became of a request that a run waited for. */
export interface PolicyDecided {
  readonly type: 'policy.decided';
  readonly run_id: string;
  readonly request_id: string;
  readonly call_id: string;
  readonly tool: string;
  readonly decision: 'approved' | 'denied' | 'answered' | 'settled' | 'expired';
  /** The id of the principal who decided; `null` when time did. */
  readonly by: string | null;
  /** Why it was denied. */
  readonly reason?: string;
  /** Whether the call is made with other arguments than the model wrote; with `approved` only. */
  readonly arguments_edited?: boolean;
}
/** What a configured policy decided by itself, about a call, a result or a text. It never tells what was found there. */
export interface PolicyApplied {
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
  /** What kinds of content were masked or stopped; with the policy `content` only. */
  readonly found?: readonly string[];
  /** When a limit has room again, epoch ms; with `limited` only. */
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
/** The model is asked anew: what was told of this message is void, `text` is what it says so far. */
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
  /** Who said it, when it was not the run's own agent. */
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
  /** The arguments as the model wrote them, or as a person has changed them. */
  readonly arguments: string;
  /** The run that the call is, where it is one. */
  readonly child_run_id?: string;
}
/** A call has changed its tool's state; what it is now, `GET /api/tool-states/:contextId` tells. */
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
  /** Only of a result that was cut: its length in bytes (UTF-8). */
  readonly result_bytes?: number;
  /** Of what it shows beside its text. */
  readonly images?: readonly ToldImage[];
  /** How many images more it had than a result may show. */
  readonly images_left_out?: number;
  readonly error?: string;
  readonly code?: string;
  readonly execution_time_ms: number;
  readonly child_run_id?: string;
}
/** How far a call has come, as its tool tells it. */
export interface ToolProgressed {
  readonly type: 'tool.progress';
  readonly iteration: number;
  readonly call_id: string;
  readonly tool: string;
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}
/** A model did not answer, and another one was asked; both as `provider:model`. */
export interface ModelSwitched {
  readonly type: 'model.switched';
  readonly iteration: number;
  readonly from: string;
  readonly to: string;
  /** Why: the error's code. */
  readonly code: string;
}
/** The reply was known from before: no model was asked. */
export interface ModelCached {
  readonly type: 'model.cached';
  readonly iteration: number;
  readonly model: string;
}
export interface UsageReported extends RunUsage {
  readonly type: 'usage';
  /** 0 is the summary of the session's past, before the loop. */
  readonly iteration: number;
  readonly model: string;
  /** Only of a model that the tool of this call asked. */
  readonly call_id?: string;
}

/** Turns of the session were damaged; the run was given them as far as they make sense, and what is stored stays. */
export interface HistoryRepaired {
  readonly type: 'history.repaired';
  readonly session_id: string;
  /** Their numbers. */
  readonly turns: readonly number[];
}

/** This server stops telling, though the run has not ended: come back with your last place. */
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
  | HistoryRepaired;

/** Only for those who are listening now. */
export type LiveEvent = StepStarted | MessageDelta | StepRestarted | ToolProgressed | StreamClosed;

/** Everything a run tells the world, in its wire form; consumers switch over `type` exhaustively. */
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

/** Whether a stream of the run's events ends with this one: nothing comes after it without somebody's doing. */
export function endsStream(event: RunEvent): boolean {
  return isTerminal(event) || event.type === 'run.waiting' || event.type === 'stream.closed';
}
