import type { AppError } from '../errors/index.js';
import type { DataFact } from '../run/facts/index.js';
import type { ContextDraft } from './context-draft.js';
import type { WantedChange } from './tool-state-handle.js';
import type { ContextKey } from './tool-state.types.js';
import type { CallEnd, StateData } from '../tool/stateful/index.js';

/** The change of one call to its context, as plain data for the journal. */
export interface StateChange {
  /** Key of the call. */
  readonly id: string;
  readonly key: ContextKey;
  readonly isOfRun: boolean;
  /** Principal id of the caller; absent in changes journaled by earlier versions. */
  readonly user?: string;
  /** Facts of the data in the run; absent in changes journaled by earlier versions. */
  readonly facts?: readonly DataFact[];
  /** Version of the business state at the start of the call. */
  readonly basedOn: number;
  readonly wanted: WantedChange;
  /** Epoch ms. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** Details for the history entry of the call's start. */
  readonly call: StateData;
  readonly outcome: CallEnd;
}

/** Applies a change to a draft. @throws AppError `TOOL_STATE_TOO_LARGE`, `TOOL_STATE_CONFLICT` */
export function applyChange(draft: ContextDraft, change: StateChange): void {
  const { wanted, id: by, basedOn, user, facts = [] } = change;
  // Versions and history may be pruned or disabled: erasure finds a user's contexts by this list.
  if (user !== undefined) draft.remember(user);
  if (isChanging(wanted)) draft.addFacts(facts);
  if (wanted.business) draft.put('business', wanted.business.data, { by, basedOn, keys: wanted.business.keys });
  for (const type of ['session', 'cache'] as const) {
    const side = wanted.sides[type];
    if (side?.data) draft.put(type, side.data, { by, ttlMs: side.ttlMs });
    else if (side) draft.drop(type);
  }
  if (wanted.held) draft.hold(wanted.held);
  applyCall(draft, change);
}

function isChanging({ business, sides, held }: WantedChange): boolean {
  return business !== undefined || held !== undefined || Object.keys(sides).length > 0;
}

/** The rest of a rejected change: records the call as failed. */
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
