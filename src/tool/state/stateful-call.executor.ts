import { AppError, messageOf } from '../../common/index.js';
import type { StepCompanion } from '../../run/index.js';
import { IllustratedResult } from '../illustrated-result.factory.js';
import type { ContextDraft } from './context-draft.builder.js';
import { applyChange, type CallEnd, type StateChange } from './state-change.mapper.js';
import type { StateHome } from './homes/state-home.js';
import { toData } from './state-data.mapper.js';
import { ToolStateHandle, type WantedChange } from './tool-state-handle.factory.js';
import type { ContextKey, StateData, StatePolicy } from './tool-state.types.js';

/** What a stateful call left behind, for the step that records it. */
export interface KeptState {
  readonly companion: StepCompanion;
  /** Only when the business state or the session's changed. */
  readonly changed?: ChangedState;
}

/** A state after a call, as the journal holds it. */
export interface RecordedState {
  readonly version: number;
  readonly data: StateData;
}

/** What a call has changed, as the journal holds it with the call's result: first of all the business state. */
export interface ChangedState extends Partial<RecordedState> {
  readonly context_id: string;
  /** The session's state; `null` when the call has forgotten it. `expires_at` is epoch ms. */
  readonly session?: (RecordedState & { readonly expires_at: number | null }) | null;
}

/** The call as its context remembers it. */
export interface StatefulCallSite {
  /** The call's key. */
  readonly id: string;
  readonly key: ContextKey;
  readonly isOfRun: boolean;
  /** The id of who calls. */
  readonly user: string;
  readonly about: StateData;
  /** Whether what it returns is another's words, so that a `state` in it is no change of this one. */
  readonly isStrangers: boolean;
}

/** The context of a call. */
export interface FoundContext {
  /** As it was found. */
  readonly found: () => ContextDraft;
  /** As it is now. */
  readonly look: () => Promise<ContextDraft>;
}

/** What a call begins with. */
export interface CallStart {
  /** The business state where there is none. */
  readonly initial: StateData;
  readonly isSavedAlone: boolean;
}

/** One call of a stateful tool: opened before the tool is called, kept when its result is known. */
export class StatefulCall {
  readonly handle: ToolStateHandle;
  private readonly startedAt = Date.now();

  /**
   * @param home where the state is kept
   */
  constructor(
    private readonly home: StateHome,
    private readonly policy: StatePolicy,
    private readonly context: FoundContext,
    private readonly site: StatefulCallSite,
    { initial, isSavedAlone }: CallStart,
  ) {
    this.handle = new ToolStateHandle(context.found(), initial, isSavedAlone);
  }

  /**
   * What a tool returned without the `state` in it, which is laid over the business state.
   * @throws AppError `TOOL_INVALID_RESULT` when that is no JSON object
   */
  withoutState(returned: unknown): unknown {
    if (returned instanceof IllustratedResult) {
      return new IllustratedResult(this.withoutState(returned.result), returned.images);
    }
    if (this.site.isStrangers || !isPlainObject(returned) || !Object.hasOwn(returned, 'state')) return returned;
    const { state, ...result } = returned;
    if (state === undefined) return result;
    try {
      this.handle.lay(toData(state));
    } catch (cause) {
      throw new AppError(
        'TOOL_INVALID_RESULT',
        `The \`state\` that the tool returned is not a JSON object: ${messageOf(cause)}`,
        {
          cause,
        },
      );
    }
    return result;
  }

  /**
   * What the call has changed.
   * @throws AppError `TOOL_STATE_TOO_LARGE`, `TOOL_STATE_CONFLICT`: the call is to end with that instead, as `refuse` keeps it
   */
  async keep(outcome: CallEnd): Promise<KeptState> {
    this.handle.close();
    // Whoever overwrites need not know what.
    const draft = this.policy.conflict === 'last_write_wins' ? this.context.found() : await this.context.look();
    return this.change(draft, outcome, this.handle.kept(outcome.kind === 'success'));
  }

  /** That the call was, and nothing that it has changed. */
  refuse(outcome: CallEnd): KeptState {
    return this.change(this.context.found(), outcome, { sides: {} });
  }

  private change(draft: ContextDraft, outcome: CallEnd, wanted: WantedChange): KeptState {
    const before = draft.versionOf('business');
    const change: StateChange = {
      id: this.site.id,
      key: this.site.key,
      isOfRun: this.site.isOfRun,
      user: this.site.user,
      basedOn: this.handle.version,
      wanted,
      startedAt: this.startedAt,
      endedAt: Date.now(),
      call: this.site.about,
      outcome,
    };
    applyChange(draft, change);
    const companion = this.home.companion(change, this.policy, draft);
    const changed = {
      ...(draft.versionOf('business') !== before && businessIn(draft)),
      ...(wanted.sides.session && { session: sessionIn(draft) }),
    };
    return Object.keys(changed).length === 0
      ? { companion }
      : { companion, changed: { context_id: draft.id, ...changed } };
  }
}

function businessIn(draft: ContextDraft): RecordedState | null {
  const state = draft.get('business');
  return state && { version: state.version, data: state.data };
}

function sessionIn(draft: ContextDraft): NonNullable<ChangedState['session']> | null {
  const state = draft.get('session');
  return state && { version: state.version, data: state.data, expires_at: state.expiresAt };
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
