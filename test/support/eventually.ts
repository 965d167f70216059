import { vi } from 'vitest';
import { PATIENCE_MS } from './patience.js';

/** Waits until the check passes, as long as a busy machine may need. */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: PATIENCE_MS, interval: 20 });
}
