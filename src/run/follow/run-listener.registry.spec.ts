import { afterEach, describe, expect, it, vi } from 'vitest';
import { Log } from '../../errors/index.js';
import type { RunEvent } from '../event/run-event.types.js';
import { RunItem } from '../event/run-item.factory.js';
import { RunListenerRegistry } from './run-listener.registry.js';

const RUN = { id: 'r', tenant: 't', sessionId: 's', agent: 'a' };
const DELTA: RunEvent = { type: 'message.delta', iteration: 1, text: 'x' };
const thought = (text: string): RunEvent => ({ type: 'thought', iteration: 1, text });
const item = (event: RunEvent, n: number | null = 1) => new RunItem(n, 0, event);
const passed = () => new Promise((resolve) => setImmediate(resolve));

describe('listeners of all runs', () => {
  const errors = vi.spyOn(Log.prototype, 'error').mockImplementation(() => undefined);
  const warnings = vi.spyOn(Log.prototype, 'warn').mockImplementation(() => undefined);
  afterEach(() => {
    vi.useRealTimers();
    errors.mockClear();
    warnings.mockClear();
  });

  it('receive matching events in order, one turn later', async () => {
    const registry = new RunListenerRegistry();
    const heard: string[] = [];
    registry.register('one', 'thought', ({ event }) => heard.push(`one ${event.text}`));
    registry.register('all', '**', ({ event }) => heard.push(`all ${event.type}`));
    const end = registry.register('group', 'message.*', ({ event }) => heard.push(`group ${event.type}`));
    registry.publish(RUN, item(thought('1')));
    registry.publish(RUN, item(DELTA, null));
    expect(heard).toEqual([]);
    await passed();
    expect(heard).toEqual(['one 1', 'all thought', 'all message.delta', 'group message.delta']);
    end();
    registry.publish(RUN, item(DELTA, null));
    await passed();
    expect(heard.slice(4)).toEqual(['all message.delta']);
  });

  it('can be awaited until they have received all published events', async () => {
    const registry = new RunListenerRegistry();
    const heard: string[] = [];
    registry.register('one', 'thought', ({ event }) => heard.push(event.text));
    expect(registry.caughtUp()).toBeUndefined();
    registry.publish(RUN, item(DELTA, null));
    expect(registry.caughtUp()).toBeUndefined();
    registry.publish(RUN, item(thought('1')));
    await registry.caughtUp();
    expect(heard).toEqual(['1']);
    expect(registry.caughtUp()).toBeUndefined();
  });

  it('receive the run of the event, in a frozen copy', async () => {
    const registry = new RunListenerRegistry();
    const event: RunEvent = {
      type: 'tool.completed',
      iteration: 1,
      call_id: 'c',
      tool: 't',
      success: true,
      result: { deep: [1] },
      execution_time_ms: 1,
    };
    const heard: unknown[] = [];
    registry.register('spoiler', 'tool.completed', ({ event: received }) =>
      (received.result as { deep: number[] }).deep.push(2),
    );
    registry.register('reader', 'tool.*', (notice) => heard.push(notice));
    registry.publish(RUN, item(event));
    await passed();
    expect(heard).toEqual([{ runId: 'r', tenant: 't', sessionId: 's', agent: 'a', at: expect.any(Number), event }]);
    expect(event.result).toEqual({ deep: [1] });
    expect(errors).toHaveBeenCalledTimes(1);
  });

  it('do not affect others when they throw or reject; each failure is logged once', async () => {
    const registry = new RunListenerRegistry();
    const heard: string[] = [];
    registry.register('thrower', 'thought', () => {
      throw new Error('thrown');
    });
    registry.register('rejecter', 'thought', () => Promise.reject(new Error('rejected')));
    registry.register('reader', 'thought', ({ event }) => heard.push(event.text));
    registry.publish(RUN, item(thought('1')));
    registry.publish(RUN, item(thought('2')));
    await passed();
    expect(heard).toEqual(['1', '2']);
    expect(errors.mock.calls.map(([, message]) => message)).toEqual([
      'thrower, a listener of "thought", failed',
      'thrower, a listener of "thought", failed',
      'rejecter, a listener of "thought", failed',
      'rejecter, a listener of "thought", failed',
    ]);
  });

  it('are logged once when they hang, and still receive events', async () => {
    vi.useFakeTimers({ toNotFake: ['setImmediate'] });
    const registry = new RunListenerRegistry();
    let count = 0;
    registry.register('sleeper', 'thought', () => {
      count++;
      return new Promise(() => undefined);
    });
    for (const text of ['1', '2', '3']) registry.publish(RUN, item(thought(text)));
    await passed();
    vi.advanceTimersByTime(29_999);
    expect(warnings).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(count).toBe(3);
    expect(warnings.mock.calls).toEqual([
      [{ run_id: 'r' }, 'sleeper has not finished with "thought" after 30 s; this warning is logged once'],
    ]);
  });

  it('cannot register for an unknown event type', () => {
    const registry = new RunListenerRegistry();
    const listen = () => registry.register('The audit', 'tool.finished' as 'tool.completed', () => undefined);
    expect(listen).toThrow(
      'The audit listens to "tool.finished", which matches no run event; the event types are: run.started,',
    );
    expect(() => registry.register('x', 'stream.*' as '**', () => undefined)).toThrow('"stream.*"');
    expect(() => registry.register('x', '.*' as '**', () => undefined)).toThrow('".*"');
  });
});
