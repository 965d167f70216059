import type { Readable } from 'node:stream';
import { IntakePace } from '../../security/index.js';
import { LineParser } from './line.parser.js';

/** How many lines are read in a second that nobody asked for, and how many bytes count as one. */
const LINES_PER_SECOND = 500;
const BYTES_AS_LINE = 32_768;

export interface LineReader {
  /** Takes a line. Gives whether it was asked for: such a one costs its writer nothing. */
  readonly take: (line: string) => boolean;
  /** Hears of all that comes, in bytes. */
  readonly heard: (bytes: number) => void;
  /** Is told of a line that is too long, or that cannot be taken: nothing further is read then. */
  readonly failed: (error: Error) => void;
}

/** Reads the lines of a stream, no faster than leaves time for others; its writer waits meanwhile. */
export function readLines(stream: Readable, maxBytes: number, { take, heard, failed }: LineReader): void {
  const parser = new LineParser(maxBytes);
  const pace = new IntakePace(LINES_PER_SECOND);
  const read = (lines: Generator<string>): void => {
    if (stream.destroyed) return;
    try {
      const rest = takeSome(lines, take, pace);
      if (rest === 0) return void stream.resume();
      stream.pause();
      setTimeout(() => read(lines), rest);
    } catch (error) {
      failed(error as Error);
    }
  };
  stream.on('data', (chunk: Buffer) => {
    heard(chunk.length);
    pace.take(chunk.length / BYTES_AS_LINE);
    read(parser.push(chunk));
  });
}

/** Reads all that a stream gives, as fast as the same bytes in lines, and keeps nothing. */
export function readAway(stream: Readable, heard: (chunk: Buffer) => void): void {
  const pace = new IntakePace(LINES_PER_SECOND);
  stream.on('data', (chunk: Buffer) => {
    heard(chunk);
    const rest = pace.take(chunk.length / BYTES_AS_LINE);
    if (rest === 0) return;
    stream.pause();
    setTimeout(() => stream.resume(), rest);
  });
}

/** Takes lines as long as their pace allows. Gives how long to rest before the next ones, in ms; 0 when there are none. */
function takeSome(lines: Generator<string>, take: LineReader['take'], pace: IntakePace): number {
  for (;;) {
    const { done, value } = lines.next();
    if (done) return pace.take(0);
    const rest = pace.take(take(value) ? 0 : 1);
    if (rest > 0) return rest;
  }
}
