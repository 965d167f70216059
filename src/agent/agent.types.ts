import type { RunFailure, RunFinishReason, RunStatus, RunUsage } from '../run/index.js';

/** What is asked of an agent. */
export interface AgentRequest {
  readonly query: string;
  /** A new session when left out. */
  readonly sessionId?: string;
  /** The default agent when left out. */
  readonly agent?: string;
  /** Whether the model is asked to stream, for followers to see its message as it comes. */
  readonly isStreaming?: boolean;
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
  readonly result?: unknown;
  readonly error?: string;
  readonly execution_time_ms: number;
}

/** What came of a run: the fold of its events; wire form. */
export interface RunAnswer {
  readonly run_id: string;
  readonly session_id: string | null;
  readonly agent: string;
  readonly status: RunStatus;
  readonly result: string;
  readonly iterations: number;
  readonly duration_ms: number;
  readonly is_complete: boolean;
  readonly finish_reason: RunFinishReason | null;
  readonly usage: RunUsage;
  readonly model: string;
  readonly steps: AgentStep[];
  readonly tool_results: AnsweredTool[];
  readonly error?: RunFailure;
}
