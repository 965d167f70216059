import { signal } from '@preact/signals';
import { request } from './api';

/** The number of open decisions in the navigation. */
export const pendingDecisions = signal(0);

const listeners = new Set<() => void>();

/** Calls a listener when data may have changed: a reader returns to the page, or decides. @returns the end of it */
export function onChanges(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Reads the data of the open page again. */
export function publishChange(): void {
  for (const listener of listeners) listener();
  void countDecisions();
}

function onVisible(): void {
  if (!document.hidden) publishChange();
}

/** A hidden page causes no request. @returns the end of it */
export function watchChanges(): () => void {
  document.addEventListener('visibilitychange', onVisible);
  void countDecisions();
  return () => document.removeEventListener('visibilitychange', onVisible);
}

async function countDecisions(): Promise<void> {
  try {
    const { requests, next } = await request<{ requests: readonly unknown[]; next: string | null }>('waiting', {
      limit: 99,
    });
    pendingDecisions.value = requests.length + (next === null ? 0 : 1);
  } catch {
    // The pages show why the server does not answer.
  }
}
