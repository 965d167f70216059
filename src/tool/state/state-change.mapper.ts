import type { AppError } from '../../common/index.js';
import type { ContextDraft } from './context-draft.builder.js';
import type { WantedChange } from './tool-state-handle.factory.js';
import type { ContextKey, StateData } from './tool-state.types.js';

/** What one call makes of its context: plain data, which a journal can hold until it is done. */
export interface StateChange {
  /** The call's key. */
  readonly id: string;
  readonly key: ContextKey;
  readonly isOfRun: boolean;
  /** The id of who called; not in changes that an earlier version has journaled. */
  readonly user?: string;
  /** The version of the business state that the call found. */
  readonly basedOn: number;
  readonly wanted: WantedChange;
  /** Epoch ms. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** What is told of the call's beginning. */
  readonly call: StateData;
  readonly outcome: CallEnd;
}

/** How a call ended, as its context remembers it. */
export type CallEnd =
  | { readonly kind: 'success'; readonly detail: StateData }
  | { readonly kind: 'error'; readonly error: string; readonly detail: StateData };

/** Makes a change. @throws AppError `TOOL_STATE_TOO_LARGE`, `TOOL_STATE_CONFLICT` */
export function applyChange(draft: ContextDraft, change: StateChange): void {
  const { wanted, id: by, basedOn, user } = change;
  // Versions and history go, or are not kept: who is to be forgotten is found by this.
  if (user !== undefined) draft.remember(user);
  if (wanted.business) draft.put('business', wanted.business.data, { by, basedOn, keys: wanted.business.keys });
  for (const type of ['session', 'cache'] as const) {
    const side = wanted.sides[type];
    if (side?.data) draft.put(type, side.data, { by, ttlMs: side.ttlMs });
    else if (side) draft.drop(type);
  }
  if (wanted.held) draft.hold(wanted.held);
  applyCall(draft, change);
}

/** What is left of a change that cannot be made: that the call was, as one that failed. */
export function toRefused(change: StateChange, { code, message: error }: AppError): StateChange {
  const { wanted, outcome } = change;
  return {
    ...change,
    wanted: { sides: {}, ...(wanted.held && { held: wanted.held }) },
    outcome: { kind: 'error', error, detail: { ...outcome.detail, code, error } },
  };
}

function applyCall(draft: ContextDraft, { id: by, call, outcome, startedAt, endedAt }: StateChange): void {
  const before = draft.get('connection')?.data;
  const errors = Number(before?.['error_count'] ?? 0);
  draft.put('connection', {
    ...before,
    session_active: true,
    created_at: before?.['created_at'] ?? startedAt,
    last_used: startedAt,
    last_activity: endedAt,
    error_count: outcome.kind === 'error' ? errors + 1 : errors,
    last_error: outcome.kind === 'error' ? outcome.error : (before?.['last_error'] ?? null),
  });
  draft.note('execution_start', by, call, startedAt);
  draft.note(`execution_${outcome.kind}`, by, outcome.detail, endedAt);
}
