import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../event/run-event.types.js';
import { RunItem } from '../event/run-item.factory.js';
import { FollowerBacklog, WakeUpExecutor } from './follower-backlog.store.js';

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

describe('follower backlog', () => {
  it('drops all items when a megabyte waits, in bytes of UTF-8, and later ones until it resumes', () => {
    const backlog = new FollowerBacklog(new WakeUpExecutor());
    for (let i = 0; i < 10; i++) backlog.push(live('é'.repeat(MB / 20)));
    expect(backlog.isBehind).toBe(false);
    backlog.push(live('a'));
    backlog.push(live('b'));
    expect([backlog.isBehind, backlog.take()]).toEqual([true, undefined]);
    backlog.resume();
    backlog.push(live('c'));
    expect([backlog.isBehind, rest(backlog)]).toEqual([false, ['message.delta']]);
  });

  it('counts the item being written until the next take', () => {
    const backlog = new FollowerBacklog(new WakeUpExecutor());
    backlog.push(live('x'.repeat(0.6 * MB)));
    backlog.take();
    backlog.push(live('x'.repeat(0.6 * MB)));
    backlog.push(live('x'));
    expect(backlog.isBehind).toBe(true);
  });

  it('retains the end of the stream, which the journal does not have, and accepts nothing after it', async () => {
    const backlog = new FollowerBacklog(new WakeUpExecutor());
    const end = new RunItem(null, 0, { type: 'stream.closed', run_id: 'r', code: 'SHUTTING_DOWN' });
    for (const item of [journaled(2 * MB, 0), journaled(1, 0), end, journaled(1, 0)]) backlog.push(item);
    expect(await backlog.arrival()).toBe(true);
    backlog.resume();
    backlog.push(live('a'));
    expect(rest(backlog)).toEqual(['stream.closed']);
    expect(await backlog.arrival()).toBe(false);
  });

  it('frees the bytes of consumed items, whatever the total', () => {
    const backlog = new FollowerBacklog(new WakeUpExecutor());
    for (let i = 0; i < 20; i++) backlog.push(live('x'.repeat(MB / 50)));
    for (let i = 0; i < 500; i++) {
      backlog.push(live('x'.repeat(MB / 50)));
      expect(backlog.take()?.event.type).toBe('message.delta');
    }
    expect(rest(backlog)).toEqual(Array.from({ length: 20 }, () => 'message.delta'));
  });

  it('accepts an item of any size for a reader that keeps up', () => {
    const backlog = new FollowerBacklog(new WakeUpExecutor());
    for (let i = 0; i < 3; i++) {
      backlog.push(journaled(2 * MB, i));
      expect(rest(backlog)).toEqual(['thought']);
    }
  });

  it('wakes a waiting reader when an item arrives, and when none will follow', async () => {
    const backlog = new FollowerBacklog(new WakeUpExecutor());
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

describe('waking ten thousand followers at once', () => {
  it('wakes them in order, in several turns of the event loop', async () => {
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
