import { ApiError, apiUrl, send } from './api';
import type { RunEvent } from './types';

/** One server-sent event. */
export interface StreamEvent {
  /** The position for a reconnection; `null` if the event has none. */
  readonly id: string | null;
  readonly type: string;
  readonly data: string;
}

/** Events at the end of a stream. An earlier `run.waiting` of the run may come before others. */
const LAST: ReadonlySet<string> = new Set(['run.completed', 'run.failed', 'run.cancelled', 'run.waiting']);
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 10_000;

/** The events of a response, until it ends. */
export async function* readEvents(response: Response): AsyncGenerator<StreamEvent, void> {
  if (!response.body) return;
  let rest = '';
  for await (const text of toTexts(response.body)) {
    const blocks = (rest + text).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = toEvent(block);
      if (event) yield event;
    }
  }
}

/** Not every browser can iterate over a stream. */
async function* toTexts(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    // The connection of an abandoned stream is closed.
    void reader.cancel().catch(() => undefined);
  }
}

function toEvent(block: string): StreamEvent | undefined {
  let id: string | null = null;
  let type = 'message';
  const data: string[] = [];
  for (const line of block.split('\n')) {
    if (line.startsWith('id: ')) id = line.slice(4);
    else if (line.startsWith('event: ')) type = line.slice(7);
    else if (line.startsWith('data: ')) data.push(line.slice(6));
  }
  return data.length === 0 ? undefined : { id, type, data: data.join('\n') };
}

export interface RunStream {
  readonly signal: AbortSignal;
  /** Called for each event, in their order. */
  readonly onEvent: (event: RunEvent) => void;
  /** Called when the connection is lost and when it is back. */
  readonly onConnection?: (isConnected: boolean) => void;
}

/**
 * Follows a run to the end of its stream. After a lost connection it continues at its position, also with another server.
 * @param first the response that started the run, if it is already open
 * @param after the position of the last received event
 */
export async function followRun(
  runId: string,
  { signal, onEvent, onConnection }: RunStream,
  first?: Response,
  after: string | null = null,
): Promise<void> {
  let response = first;
  let position = after;
  let delay = FIRST_DELAY_MS;
  const receive = (event: StreamEvent): void => {
    position = event.id ?? position;
    delay = FIRST_DELAY_MS;
    onEvent(JSON.parse(event.data) as RunEvent);
  };
  while (!signal.aborted) {
    try {
      response ??= await openRun(runId, position, signal);
      onConnection?.(true);
      if (await receiveAll(response, receive)) return;
    } catch (error) {
      if (!mayContinue(error)) throw error;
    }
    response = undefined;
    if (!signal.aborted) onConnection?.(false);
    await pause(delay, signal);
    delay = Math.min(delay * 2, MAX_DELAY_MS);
  }
}

/** False for an answer that a repetition would get again, such as 404. An aborted request ends the loop. */
function mayContinue(error: unknown): boolean {
  return !(error instanceof ApiError) || isPassing(error);
}

/** @returns whether the stream ended with a last event: not by a lost connection, or a stop of the server */
async function receiveAll(response: Response, receive: (event: StreamEvent) => void): Promise<boolean> {
  if (response.status === 204) return true;
  let last = '';
  for await (const event of readEvents(response)) {
    receive(event);
    last = event.type;
  }
  return LAST.has(last);
}

function openRun(runId: string, position: string | null, signal: AbortSignal): Promise<Response> {
  return send(apiUrl(`runs/${runId}/events`), {
    signal,
    ...(position !== null && { headers: { 'last-event-id': position } }),
  });
}

/** The server is absent, stops, or has no capacity now. */
export function isPassing({ status }: ApiError): boolean {
  return status === 0 || status === 429 || status >= 500;
}

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}
