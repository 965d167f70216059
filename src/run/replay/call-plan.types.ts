/** The decision of the present code about a recorded call, and the input that its tool would receive. */
export interface CallPlan {
  /** `tool:<iteration>:<call>`. */
  readonly step: string;
  readonly tool: string;
  /** JSON text; the arguments of the person who approved the call, if that person edited them. */
  readonly arguments: string;
  readonly decision: 'run' | 'approval' | 'rejected';
  /** Whether an approval for a run or a session may cover the call. */
  readonly isCoverable?: boolean;
  /** Code of the error of a rejected call. */
  readonly code?: string;
  /** Why the call needs approval or is rejected. */
  readonly reason?: string;
  /** The validated arguments; absent for a rejected call. */
  readonly input?: unknown;
}

/** Receives the decisions of the present code about the calls of a replayed run, and the outcomes of its nodes. */
export interface CallObserver {
  called(plan: CallPlan): void;
  /** @param step the step that records the outcome */
  settled(step: string, outcome: unknown): void;
}
