import { AppError } from '../../errors/index.js';
import type { CallSite, Tool } from '../tool.types.js';
import type { CallEnd, ChangedState, StoredState } from './stored-state.types.js';
import type { HeldToolState } from './tool-state.types.js';

/** The fields of a call that its state needs. */
export type StateSite = Pick<CallSite, 'principal' | 'sessionId' | 'runId' | 'callId' | 'key' | 'facts' | 'learn'>;

/** The fields of a run that its states need. */
export type StateRun = Pick<StateSite, 'principal' | 'sessionId' | 'runId'>;

/** One call of a stateful tool: opened before the call, recorded with its result. */
export interface StatefulCall {
  readonly handle: HeldToolState;
  /**
   * Removes `state` from the return value and merges it into the business state.
   * @throws AppError `TOOL_INVALID_RESULT` for a `state` that is not a JSON object
   */
  withoutState(returned: unknown): unknown;
  /**
   * Creates the change of the call.
   * @throws AppError `TOOL_STATE_TOO_LARGE`, `TOOL_STATE_CONFLICT`: the call must then fail, recorded by `recordFailed`
   */
  record(outcome: CallEnd): Promise<StoredState>;
  /** Records the call without its state changes. */
  recordFailed(outcome: CallEnd): StoredState;
}

/** Receives the id of a closed context. */
export type ContextListener = (contextId: string) => void;

/** Port to the stored states of stateful tools. */
export abstract class StatefulCalls {
  /** Names of the application's own state managers. */
  readonly ownManagers: ReadonlySet<string> = new Set();

  /**
   * Opens a tool's state for one call.
   * @param input `undefined` if unknown, as in a reconciliation
   * @throws AppError `TOOL_STATE_LIMIT`, `TOOL_STATE_UNAVAILABLE`, and errors of the tool's `initial`
   */
  abstract open(tool: Tool, input: unknown, site: StateSite): Promise<StatefulCall>;

  /** Reapplies the business-state change of a recorded call, if the storage ended with its process. */
  abstract replayed(tool: Tool, site: StateSite, changed: ChangedState): Promise<void>;

  /**
   * Executes a call outside of a run, after active calls of the same context. Its state change is stored with the
   * outcome. Without a session the state ends with the call.
   * @throws AppError as `open`, `TOOL_STATE_TOO_LARGE`, `TOOL_STATE_CONFLICT`, and errors of the call
   */
  abstract callAlone(
    tool: Tool,
    input: unknown,
    site: StateSite,
    make: (call: StatefulCall) => Promise<unknown>,
  ): Promise<unknown>;

  /** Deletes the state of a tool in a session, or in a run without a session. Returns whether it existed. */
  abstract cleanup(tool: Tool, run: StateRun): Promise<boolean>;

  /** Registers a listener for closed contexts; returns a function that removes it. */
  abstract onClosed(listener: ContextListener): () => void;
}

/** The default without stored states: calls of stateful tools fail. */
class NoStatefulCalls extends StatefulCalls {
  async open(tool: Tool): Promise<never> {
    throw withoutStorage(tool);
  }

  async replayed(): Promise<void> {}

  async callAlone(tool: Tool): Promise<never> {
    throw withoutStorage(tool);
  }

  async cleanup(): Promise<boolean> {
    return false;
  }

  onClosed(): () => void {
    return () => undefined;
  }
}

export const NO_STATEFUL_CALLS: StatefulCalls = new NoStatefulCalls();

function withoutStorage({ definition: { name } }: Tool): AppError {
  const message = `Tool "${name}" is stateful, and no storage of states is set up: call it in an application.`;
  return new AppError('TOOL_STATE_UNAVAILABLE', message, { details: { tool: name } });
}
