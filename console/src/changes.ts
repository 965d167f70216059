import { signal } from '@preact/signals';
import { ApiError, apiUrl, request, send } from './api';
import { isPassing, pause, readEvents, type StreamEvent } from './events';
import type { RunStatus } from './types';

/** A change of a run's status. */
export interface RunChange {
  readonly run_id: string;
  readonly status: RunStatus;
  readonly agent: string;
  readonly session_id: string | null;
  readonly at: number;
}

/** The number of open decisions in the navigation. */
export const pendingDecisions = signal(0);

type Listener = (changes: readonly RunChange[]) => void;
const listeners = new Set<Listener>();
/** Time in which changes are collected before pages read again, in ms. */
const COLLECT_MS = 400;
const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 30_000;

/** Calls a listener after changes of runs. @returns the end of it */
export function onChanges(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Follows the changes of all runs that the caller may see, on one connection. @returns the end of it */
export function watchChanges(): () => void {
  const controller = new AbortController();
  const { signal: ends } = controller;
  let collected: RunChange[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const publish = () => {
    timer = undefined;
    const changes = collected;
    collected = [];
    for (const listener of listeners) listener(changes);
    void countDecisions();
  };
  const add = (change: RunChange) => {
    collected.push(change);
    timer ??= setTimeout(publish, COLLECT_MS);
  };
  void countDecisions();
  void follow(add, ends);
  return () => {
    clearTimeout(timer);
    controller.abort();
  };
}

async function follow(add: (change: RunChange) => void, ends: AbortSignal): Promise<void> {
  let position: string | null = null;
  let delay = FIRST_DELAY_MS;
  while (!ends.aborted) {
    try {
      const headers: Record<string, string> = position === null ? {} : { 'last-event-id': position };
      const response = await send(apiUrl('events'), { headers, signal: ends });
      delay = FIRST_DELAY_MS;
      for await (const event of readEvents(response)) {
        position = event.id ?? position;
        addChange(event, add);
      }
    } catch (error) {
      if (ends.aborted || (error instanceof ApiError && !isPassing(error))) return;
    }
    await pause(delay, ends);
    delay = Math.min(delay * 2, MAX_DELAY_MS);
  }
}

function addChange({ type, data }: StreamEvent, add: (change: RunChange) => void): void {
  if (type === 'run.status') add(JSON.parse(data) as RunChange);
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
