import type { StepCompanion } from '../../run/context/index.js';
import type { StateData } from './tool-state.types.js';

/** Outcome of a call, for its context's history. */
export type CallEnd =
  | { readonly kind: 'success'; readonly detail: StateData }
  | { readonly kind: 'error'; readonly error: string; readonly detail: StateData };

/** State change of a call, for the step that records it. */
export interface StoredState {
  readonly companion: StepCompanion;
  /** Only if the business or session state changed. */
  readonly changed?: ChangedState;
}

/** A state in the journal. */
export interface RecordedState {
  readonly version: number;
  readonly data: StateData;
}

/** State changes of a call, journaled with its result: the business state, and perhaps the session state. */
export interface ChangedState extends Partial<RecordedState> {
  readonly context_id: string;
  /** Session state; `null` if the call deleted it. `expires_at` is epoch ms. */
  readonly session?: (RecordedState & { readonly expires_at: number | null }) | null;
}
