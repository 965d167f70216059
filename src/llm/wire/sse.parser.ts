import { createParser } from 'eventsource-parser';

/**
 * Parses server-sent events incrementally (html.spec.whatwg.org, "Parsing an event stream"); returns only their data. A
 * line may span any number of chunks and end in LF, CR or CRLF.
 */
export class SseParser {
  private readonly decoder = new TextDecoder();
  private events: string[] = [];
  private readonly parser = createParser({
    onEvent: ({ data }) => this.events.push(data),
    // llama.cpp until 2025 sent errors in a field of this name (github.com/ggml-org/llama.cpp/pull/16109).
    onError: ({ field, value }) => field === 'error' && value && this.events.push(value),
  });

  /** Returns the data of every event that ends in this chunk. */
  push(piece: Uint8Array): string[] {
    return this.read(this.decoder.decode(piece, { stream: true }));
  }

  /** Returns the last event if the stream ends without a blank line. */
  end(): string[] {
    return this.read(`${this.decoder.decode()}\n\n`);
  }

  private read(text: string): string[] {
    if (text !== '') this.parser.feed(text);
    const { events } = this;
    if (events.length > 0) this.events = [];
    return events;
  }
}
