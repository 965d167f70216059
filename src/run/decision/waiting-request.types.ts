import type { JsonSchema } from '../../common/index.js';

/** What a run waits for: leave to make a call, an answer to its question, word of what became of it, or another run. */
export type WaitingKind = 'approval' | 'input' | 'outcome_unknown' | 'child';

/** One thing that must be decided before a call goes on: by a person, or, with the kind `child`, in the run that the call is; wire form. */
export interface WaitingRequest {
  /** Unique in the run: `approval:1:2`. */
  readonly id: string;
  readonly kind: WaitingKind;
  /** The step that waits: `tool:1:2`. */
  readonly step: string;
  readonly call_id: string;
  readonly tool: string;
  /** The call's arguments as they are written: JSON text. */
  readonly arguments: string;
  /** Why approval is wanted, or why nobody knows the outcome. */
  readonly reason?: string;
  /** What the tool asks; with the kind `input` only. */
  readonly question?: string;
  /** The JSON Schema of an answer; any JSON value without it. */
  readonly schema?: JsonSchema;
  /** The run that the call is; with the kind `child` only. */
  readonly child_run_id?: string;
  /** Epoch ms after which nobody's answer is waited for any more; `null` for never. */
  readonly expires_at: number | null;
}
