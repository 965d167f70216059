import type { MessageCompleted, RunEvent, ToolCompleted } from '../event/run-event.types.js';
import type { RecordedStep, RunRecord } from '../run.types.js';

/** A tool call in a model's message. */
export type CallMark = MessageCompleted['tool_calls'][number];

/** A recorded step without its result. Times are epoch ms. */
export interface StepMark {
  readonly name: string;
  readonly at: number;
}

/** A recorded event without its large parts. */
export interface EventMark {
  readonly n: number;
  readonly at: number;
  readonly type: string;
  /** `null` for an event of the whole run. */
  readonly iteration: number | null;
  /** `null` for an event without a call. */
  readonly callId: string | null;
  /** The tool calls of a completed message. */
  readonly calls: readonly CallMark[] | null;
  /** The call that the event starts; `null` for another event. */
  readonly started: CallMark | null;
}

/** The records of a run at one moment. */
export interface RunMarks {
  readonly steps: readonly StepMark[];
  readonly events: readonly EventMark[];
}

/** The copied part of a run: names of steps and numbers of events, in order. */
export interface RunPrefix {
  readonly steps: readonly string[];
  readonly events: readonly number[];
}

/** A valid fork. */
export interface ForkPlan {
  readonly original: RunRecord;
  readonly fromStep: string;
  readonly prefix: RunPrefix;
  /** Whether the prefix has model replies, which the new run replays. */
  readonly hasReplies: boolean;
  /** The call of `fromStep`; `null` if it has none. */
  readonly call: CallMark | null;
}

/** The outcome of a call, as recorded in its step. */
export type CallOutcome = Omit<ToolCompleted, 'type' | 'iteration' | 'call_id' | 'images'>;

/** A step recorded in the new run without execution, and its events. */
export interface GivenStep {
  readonly step: RecordedStep;
  readonly events: readonly RunEvent[];
}

/** The differences of the copy. */
export interface ForkEdits {
  /** The subject of the copied model steps in the new run: its model's name. */
  readonly modelSubject?: string;
  /** The outcome of the call of `fromStep`; the new run continues after it. */
  readonly callOutcome?: CallOutcome;
  /** The recorded step at `fromStep`, from a caller that knows such steps. */
  readonly given?: GivenStep;
}
