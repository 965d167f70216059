import { AppError, messageOf } from '../../common/index.js';
import type { StepCompanion } from '../../run/index.js';
import { IllustratedResult } from '../illustrated-result.factory.js';
import type { ContextDraft } from './context-draft.builder.js';
import { applyChange, type CallEnd, type StateChange } from './state-change.mapper.js';
import type { StateBackend } from './backend/state-backend.js';
import { toData } from './state-data.mapper.js';
import { ToolStateHandle, type WantedChange } from './tool-state-handle.factory.js';
import type { ContextKey, StateData, StatePolicy } from './tool-state.types.js';

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

/** Data of a call, stored with its context. */
export interface StatefulCallSite {
  /** Key of the call. */
  readonly id: string;
  readonly key: ContextKey;
  readonly isOfRun: boolean;
  /** Principal id of the caller. */
  readonly user: string;
  readonly about: StateData;
  /** Whether the return value is foreign data: a `state` in it does not change the state. */
  readonly isStrangers: boolean;
}

/** The context of a call. */
export interface FoundContext {
  /** Draft of the context as loaded at the start. */
  readonly found: () => ContextDraft;
  /** Draft of the context as stored now. */
  readonly look: () => Promise<ContextDraft>;
}

/** Initial conditions of a call. */
export interface CallStart {
  /** Business state of a new context. */
  readonly initial: StateData;
  readonly isSavedAlone: boolean;
}

/** One call of a stateful tool: opened before the call, stored with its result. */
export class StatefulCall {
  readonly handle: ToolStateHandle;
  private readonly startedAt = Date.now();

  /** @param home backend of the state */
  constructor(
    private readonly home: StateBackend,
    private readonly policy: StatePolicy,
    private readonly context: FoundContext,
    private readonly site: StatefulCallSite,
    { initial, isSavedAlone }: CallStart,
  ) {
    this.handle = new ToolStateHandle(context.found(), initial, isSavedAlone);
  }

  /**
   * Removes `state` from the return value and merges it into the business state.
   * @throws AppError `TOOL_INVALID_RESULT` for a `state` that is not a JSON object
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
   * Creates the change of the call.
   * @throws AppError `TOOL_STATE_TOO_LARGE`, `TOOL_STATE_CONFLICT`: the call must then fail, recorded by `refuse`
   */
  async keep(outcome: CallEnd): Promise<StoredState> {
    this.handle.close();
    // With last-write-wins the currently stored state is irrelevant.
    const draft = this.policy.conflict === 'last_write_wins' ? this.context.found() : await this.context.look();
    return this.change(draft, outcome, this.handle.kept(outcome.kind === 'success'));
  }

  /** Records the call without its state changes. */
  refuse(outcome: CallEnd): StoredState {
    return this.change(this.context.found(), outcome, { sides: {} });
  }

  private change(draft: ContextDraft, outcome: CallEnd, wanted: WantedChange): StoredState {
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
