/** A server-sent event. */
export interface StreamMessage {
  /** The position for a reconnection; undefined if the event has none. */
  readonly id: string | undefined;
  readonly data: string;
}

/** Incremental parser of server-sent events (WHATWG HTML, 9.2.6). */
export class EventStreamParser {
  private rest = '';
  private id: string | undefined;
  private data: string[] = [];

  /** @returns the events that the text completes */
  push(text: string): StreamMessage[] {
    const found: StreamMessage[] = [];
    // Only a complete line is parsed; a `\r` at the end may be the first half of `\r\n`.
    const lines = (this.rest + text).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line !== '') this.read(line);
      else if (this.data.length > 0) found.push(this.take());
    }
    return found;
  }

  private read(line: string): void {
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') this.data.push(value);
    else if (field === 'id') this.id = value;
  }

  private take(): StreamMessage {
    const message = { id: this.id, data: this.data.join('\n') };
    this.id = undefined;
    this.data = [];
    return message;
  }
}

/**
 * The events of a response, until its body ends. Ending the iteration closes the connection.
 * @param idleMs the body fails after this time without data
 * @throws Error of a cut or idle connection
 */
export async function* readEvents(response: Response, idleMs: number): AsyncGenerator<StreamMessage, void> {
  if (!response.body) return;
  // Not every browser can iterate over a stream.
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  const parser = new EventStreamParser();
  try {
    for (;;) {
      const { done, value } = await withTimeout(reader.read(), idleMs);
      if (done) return;
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

async function withTimeout<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No data in ${ms} ms.`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
