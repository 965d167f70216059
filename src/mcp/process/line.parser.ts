const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const FIRST_BYTES = 4096;

/** Splits a program's output into lines of limited length. Reads each byte once. */
export class LineParser {
  /** The incomplete last line, in one buffer. */
  private pending = Buffer.alloc(0);
  private length = 0;

  /** @param maxBytes maximum length of a line */
  constructor(private readonly maxBytes: number) {}

  /** Returns the lines that end in the chunk, including empty ones. @throws RangeError for a line that is too long */
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
        this.append(part);
        yield this.flushLine();
      }
      start = end + 1;
    }
    this.append(chunk.subarray(start));
  }

  private append(part: Buffer): void {
    const length = this.length + part.length;
    this.check(length);
    if (length > this.pending.length) {
      const grown = Buffer.allocUnsafeSlow(
        Math.max(length, Math.min(2 * this.pending.length, this.maxBytes), FIRST_BYTES),
      );
      this.pending.copy(grown, 0, 0, this.length);
      this.pending = grown;
    }
    part.copy(this.pending, this.length);
    this.length = length;
  }

  private flushLine(): string {
    const line = textOf(this.pending.subarray(0, this.length));
    this.clear();
    return line;
  }

  private check(length: number): void {
    if (length <= this.maxBytes) return;
    this.clear();
    throw new RangeError(`it sent a message of more than ${this.maxBytes} bytes`);
  }

  private clear(): void {
    if (this.pending.length > FIRST_BYTES) this.pending = Buffer.alloc(0);
    this.length = 0;
  }
}

function textOf(line: Buffer): string {
  const isWindows = line.at(-1) === CARRIAGE_RETURN;
  return line.toString('utf8', 0, line.length - (isWindows ? 1 : 0));
}
