import type { CallToolResult } from '@modelcontextprotocol/client';
import { newId } from '../../common/index.js';
import type { ElicitAnswer, ElicitParams } from '../connection/opened-client.factory.js';

/** What a server of before 2026 asks while it carries out a call. */
interface LiveQuestion {
  readonly params: ElicitParams;
  readonly answer: (given: ElicitAnswer) => void;
}

/** What came of a call so far. */
export type LiveOutcome =
  | { readonly kind: 'result'; readonly result: CallToolResult }
  | { readonly kind: 'asked'; readonly id: string; readonly params: ElicitParams };

interface LiveCall {
  readonly id: string;
  readonly result: Promise<CallToolResult>;
  readonly stop: AbortController;
  question: PromiseWithResolvers<LiveQuestion>;
  open: LiveQuestion | null;
  timer: NodeJS.Timeout | null;
}

/** How long a server is kept waiting for a person, in ms: its call is held open in this process alone. */
export const LIVE_QUESTION_MS = 3_600_000;

/** How many calls are remembered that were lost. */
const MAX_LOST = 1000;

/**
 * Calls of servers that ask a person by a request of their own, in the middle of a call: the call is held open until the
 * answer comes. It is of this process; with it the call is lost.
 */
export class LiveCalls {
  private readonly held = new Map<string, LiveCall>();
  private readonly running = new Set<LiveCall>();
  /** Calls that were asked for after they were lost; the last ones. */
  private readonly lost = new Set<string>();

  /**
   * Begins a call. @param begin the signal ends it
   * @throws what the call throws; the signal's reason when it is aborted
   */
  async start(begin: (signal: AbortSignal) => Promise<CallToolResult>, signal: AbortSignal): Promise<LiveOutcome> {
    const stop = new AbortController();
    const result = begin(stop.signal);
    result.catch(() => undefined);
    const call: LiveCall = { id: newId(), result, stop, question: Promise.withResolvers(), open: null, timer: null };
    return this.await(call, signal);
  }

  /** Whether a call is still held open. */
  isHeld(id: string): boolean {
    return this.held.has(id);
  }

  /** Gives whether a call is asked for the first time after it was lost. */
  isNewlyLost(id: string): boolean {
    if (this.lost.has(id)) return false;
    this.lost.add(id);
    if (this.lost.size > MAX_LOST) this.lost.delete(this.lost.values().next().value!);
    return true;
  }

  /** Goes on with a call that is held open, with the answer to its question. @throws as `start` */
  async goOn(id: string, answer: ElicitAnswer, signal: AbortSignal): Promise<LiveOutcome> {
    const call = this.held.get(id)!;
    this.held.delete(id);
    clearTimeout(call.timer ?? undefined);
    call.open?.answer(answer);
    call.open = null;
    return this.await(call, signal);
  }

  /**
   * Hears what the server asks. It does not say for which call: where it is not plain, it is told that nobody answers.
   * @param signal is aborted when the server no longer wants to know
   */
  async elicited(params: ElicitParams, signal: AbortSignal): Promise<ElicitAnswer> {
    const [call, ...others] = this.running;
    if (!call || others.length > 0) return { action: 'cancel' };
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve({ action: 'cancel' }), { once: true });
      call.question.resolve({ params, answer: resolve });
    });
  }

  /** Ends all that is held open. */
  close(): void {
    for (const call of this.held.values()) this.end(call);
  }

  private async await(call: LiveCall, signal: AbortSignal): Promise<LiveOutcome> {
    const abort = () => call.stop.abort(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    this.running.add(call);
    try {
      return await Promise.race([
        call.result.then((result) => ({ kind: 'result', result }) as const),
        call.question.promise.then((question) => this.hold(call, question)),
      ]);
    } finally {
      this.running.delete(call);
      signal.removeEventListener('abort', abort);
    }
  }

  private hold(call: LiveCall, question: LiveQuestion): LiveOutcome {
    call.open = question;
    call.question = Promise.withResolvers();
    call.timer = setTimeout(() => this.end(call), LIVE_QUESTION_MS).unref();
    this.held.set(call.id, call);
    return { kind: 'asked', id: call.id, params: question.params };
  }

  private end(call: LiveCall): void {
    this.held.delete(call.id);
    clearTimeout(call.timer ?? undefined);
    call.open?.answer({ action: 'cancel' });
    call.stop.abort(new DOMException('Nobody answered.', 'AbortError'));
  }
}
