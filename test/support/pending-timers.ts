import { vi } from 'vitest';

/**
 * Counts timers of one delay that have neither run nor been cleared. `vi.getTimerCount()` also counts timers that
 * applications of other files of this process start. Call it after `vi.useFakeTimers()`.
 * @param delayMs a delay that no other code uses
 */
export function pendingTimers(delayMs: number): () => number {
  const pending = new Set<unknown>();
  const { setTimeout: start, clearTimeout: clear } = globalThis;
  vi.stubGlobal('setTimeout', (run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
    const timer: unknown = start(() => (pending.delete(timer), run(...args)), ms);
    if (ms === delayMs) pending.add(timer);
    return timer;
  });
  vi.stubGlobal('clearTimeout', (timer: NodeJS.Timeout) => (pending.delete(timer), clear(timer)));
  return () => pending.size;
}
