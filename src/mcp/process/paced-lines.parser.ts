import type { Readable } from 'node:stream';
import { IntakePace } from '../../security/index.js';
import { LineParser } from './line.parser.js';

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
