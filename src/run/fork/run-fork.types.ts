import type { MessageCompleted, RunEvent, ToolCompleted } from '../run-event.types.js';
import type { RecordedStep, RunRecord } from '../run.types.js';

/** A call as the model wrote it. */
export type CallMark = MessageCompleted['tool_calls'][number];

/** A recorded step without its result. Times are epoch ms. */
export interface StepMark {
  readonly name: string;
  readonly at: number;
}

/** A recorded event without what is large in it. */
export interface EventMark {
  readonly n: number;
  readonly at: number;
  readonly type: string;
  /** `null` for what is about the whole run. */
  readonly iteration: number | null;
  /** `null` for what is about no call. */
  readonly callId: string | null;
  /** Of a finished message: what it asks for. */
  readonly calls: readonly CallMark[] | null;
}

/** What a run has recorded at one moment. */
export interface RunMarks {
  readonly steps: readonly StepMark[];
  readonly events: readonly EventMark[];
}

/** What a fork takes along, by name and by number, in order. */
export interface RunPrefix {
  readonly steps: readonly string[];
  readonly events: readonly number[];
}

/** A fork that can be made. */
export interface ForkPlan {
  readonly original: RunRecord;
  readonly fromStep: string;
  readonly prefix: RunPrefix;
  /** Whether the prefix has replies of the model, which the new run reads again. */
  readonly hasReplies: boolean;
  /** The call that `fromStep` is about; `null` when it is about none. */
  readonly call: CallMark | null;
}

/** What came of a call, as its step records it. */
export type CallOutcome = Omit<ToolCompleted, 'type' | 'iteration' | 'call_id' | 'images'>;

/** A step that the new run has recorded without having done it, with what it tells. */
export interface GivenStep {
  readonly step: RecordedStep;
  readonly events: readonly RunEvent[];
}

/** What is recorded otherwise in the copy. */
export interface ForkEdits {
  /** What the copied model steps are about in the new run: the name of its model. */
  readonly modelSubject?: string;
  /** What the call of `fromStep` came to; the new run goes on after it. */
  readonly callOutcome?: CallOutcome;
  /** What the step came to that `fromStep` is about, for who knows such steps. */
  readonly given?: GivenStep;
}
