/**
 * Parses server-sent events incrementally (html.spec.whatwg.org, "Parsing an event stream"); returns only their data. A
 * line may span any number of chunks; each byte is processed once.
 */
export class SseParser {
  private readonly decoder = new TextDecoder();
  /** Chunks of the current line. */
  private readonly rest: string[] = [];
  private data: string | undefined;

  /** Returns the data of every event that ends in this chunk. */
  push(piece: Uint8Array): string[] {
    return this.read(this.decoder.decode(piece, { stream: true }));
  }

  /** Returns the last event if the stream ends without a blank line. */
  end(): string[] {
    return this.read(`${this.decoder.decode()}\n\n`);
  }

  private read(text: string): string[] {
    const events: string[] = [];
    let start = 0;
    let end = text.indexOf('\n');
    while (end !== -1) {
      this.readLine(this.lineOf(text.slice(start, end)), events);
      start = end + 1;
      end = text.indexOf('\n', start);
    }
    if (start < text.length) this.rest.push(text.slice(start));
    return events;
  }

  private lineOf(tail: string): string {
    if (this.rest.length === 0) return tail;
    this.rest.push(tail);
    return this.rest.splice(0).join('');
  }

  private readLine(raw: string, events: string[]): void {
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    if (line === '') {
      if (this.data !== undefined) events.push(this.data);
      this.data = undefined;
    } else if (line.startsWith('data:')) {
      const value = line.startsWith('data: ') ? line.slice(6) : line.slice(5);
      this.data = this.data === undefined ? value : `${this.data}\n${value}`;
    }
  }
}
