import type { Readable } from 'node:stream';
import { IntakePace } from '../../security/egress/index.js';

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

/** Rate limit of unrequested lines per second, and the number of bytes that count as one line. */
const LINES_PER_SECOND = 500;
const BYTES_AS_LINE = 32_768;

export interface LineReader {
  /** Processes a line. @returns whether it was requested; a requested line is not rate-limited */
  readonly receive: (line: string) => boolean;
  /** Receives the number of received bytes. */
  readonly received: (bytes: number) => void;
  /** Called for a line that is too long or cannot be processed; reading then stops. */
  readonly failed: (error: Error) => void;
}

/** Reads the lines of a stream at a limited rate; pauses the writer meanwhile. */
export function readLines(stream: Readable, maxBytes: number, { receive, received, failed }: LineReader): void {
  const parser = new LineParser(maxBytes);
  const pace = new IntakePace(LINES_PER_SECOND);
  const read = (lines: Generator<string>): void => {
    if (stream.destroyed) return;
    try {
      const pauseMs = receiveSome(lines, receive, pace);
      if (pauseMs === 0) return void stream.resume();
      stream.pause();
      setTimeout(() => read(lines), pauseMs);
    } catch (error) {
      failed(error as Error);
    }
  };
  stream.on('data', (chunk: Buffer) => {
    received(chunk.length);
    pace.take(chunk.length / BYTES_AS_LINE);
    read(parser.push(chunk));
  });
}

/** Reads and discards a stream, at the same rate of bytes. */
export function discard(stream: Readable, received: (chunk: Buffer) => void): void {
  const pace = new IntakePace(LINES_PER_SECOND);
  stream.on('data', (chunk: Buffer) => {
    received(chunk);
    const pauseMs = pace.take(chunk.length / BYTES_AS_LINE);
    if (pauseMs === 0) return;
    stream.pause();
    setTimeout(() => stream.resume(), pauseMs);
  });
}

/** Processes lines up to the rate limit. @returns ms to pause before the next lines; 0 if no lines remain */
function receiveSome(lines: Generator<string>, receive: LineReader['receive'], pace: IntakePace): number {
  for (;;) {
    const { done, value } = lines.next();
    if (done) return pace.take(0);
    const pauseMs = pace.take(receive(value) ? 0 : 1);
    if (pauseMs > 0) return pauseMs;
  }
}
