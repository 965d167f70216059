const LINE_FEED = 0x0a;

/** Cuts what a program writes into lines, of which none may be too long. Each byte is looked at once. */
export class LineParser {
  private parts: Buffer[] = [];
  private length = 0;

  /** @param maxBytes of one line */
  constructor(private readonly maxBytes: number) {}

  /** Gives the lines that end in the chunk. @throws RangeError for one that is too long */
  *push(chunk: Buffer): Generator<string> {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(LINE_FEED, start);
      if (end === -1) break;
      this.keep(chunk.subarray(start, end));
      yield this.take();
      start = end + 1;
    }
    this.keep(chunk.subarray(start));
  }

  private keep(part: Buffer): void {
    this.length += part.length;
    if (this.length > this.maxBytes) {
      this.clear();
      throw new RangeError(`it sent a message of more than ${this.maxBytes} bytes`);
    }
    if (part.length > 0) this.parts.push(part);
  }

  private take(): string {
    const line = Buffer.concat(this.parts).toString('utf8');
    this.clear();
    return line.endsWith('\r') ? line.slice(0, -1) : line;
  }

  private clear(): void {
    this.parts = [];
    this.length = 0;
  }
}
