import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { untilAborted } from '../kernel/index.js';

/** Work whose database calls wait for the end of an outage, such as a run. */
export interface Patience {
  /** Ends a wait. */
  readonly signal: AbortSignal;
  /** Called when clients have waited for the database as long as they may. */
  onHeld(): void;
}

/** The longest random delay after an outage, in ms: the calls that wait do not return together. */
const SPREAD_MS = 100;

const patient = new AsyncLocalStorage<Patience | null>();

/** Runs work with patience, or without that of the surrounding work. */
export function withPatience<T>(patience: Patience | null, work: () => Promise<T>): Promise<T> {
  return patient.run(patience, work);
}

/** The patience of the current work. */
export function currentPatience(): Patience | null {
  return patient.getStore() ?? null;
}

/**
 * Waits for the end of an outage.
 * @param available resolves then
 * @param clientsMs time that clients have left to wait, in ms
 * @throws the reason of the abort
 */
export async function outlast(patience: Patience, available: Promise<void>, clientsMs: number): Promise<void> {
  const { signal } = patience;
  const timer = setTimeout(() => patience.onHeld(), Math.max(0, clientsMs));
  try {
    await untilAborted(available, signal);
    await untilAborted(pause(Math.random() * SPREAD_MS), signal);
  } finally {
    clearTimeout(timer);
  }
}
