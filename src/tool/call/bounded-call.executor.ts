import { TimeLimit } from '../../kernel/index.js';
import { thrownText } from './thrown-text.mapper.js';

/** Outcome of a call that can be aborted. */
export type CallOutcome =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly error: unknown }
  | { readonly kind: 'timed_out'; readonly timeoutMs: number }
  | { readonly kind: 'cancelled' };

type Call = (signal: AbortSignal) => unknown;
type Settled = Exclude<CallOutcome, { kind: 'timed_out' }>;

/**
 * Executes a call until the signal is aborted or `timeoutMs` have passed. It then returns immediately, even if the call
 * ignores its signal, and discards the later result. Never throws.
 */
export async function callBounded(call: Call, signal: AbortSignal, timeoutMs?: number): Promise<CallOutcome> {
  if (signal.aborted) return { kind: 'cancelled' };
  if (timeoutMs === undefined) return callUntil(call, signal);
  const clock = new AbortController();
  const message = `The call took longer than ${timeoutMs} ms`;
  const limit = new TimeLimit(timeoutMs, () => clock.abort(new DOMException(message, 'TimeoutError')));
  try {
    const outcome = await callUntil(call, AbortSignal.any([signal, clock.signal]));
    return outcome.kind === 'cancelled' && !signal.aborted ? { kind: 'timed_out', timeoutMs } : outcome;
  } finally {
    limit.clear();
  }
}

async function callUntil(call: Call, signal: AbortSignal): Promise<Settled> {
  let pending: unknown;
  try {
    pending = call(signal);
  } catch (error) {
    return stoppedOr(signal, error);
  }
  if (!isThenable(pending)) return { kind: 'returned', value: pending };
  const { promise: cancelled, resolve } = Promise.withResolvers<Settled>();
  const stop = (): void => resolve({ kind: 'cancelled' });
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  // Neither is rejected. Unlike `then`, `await` and `any` preserve the stack of an error in the call.
  const outcome = await Promise.any([settled(pending, signal), cancelled]);
  signal.removeEventListener('abort', stop);
  return outcome;
}

async function settled(pending: PromiseLike<unknown>, signal: AbortSignal): Promise<Settled> {
  try {
    return { kind: 'returned', value: await pending };
  } catch (error) {
    return stoppedOr(signal, error);
  }
}

/** After an abort an error is the expected reaction of the call, not a failure. */
function stoppedOr(signal: AbortSignal, error: unknown): Settled {
  return signal.aborted ? { kind: 'cancelled' } : { kind: 'threw', error };
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** Reason why a call returned no usable value. */
export function whyNot(outcome: Exclude<CallOutcome, { kind: 'cancelled' }>): string {
  switch (outcome.kind) {
    case 'returned':
      return 'it gave none of the answers that it may give';
    case 'threw':
      return thrownText(outcome.error);
    case 'timed_out':
      return `it took longer than ${outcome.timeoutMs} ms`;
  }
}
