import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PassThrough } from 'node:stream';
import { HeartbeatRegistry } from './event-stream.service.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A stream with small buffers, so that a read shows each write. */
function openStream(): PassThrough {
  return new PassThrough({ readableHighWaterMark: 1, writableHighWaterMark: 10 });
}

describe('HeartbeatRegistry', () => {
  it('sends a heartbeat every 15 s and none after the stop', () => {
    const heartbeats = new HeartbeatRegistry({ heartbeatSeconds: 15 });
    const stream = openStream();
    const stop = heartbeats.add(stream);
    const beats: number[] = [];
    for (let second = 1; second <= 45; second++) {
      vi.advanceTimersByTime(1_000);
      if (stream.read() !== null) beats.push(second);
    }
    expect(beats).toEqual([15, 30, 45]);
    stop();
    stop();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('shares one timer among many streams and spreads their heartbeats', () => {
    const heartbeats = new HeartbeatRegistry({ heartbeatSeconds: 15 });
    const streams: PassThrough[] = [];
    for (let second = 0; second < 15; second++) {
      for (let i = 0; i < 10; i++) streams.push(openStream());
      for (const stream of streams.slice(-10)) heartbeats.add(stream);
      vi.advanceTimersByTime(1_000);
    }
    expect(vi.getTimerCount()).toBe(1);
    const beaten = () => streams.filter((stream) => stream.read() !== null).length;
    beaten();
    for (let second = 0; second < 15; second++) {
      vi.advanceTimersByTime(1_000);
      expect(beaten()).toBe(10);
    }
  });

  it('sends no heartbeat while the client has unread data', () => {
    const heartbeats = new HeartbeatRegistry({ heartbeatSeconds: 15 });
    const stream = openStream();
    stream.write('x'.repeat(20));
    stream.write('y'.repeat(20));
    heartbeats.add(stream);
    const before = stream.writableLength;
    expect(before).toBeGreaterThan(0);
    vi.advanceTimersByTime(60_000);
    expect(stream.writableLength).toBe(before);
  });
});
