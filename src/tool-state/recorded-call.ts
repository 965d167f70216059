import { AppError, messageOf } from '../errors/index.js';
import { IllustratedResult, ShownResult } from '../tool/result/index.js';
import {
  type CallEnd,
  type ChangedState,
  type RecordedState,
  type StateData,
  type StatefulCall,
  type StoredState,
  toStateData,
} from '../tool/stateful/index.js';
import type { DataFact } from '../run/facts/index.js';
import type { ContextDraft } from './context-draft.js';
import { applyChange, type StateChange } from './state-change.mapper.js';
import type { StateBackend } from './backend/state-backend.js';
import { ToolStateHandle, type WantedChange } from './tool-state-handle.js';
import type { ContextKey, StatePolicy } from './tool-state.types.js';

/** Data of a call, stored with its context. */
export interface StatefulCallSite {
  /** Key of the call. */
  readonly id: string;
  readonly key: ContextKey;
  readonly isOfRun: boolean;
  /** Principal id of the caller. */
  readonly user: string;
  /** Facts of the data in the run, as other runs see them. */
  readonly facts: readonly DataFact[];
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

/** A call whose state is loaded from a backend and stored with the step that records the call. */
export class RecordedCall implements StatefulCall {
  readonly handle: ToolStateHandle;
  private readonly startedAt = Date.now();

  /** @param backend backend of the state */
  constructor(
    private readonly backend: StateBackend,
    private readonly policy: StatePolicy,
    private readonly context: FoundContext,
    private readonly site: StatefulCallSite,
    { initial, isSavedAlone }: CallStart,
  ) {
    this.handle = new ToolStateHandle(context.found(), initial, isSavedAlone);
  }

  withoutState(returned: unknown): unknown {
    if (returned instanceof ShownResult) return new ShownResult(this.withoutState(returned.result), returned.shown);
    if (returned instanceof IllustratedResult) {
      return new IllustratedResult(this.withoutState(returned.result), returned.images, returned.content);
    }
    if (this.site.isStrangers || !isPlainObject(returned) || !Object.hasOwn(returned, 'state')) return returned;
    const { state, ...result } = returned;
    if (state === undefined) return result;
    try {
      this.handle.lay(toStateData(state));
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

  async record(outcome: CallEnd): Promise<StoredState> {
    this.handle.close();
    // With last-write-wins the currently stored state is irrelevant.
    const draft = this.policy.conflict === 'last_write_wins' ? this.context.found() : await this.context.look();
    return this.change(draft, outcome, this.handle.kept(outcome.kind === 'success'));
  }

  recordFailed(outcome: CallEnd): StoredState {
    return this.change(this.context.found(), outcome, { sides: {} });
  }

  private change(draft: ContextDraft, outcome: CallEnd, wanted: WantedChange): StoredState {
    const before = draft.versionOf('business');
    const change: StateChange = {
      id: this.site.id,
      key: this.site.key,
      isOfRun: this.site.isOfRun,
      user: this.site.user,
      facts: this.site.facts,
      basedOn: this.handle.version,
      wanted,
      startedAt: this.startedAt,
      endedAt: Date.now(),
      call: this.site.about,
      outcome,
    };
    applyChange(draft, change);
    const companion = this.backend.companion(change, this.policy, draft);
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
