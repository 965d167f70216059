import { constants } from 'node:os';

/** The signals that end the server after a drain. SIGHUP: the terminal was closed; SIGBREAK: Ctrl+Break on Windows. */
export const END_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGBREAK'];

/** Ctrl+C reaches the process from the terminal and, a moment later, again from npm, in ms. */
const ECHO_MS = 20;

/**
 * Calls `onFirst` at the first of these signals. A second SIGTERM or SIGINT ends the process at once, with the exit code
 * of that signal: 143 or 130.
 * @returns a function that removes the listeners, unless a signal ends the process already
 */
export function onEndSignal(
  onFirst: (signal: NodeJS.Signals) => void,
  signals: readonly string[] = END_SIGNALS,
): () => void {
  let first: { readonly signal: NodeJS.Signals; readonly at: number } | undefined;
  const receive = (signal: NodeJS.Signals) => {
    if (first === undefined) {
      first = { signal, at: performance.now() };
      onFirst(signal);
      return;
    }
    const isEcho = signal === 'SIGINT' && first.signal === signal && performance.now() - first.at < ECHO_MS;
    if ((signal === 'SIGTERM' || signal === 'SIGINT') && !isEcho) process.exit(128 + constants.signals[signal]);
  };
  for (const signal of signals) process.on(signal, receive);
  return () => {
    if (first === undefined) for (const signal of signals) process.off(signal, receive);
  };
}
