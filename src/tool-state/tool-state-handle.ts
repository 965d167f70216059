import { AppError, type ErrorCode } from '../errors/index.js';
import type { ContextDraft } from './context-draft.js';
import {
  assertChanges,
  type HeldToolState,
  type SideStateType,
  type StateData,
  toStateData,
} from '../tool/stateful/index.js';

export interface SideChange {
  readonly data: StateData | null;
  readonly ttlMs?: number;
}

/** Changes requested by a call. */
export interface WantedChange {
  /** The complete business state and its changed keys; absent for an unchanged state. */
  readonly business?: { readonly data: StateData; readonly keys: readonly string[] };
  readonly sides: Readonly<Partial<Record<SideStateType, SideChange>>>;
  /** Entries to merge into the connection's hidden data, whatever the outcome; `null` deletes an entry. */
  readonly held?: StateData;
}

interface Wanted {
  readonly business?: StateData;
  readonly sides: WantedChange['sides'];
}

const NOTHING: Wanted = { sides: {} };

/** The state handle given to a tool; it buffers changes and does not store them. */
export class ToolStateHandle implements HeldToolState {
  readonly version: number;
  readonly contextId: string;
  private readonly found: StateData;
  private wanted: Wanted = NOTHING;
  private saved: Wanted = NOTHING;
  private shown: StateData | undefined;
  private holding: StateData | undefined;
  private signal: AbortSignal | undefined;
  private isClosed = false;

  /**
   * @param initial business state of a new context
   * @param isSavedAlone whether a successful call also stores unsaved changes
   */
  constructor(
    private readonly draft: ContextDraft,
    initial: StateData,
    private readonly isSavedAlone: boolean,
  ) {
    this.version = draft.versionOf('business');
    this.contextId = draft.id;
    this.found = draft.get('business')?.data ?? initial;
  }

  get data(): StateData {
    return (this.shown ??= toStateData(this.current));
  }

  private get current(): StateData {
    return this.wanted.business ?? this.found;
  }

  update(changes: Partial<StateData> | ((data: StateData) => Partial<StateData>)): void {
    this.assertOpen('update');
    this.lay(typeof changes === 'function' ? changes(toStateData(this.current)) : changes);
  }

  /** As `update`, but also allowed after the call, for the `state` in its return value. */
  lay(changes: Partial<StateData>): void {
    assertChanges(changes);
    this.change({ ...this.current, ...changes } as StateData);
  }

  replace(data: StateData): void {
    this.assertOpen('replace');
    this.change(data);
  }

  save(): void {
    this.assertOpen('save');
    this.saved = this.wanted;
  }

  until(signal: AbortSignal): this {
    this.signal = signal;
    return this;
  }

  /** Ends the call: rejects further changes. */
  close(): void {
    this.isClosed = true;
  }

  get(type: SideStateType): StateData | null {
    const side = this.wanted.sides[type];
    return side ? side.data && toStateData(side.data) : (this.draft.get(type)?.data ?? null);
  }

  set(type: SideStateType, data: StateData | null, ttlMs?: number): void {
    this.assertOpen('set');
    const change = { data: data && toStateData(data), ...(ttlMs !== undefined && { ttlMs }) };
    this.wanted = { ...this.wanted, sides: { ...this.wanted.sides, [type]: change } };
  }

  /** Hidden data of the connection at the start, such as cookies and tokens; never displayed. */
  get held(): StateData {
    return this.draft.held;
  }

  /**
   * Sets hidden entries, stored even if the call fails, since the remote side has set them. `null` deletes an entry.
   */
  hold(changes: StateData): void {
    this.holding = { ...this.holding, ...changes };
  }

  reset(): void {
    this.wanted = this.saved;
    this.shown = undefined;
  }

  private change(data: StateData): void {
    this.wanted = { ...this.wanted, business: toStateData(data) };
    this.shown = undefined;
  }

  /** @throws AppError `TOOL_TIMEOUT`, `TOOL_CANCELLED`, `TOOL_FAILED` for a change that would be lost */
  private assertOpen(method: string): void {
    if (this.signal?.aborted) throw tooLate(method, this.signal.reason);
    if (this.isClosed) throw tooLate(method, null);
  }

  /** Changes to store. @param isSuccess outcome of the call */
  kept(isSuccess: boolean): WantedChange {
    const { business, sides } = isSuccess && this.isSavedAlone ? this.wanted : this.saved;
    const held = this.holding && { held: this.holding };
    if (!business) return { sides, ...held };
    const keys = [...new Set([...Object.keys(this.found), ...Object.keys(business)])];
    const changed = keys.filter((key) => JSON.stringify(this.found[key]) !== JSON.stringify(business[key]));
    return { sides, ...held, business: { data: business, keys: changed } };
  }
}

function tooLate(method: string, reason: unknown): AppError {
  const [code, why] = endOf(reason);
  const message = `state.${method}() came after ${why} and has no effect: end the work when context.signal is aborted, and await it before the tool returns.`;
  return new AppError(code, message);
}

function endOf(reason: unknown): [ErrorCode, string] {
  if (reason === null) return ['TOOL_FAILED', 'the end of the call'];
  const isTimeout = reason instanceof DOMException && reason.name === 'TimeoutError';
  return isTimeout ? ['TOOL_TIMEOUT', 'the time-out of the call'] : ['TOOL_CANCELLED', 'the cancel of the call'];
}
