/** Tools with states: their options, calls and stored states, for the state managers. */
export {
  assertChanges,
  toStateData,
  isOwnStateManager,
  type ConflictResolution,
  type StatefulOptions,
  type StateManagerName,
} from './stateful-options.policy.js';
export { StatefulCalls } from './stateful-calls.js';
export type { ContextListener, StatefulCall, StateRun, StateSite } from './stateful-calls.js';
export type { CallEnd, ChangedState, RecordedState, StoredState } from './stored-state.types.js';
export type { HeldToolState, SideStateType, StateData } from './tool-state.types.js';
export type { StateInjection } from './state-argument.policy.js';
