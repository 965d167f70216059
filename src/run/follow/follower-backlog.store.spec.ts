import { describe, expect, it } from '@jest/globals';
import type { RunEvent } from '../run-event.types.js';
import { RunItem } from '../run-item.factory.js';
import { FollowerBacklog } from './follower-backlog.store.js';
import { WakeUpExecutor } from './wake-up.executor.js';

const MB = 1_000_000;
let n = 0;

function journaled(size: number, at: number): RunItem {
  return new RunItem(++n, at, { type: 'thought', iteration: 1, text: 'x'.repeat(size) });
}

function live(text: string, at = 0): RunItem {
  return new RunItem(null, at, { type: 'message.delta', iteration: 1, text });
}

function rest(backlog: FollowerBacklog): RunEvent['type'][] {
  const types: RunEvent['type'][] = [];
  for (let item = backlog.take(); item; item = backlog.take()) types.push(item.event.type);
  return types;
}

describe('a backlog', () => {
  it('holds a megabyte of what happens, in bytes of UTF-8, and not more', () => {
    const backlog = new FollowerBacklog('r', new WakeUpExecutor());
    for (let i = 0; i < 50; i++) backlog.push(live('é'.repeat(MB / 20)));
    const types = rest(backlog);
    expect(types.at(-1)).toBe('stream.closed');
    expect(types).toHaveLength(10);
  });

  it('counts what is being written until it is done with', () => {
    const backlog = new FollowerBacklog('r', new WakeUpExecutor());
    backlog.push(live('x'.repeat(0.6 * MB)));
    backlog.take();
    backlog.push(live('x'.repeat(0.6 * MB)));
    expect(rest(backlog)).toEqual(['stream.closed']);
  });

  it('has room again for what a reader has taken, however much comes in all', () => {
    const backlog = new FollowerBacklog('r', new WakeUpExecutor());
    for (let i = 0; i < 20; i++) backlog.push(live('x'.repeat(MB / 50)));
    for (let i = 0; i < 500; i++) {
      backlog.push(live('x'.repeat(MB / 50)));
      expect(backlog.take()?.event.type).toBe('message.delta');
    }
    expect(rest(backlog)).toEqual(Array.from({ length: 20 }, () => 'message.delta'));
  });

  it('takes journaled events of any size that come at once, from a reader that is not behind for long', () => {
    const backlog = new FollowerBacklog('r', new WakeUpExecutor());
    for (const at of [0, 0, 4_000]) backlog.push(journaled(2 * MB, at));
    expect(rest(backlog)).toEqual(['thought', 'thought', 'thought']);
    for (const at of [10_000, 15_001, 15_002]) backlog.push(journaled(2 * MB, at));
    expect(rest(backlog)).toEqual(['thought', 'stream.closed']);
  });

  it('tells a reader that waits when something comes, and when nothing more will', async () => {
    const backlog = new FollowerBacklog('r', new WakeUpExecutor());
    const first = backlog.arrival();
    backlog.push(live('a'));
    expect(await first).toBe(true);
    expect(rest(backlog)).toEqual(['message.delta']);
    const second = backlog.arrival();
    backlog.close();
    expect(await second).toBe(false);
    backlog.push(live('b'));
    expect(rest(backlog)).toEqual([]);
  });
});

describe('ten thousand followers that are woken at once', () => {
  it('are woken in turns, in order, so that others get theirs', async () => {
    const wakeUps = new WakeUpExecutor();
    const woken: number[] = [];
    const seen: number[] = [];
    for (let i = 0; i < 10_000; i++) wakeUps.wake(() => woken.push(i));
    while (woken.length < 10_000) {
      seen.push(woken.length);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(woken).toEqual(Array.from({ length: 10_000 }, (_, i) => i));
    expect(Math.max(...seen.map((count, i) => count - (seen[i - 1] ?? 0)))).toBeLessThanOrEqual(100);
    wakeUps.wake(() => woken.push(-1));
    await new Promise((resolve) => setImmediate(resolve));
    expect(woken.at(-1)).toBe(-1);
  });
});
