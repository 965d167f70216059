import { signal } from '@preact/signals';
import { ApiError, apiUrl, request, send } from './api';
import { isPassing, pause, readEvents, type StreamEvent } from './events';
import type { ListedRun } from './types';

/** The number of open decisions in the navigation. */
export const pendingDecisions = signal(0);

/** @param runs the runs that have changed; empty if any data may have changed */
export type ChangeListener = (runs: readonly ListedRun[]) => void;

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;
const COUNT_EVERY_MS = 2_000;

const listeners = new Set<ChangeListener>();

/**
 * Calls a listener when the status of runs changes, when a reader returns to the page, and after a decision.
 * @param everyMs shortest time between two calls
 * @returns the end of it
 */
export function onChanges(listener: ChangeListener, everyMs = 1_000): () => void {
  let collected: ListedRun[] = [];
  let isAny = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = 0;
  const call = () => {
    const runs = isAny ? [] : collected;
    [collected, isAny, timer, last] = [[], false, undefined, Date.now()];
    listener(runs);
  };
  const collect: ChangeListener = (runs) => {
    collected.push(...runs);
    isAny ||= runs.length === 0;
    timer ??= setTimeout(call, Math.max(0, last + everyMs - Date.now()));
  };
  listeners.add(collect);
  return () => {
    listeners.delete(collect);
    clearTimeout(timer);
  };
}

/** Reads the data of the open page again. */
export function publishChange(runs: readonly ListedRun[] = []): void {
  for (const listener of listeners) listener(runs);
}

/** Follows the changes of runs while the page is visible; a hidden page has no connection. @returns the end of it */
export function watchChanges(): () => void {
  let ends = new AbortController();
  const onVisibility = (): void => {
    ends.abort();
    if (document.hidden) return;
    ends = new AbortController();
    publishChange();
    void follow(ends.signal);
  };
  const stopCounting = onChanges(() => void countDecisions(), COUNT_EVERY_MS);
  document.addEventListener('visibilitychange', onVisibility);
  onVisibility();
  return () => {
    document.removeEventListener('visibilitychange', onVisibility);
    stopCounting();
    ends.abort();
  };
}

/** After a lost connection it continues at its position, also with another server. */
async function follow(ends: AbortSignal): Promise<void> {
  let position: string | null = null;
  let delay = FIRST_DELAY_MS;
  while (!ends.aborted) {
    const from = Date.now();
    try {
      const onEvent = (event: StreamEvent) => {
        position = event.id ?? position;
        if (event.type === 'run.changed') publishChange([(JSON.parse(event.data) as { run: ListedRun }).run]);
      };
      const headers: Record<string, string> = position === null ? {} : { 'last-event-id': position };
      const response = await send(apiUrl('events'), { signal: ends, headers });
      for await (const event of readEvents(response)) onEvent(event);
    } catch (error) {
      if (error instanceof ApiError && !isPassing(error)) return;
    }
    // A proxy may cut each stream at once.
    if (Date.now() - from > MAX_DELAY_MS) delay = FIRST_DELAY_MS;
    await pause(delay, ends);
    delay = Math.min(delay * 2, MAX_DELAY_MS);
  }
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
