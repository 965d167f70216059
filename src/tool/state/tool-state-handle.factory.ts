import { AppError, type ErrorCode } from '../../common/index.js';
import type { ContextDraft } from './context-draft.builder.js';
import { assertChanges, toData } from './state-data.mapper.js';
import type { StateData, StateType } from './tool-state.types.js';

/** Of the types of state, those that a method changes by their name. */
export type SideStateType = Exclude<StateType, 'business' | 'connection'>;

/** A tool's state in one call: what it finds, and what it changes. A call that fails changes nothing. */
export interface ToolState<T extends object = StateData> {
  /** What is there, with this call's changes. A copy of one's own. */
  readonly data: Readonly<T>;
  /** The version that was found, 0 for none. */
  readonly version: number;
  readonly contextId: string;
  /** Lays keys over the state; a key that is `undefined` is taken out. */
  update(changes: Partial<T> | ((data: Readonly<T>) => Partial<T>)): void;
  /** Makes it the whole state. */
  replace(data: T): void;
  /**
   * Stores the changes so far, also if the call fails later; without `autoSave` nothing else is stored. Like every
   * change, it throws after the call's time-out, cancel or end.
   */
  save(): void;
  /** The session's or the cache's state; `null` when there is none. */
  get(type: SideStateType): StateData | null;
  /** Replaces it, or forgets it (`null`). @param ttlMs after how many ms it expires */
  set(type: SideStateType, data: StateData | null, ttlMs?: number): void;
}

export interface SideChange {
  readonly data: StateData | null;
  readonly ttlMs?: number;
}

/** What a call wants changed. */
export interface WantedChange {
  /** The whole business state, and which of its keys are not as they were found; without it that stays as it is. */
  readonly business?: { readonly data: StateData; readonly keys: readonly string[] };
  readonly sides: Readonly<Partial<Record<SideStateType, SideChange>>>;
  /** What is laid over what the connection holds, however the call ended; `null` takes an entry out. */
  readonly held?: StateData;
}

interface Wanted {
  readonly business?: StateData;
  readonly sides: WantedChange['sides'];
}

const NOTHING: Wanted = { sides: {} };

/** The state as a method gets it; nothing is written here. */
export class ToolStateHandle implements ToolState {
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
   * @param initial the business state where there is none
   * @param isSavedAlone whether what was not saved is kept too, when the call succeeds
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
    return (this.shown ??= toData(this.current));
  }

  private get current(): StateData {
    return this.wanted.business ?? this.found;
  }

  update(changes: Partial<StateData> | ((data: StateData) => Partial<StateData>)): void {
    this.assertOpen('update');
    this.lay(typeof changes === 'function' ? changes(toData(this.current)) : changes);
  }

  /** As `update`, also for a call that has ended: with the state that it returned. */
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

  /** Lets the state be changed until the signal is aborted, or the call has ended. */
  until(signal: AbortSignal): this {
    this.signal = signal;
    return this;
  }

  /** The call has ended: its code cannot change the state any more. */
  close(): void {
    this.isClosed = true;
  }

  get(type: SideStateType): StateData | null {
    const side = this.wanted.sides[type];
    return side ? side.data && toData(side.data) : (this.draft.get(type)?.data ?? null);
  }

  set(type: SideStateType, data: StateData | null, ttlMs?: number): void {
    this.assertOpen('set');
    const change = { data: data && toData(data), ...(ttlMs !== undefined && { ttlMs }) };
    this.wanted = { ...this.wanted, sides: { ...this.wanted.sides, [type]: change } };
  }

  /** What the connection holds beside its state, as it was found: cookies and tokens, which nobody is shown. */
  get held(): StateData {
    return this.draft.held;
  }

  /** Keeps entries there, also if the call fails: they are the other side's. `null` takes one out. */
  hold(changes: StateData): void {
    this.holding = { ...this.holding, ...changes };
  }

  /** What a call that is made again begins with. */
  reset(): void {
    this.wanted = this.saved;
    this.shown = undefined;
  }

  private change(data: StateData): void {
    this.wanted = { ...this.wanted, business: toData(data) };
    this.shown = undefined;
  }

  /** @throws AppError `TOOL_TIMEOUT`, `TOOL_CANCELLED`, `TOOL_FAILED`: the change would be lost */
  private assertOpen(method: string): void {
    if (this.signal?.aborted) throw tooLate(method, this.signal.reason);
    if (this.isClosed) throw tooLate(method, null);
  }

  /** What is to be kept of a call that ended so. */
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
