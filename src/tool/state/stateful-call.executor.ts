import { AppError } from '../../common/index.js';
import type { StepCompanion } from '../../run/index.js';
import type { ContextDraft } from './context-draft.builder.js';
import { applyChange, type CallEnd, type StateChange } from './state-change.mapper.js';
import type { StateHome } from './homes/state-home.js';
import { toData, ToolStateHandle } from './tool-state-handle.factory.js';
import type { ContextKey, StateData, StatePolicy } from './tool-state.types.js';

/** What a stateful call left behind, for the step that records it. */
export interface KeptState {
  readonly companion: StepCompanion;
  /** Only when the business state changed. */
  readonly changed?: ChangedState;
}

/** A business state after a call, as the journal holds it with the call's result. */
export interface ChangedState {
  readonly context_id: string;
  readonly version: number;
  readonly data: StateData;
}

/** The call as its context remembers it. */
export interface StatefulCallSite {
  /** The call's key. */
  readonly id: string;
  readonly key: ContextKey;
  readonly isOfRun: boolean;
  readonly about: StateData;
  /** Whether what it returns is another's words, so that a `state` in it is no change of this one. */
  readonly isStrangers: boolean;
}

/** One call of a stateful tool: opened before the tool is called, kept when its result is known. */
export class StatefulCall {
  readonly handle: ToolStateHandle;
  private readonly startedAt = Date.now();

  /**
   * @param home where the state is kept
   * @param newDraft gives the context as it was found
   */
  constructor(
    private readonly home: StateHome,
    private readonly policy: StatePolicy,
    private readonly newDraft: () => ContextDraft,
    private readonly site: StatefulCallSite,
    initial: StateData,
    isSavedAlone: boolean,
  ) {
    this.handle = new ToolStateHandle(newDraft(), initial, isSavedAlone);
  }

  /**
   * What a tool returned without the `state` in it, which is laid over the business state.
   * @throws AppError `TOOL_INVALID_RESULT` when that is no JSON object
   */
  withoutState(returned: unknown): unknown {
    if (this.site.isStrangers || !isPlainObject(returned) || !Object.hasOwn(returned, 'state')) return returned;
    const { state, ...result } = returned;
    if (state === undefined) return result;
    try {
      this.handle.update(toData(state));
    } catch (cause) {
      throw new AppError('TOOL_INVALID_RESULT', 'The `state` that the tool returned is not a JSON object.', { cause });
    }
    return result;
  }

  /** @throws AppError `TOOL_STATE_TOO_LARGE`, `TOOL_STATE_CONFLICT`: the call is to end with that instead */
  keep(outcome: CallEnd): KeptState {
    const draft = this.newDraft();
    const change: StateChange = {
      id: this.site.id,
      seq: draft.lastChange + 1,
      key: this.site.key,
      isOfRun: this.site.isOfRun,
      basedOn: this.handle.version,
      wanted: this.handle.kept(outcome.kind === 'success'),
      startedAt: this.startedAt,
      endedAt: Date.now(),
      call: this.site.about,
      outcome,
    };
    applyChange(draft, change);
    const business = change.wanted.business && draft.get('business');
    return {
      companion: this.home.companion(change, this.policy, draft),
      ...(business && {
        changed: { context_id: draft.id, version: business.version, data: business.data },
      }),
    };
  }
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
