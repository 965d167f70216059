import type { CallToolResult } from '@modelcontextprotocol/client';
import { newId } from '../../kernel/index.js';
import type { ElicitAnswer, ElicitParams } from '../connection/opened-client.factory.js';

/** A question that a server of before 2026 asks during a call. */
interface LiveQuestion {
  readonly params: ElicitParams;
  readonly answer: (given: ElicitAnswer) => void;
}

/** Outcome of a call so far. */
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

/** Maximum time that a server waits for a person, in ms: only this process holds its call open. */
export const LIVE_QUESTION_MS = 3_600_000;

/** Maximum number of remembered lost calls. */
const MAX_LOST = 1000;

/**
 * Calls of servers that ask a person by a request of their own during the call. The call stays open until the answer
 * arrives. It exists in this process only: if the process ends, the call is lost.
 */
export class LiveCalls {
  private readonly suspended = new Map<string, LiveCall>();
  private readonly running = new Set<LiveCall>();
  /** The last lost calls that were requested again. */
  private readonly lost = new Set<string>();

  /**
   * Starts a call. @param makeCall its signal ends the call
   * @throws the call's error; the signal's reason if it aborts
   */
  async start(makeCall: (signal: AbortSignal) => Promise<CallToolResult>, signal: AbortSignal): Promise<LiveOutcome> {
    const stop = new AbortController();
    const result = makeCall(stop.signal);
    result.catch(() => undefined);
    const call: LiveCall = { id: newId(), result, stop, question: Promise.withResolvers(), open: null, timer: null };
    return this.await(call, signal);
  }

  /** Whether a call is still open. */
  isOpen(id: string): boolean {
    return this.suspended.has(id);
  }

  /** Whether a lost call is requested for the first time. */
  isNewlyLost(id: string): boolean {
    if (this.lost.has(id)) return false;
    this.lost.add(id);
    if (this.lost.size > MAX_LOST) this.lost.delete(this.lost.values().next().value!);
    return true;
  }

  /** Resumes an open call with the answer to its question. @throws as `start` */
  async resume(id: string, answer: ElicitAnswer, signal: AbortSignal): Promise<LiveOutcome> {
    const call = this.suspended.get(id)!;
    this.suspended.delete(id);
    clearTimeout(call.timer ?? undefined);
    call.open?.answer(answer);
    call.open = null;
    return this.await(call, signal);
  }

  /**
   * Receives a server's question. The question does not name its call: with several running calls it is cancelled.
   * @param signal aborted when the server withdraws the question
   */
  async elicited(params: ElicitParams, signal: AbortSignal): Promise<ElicitAnswer> {
    const [call, ...others] = this.running;
    if (!call || others.length > 0) return { action: 'cancel' };
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve({ action: 'cancel' }), { once: true });
      call.question.resolve({ params, answer: resolve });
    });
  }

  /** Ends all open calls. */
  close(): void {
    for (const call of this.suspended.values()) this.end(call);
  }

  private async await(call: LiveCall, signal: AbortSignal): Promise<LiveOutcome> {
    const abort = () => call.stop.abort(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    this.running.add(call);
    try {
      return await Promise.race([
        call.result.then((result) => ({ kind: 'result', result }) as const),
        call.question.promise.then((question) => this.suspend(call, question)),
      ]);
    } finally {
      this.running.delete(call);
      signal.removeEventListener('abort', abort);
    }
  }

  private suspend(call: LiveCall, question: LiveQuestion): LiveOutcome {
    call.open = question;
    call.question = Promise.withResolvers();
    call.timer = setTimeout(() => this.end(call), LIVE_QUESTION_MS).unref();
    this.suspended.set(call.id, call);
    return { kind: 'asked', id: call.id, params: question.params };
  }

  private end(call: LiveCall): void {
    this.suspended.delete(call.id);
    clearTimeout(call.timer ?? undefined);
    call.open?.answer({ action: 'cancel' });
    call.stop.abort(new DOMException('No answer arrived in time.', 'AbortError'));
  }
}
