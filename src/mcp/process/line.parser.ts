const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const FIRST_BYTES = 4096;

/** Cuts what a program writes into lines, of which none may be too long. Each byte is looked at once. */
export class LineParser {
  /** The beginning of a line whose end has not come yet; parts of any number and size are one copy. */
  private begun = Buffer.alloc(0);
  private length = 0;

  /** @param maxBytes of one line */
  constructor(private readonly maxBytes: number) {}

  /** Gives the lines that end in the chunk, empty ones too. @throws RangeError for one that is too long */
  *push(chunk: Buffer): Generator<string> {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(LINE_FEED, start);
      if (end === -1) break;
      const part = chunk.subarray(start, end);
      if (this.length === 0) {
        this.check(part.length);
        yield textOf(part);
      } else {
        this.keep(part);
        yield this.take();
      }
      start = end + 1;
    }
    this.keep(chunk.subarray(start));
  }

  private keep(part: Buffer): void {
    const length = this.length + part.length;
    this.check(length);
    if (length > this.begun.length) {
      const grown = Buffer.allocUnsafeSlow(
        Math.max(length, Math.min(2 * this.begun.length, this.maxBytes), FIRST_BYTES),
      );
      this.begun.copy(grown, 0, 0, this.length);
      this.begun = grown;
    }
    part.copy(this.begun, this.length);
    this.length = length;
  }

  private take(): string {
    const line = textOf(this.begun.subarray(0, this.length));
    this.clear();
    return line;
  }

  private check(length: number): void {
    if (length <= this.maxBytes) return;
    this.clear();
    throw new RangeError(`it sent a message of more than ${this.maxBytes} bytes`);
  }

  private clear(): void {
    if (this.begun.length > FIRST_BYTES) this.begun = Buffer.alloc(0);
    this.length = 0;
  }
}

function textOf(line: Buffer): string {
  const isWindows = line.at(-1) === CARRIAGE_RETURN;
  return line.toString('utf8', 0, line.length - (isWindows ? 1 : 0));
}
