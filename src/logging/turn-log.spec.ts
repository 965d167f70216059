import { describe, expect, it } from 'vitest';
import { setImmediate } from 'node:timers/promises';
import { createTurnLog } from './turn-log.js';

describe('the log of an event loop turn', () => {
  it('is written once, in order, at the end of the turn', async () => {
    const written: string[] = [];
    const log = createTurnLog({ write: (lines) => written.push(lines) });
    log.write('a\n');
    log.write('b\n');
    expect(written).toEqual([]);
    await setImmediate();
    log.write('c\n');
    await setImmediate();
    expect(written).toEqual(['a\nb\n', 'c\n']);
  });

  it('is written at once if it is long or flushed', () => {
    const written: number[] = [];
    const log = createTurnLog({ write: ({ length }) => written.push(length) });
    log.write('x'.repeat(10_000));
    log.write('x'.repeat(10_000));
    log.write('x');
    log.flushSync();
    log.flushSync();
    expect(written).toEqual([20_000, 1]);
  });

  it('is written when the process exits', () => {
    const written: string[] = [];
    const log = createTurnLog({ write: (lines) => written.push(lines) });
    log.write('the last words\n');
    process.listeners('exit').at(-1)!.call(process, 1);
    expect(written).toEqual(['the last words\n']);
  });
});
