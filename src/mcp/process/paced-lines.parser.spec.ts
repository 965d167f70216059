import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PassThrough } from 'node:stream';
import { discard, LineParser, readLines } from './paced-lines.parser.js';

const FLOOD = Buffer.from('again\n'.repeat(5000));

describe('readLines()', () => {
  let lines: string[];
  let stream: PassThrough;
  beforeEach(() => {
    vi.useFakeTimers({ toNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    lines = [];
    stream = new PassThrough({ highWaterMark: 1 });
  });
  afterEach(() => void vi.useRealTimers());

  const listen = (isWanted: boolean, failed: (error: Error) => void = () => undefined) =>
    readLines(stream, 1000, {
      receive: (line) => {
        lines.push(line);
        return isWanted;
      },
      received: () => undefined,
      failed,
    });
  const flood = async () => {
    stream.write(FLOOD);
    await new Promise((resolve) => setImmediate(resolve));
  };

  it('reads a flood in parts, and pauses the writer', async () => {
    listen(false);
    await flood();
    expect(lines.length).toBeLessThan(600);
    expect(stream.isPaused()).toBe(true);
    await vi.advanceTimersByTimeAsync(2000);
    expect(lines.length).toBeGreaterThan(1400);
    expect(lines.length).toBeLessThan(1700);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(lines).toHaveLength(5000);
    expect(stream.isPaused()).toBe(false);
  });

  it('reads requested lines at once', async () => {
    listen(true);
    await flood();
    expect(lines).toHaveLength(5000);
  });

  it('stops at the end of the stream', async () => {
    listen(false);
    await flood();
    stream.destroy();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(lines.length).toBeLessThan(600);
  });

  it('reports a line that is too long', async () => {
    const failed = vi.fn();
    listen(false, failed);
    stream.write('x'.repeat(1001));
    await new Promise((resolve) => setImmediate(resolve));
    expect(failed).toHaveBeenCalledWith(expect.objectContaining({ message: expect.stringContaining('1000 bytes') }));
  });

  it('discards unread output at a limited rate', async () => {
    let received = 0;
    discard(stream, (chunk) => (received += chunk.length));
    for (let n = 0; n < 20; n++) stream.write(Buffer.alloc(1024 * 1024));
    await new Promise((resolve) => setImmediate(resolve));
    expect(received).toBeLessThan(18 * 1024 * 1024);
    await vi.advanceTimersByTimeAsync(1000);
    expect(received).toBe(20 * 1024 * 1024);
  });
});

const linesOf = (parser: LineParser, ...chunks: string[]) =>
  chunks.flatMap((chunk) => [...parser.push(Buffer.from(chunk))]);

describe('LineParser', () => {
  it('splits output into lines, independent of the chunks', () => {
    expect(linesOf(new LineParser(100), 'a\nb\r\n\n', 'c', 'd', 'e\nf', '\n')).toEqual(['a', 'b', '', 'cde', 'f']);
  });

  it('accepts chunks that end inside a character', () => {
    const bytes = Buffer.from('Jägerstraße 🐦\n');
    const parser = new LineParser(100);
    expect([...bytes].flatMap((byte) => [...parser.push(Buffer.from([byte]))])).toEqual(['Jägerstraße 🐦']);
  });

  it('accepts lines up to the maximum length', () => {
    const parser = new LineParser(5);
    expect(linesOf(parser, '12345\n', '12', '345\n')).toEqual(['12345', '12345']);
    expect(() => linesOf(parser, '123', '456')).toThrow('more than 5 bytes');
    expect(() => linesOf(parser, '123456\n')).toThrow('more than 5 bytes');
    expect(linesOf(parser, 'ok\n')).toEqual(['ok']);
  });
});
