import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { RunEvent } from '../run-event.types.js';
import { RunItem } from '../run-item.factory.js';
import { RunListenerRegistry } from './run-listener.registry.js';

const RUN = { id: 'r', tenant: 't', sessionId: 's', agent: 'a' };
const DELTA: RunEvent = { type: 'message.delta', iteration: 1, text: 'x' };
const thought = (text: string): RunEvent => ({ type: 'thought', iteration: 1, text });
const item = (event: RunEvent, n: number | null = 1) => new RunItem(n, 0, event);
const passed = () => new Promise((resolve) => setImmediate(resolve));

describe('those who listen to all runs', () => {
  const errors = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
  const warnings = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
  afterEach(() => {
    jest.useRealTimers();
    errors.mockClear();
    warnings.mockClear();
  });

  it('hear in order what their pattern meets, a turn later', async () => {
    const registry = new RunListenerRegistry();
    const heard: string[] = [];
    registry.register('one', 'thought', ({ event }) => heard.push(`one ${event.text}`));
    registry.register('all', '**', ({ event }) => heard.push(`all ${event.type}`));
    const end = registry.register('family', 'message.*', ({ event }) => heard.push(`family ${event.type}`));
    registry.tell(RUN, item(thought('1')));
    registry.tell(RUN, item(DELTA, null));
    expect(heard).toEqual([]);
    await passed();
    expect(heard).toEqual(['one 1', 'all thought', 'all message.delta', 'family message.delta']);
    end();
    registry.tell(RUN, item(DELTA, null));
    await passed();
    expect(heard.slice(4)).toEqual(['all message.delta']);
  });

  it('can be waited for until they have heard all that was told', async () => {
    const registry = new RunListenerRegistry();
    const heard: string[] = [];
    registry.register('one', 'thought', ({ event }) => heard.push(event.text));
    expect(registry.caughtUp()).toBeUndefined();
    registry.tell(RUN, item(DELTA, null));
    expect(registry.caughtUp()).toBeUndefined();
    registry.tell(RUN, item(thought('1')));
    await registry.caughtUp();
    expect(heard).toEqual(['1']);
    expect(registry.caughtUp()).toBeUndefined();
  });

  it('are told whose it is, in a copy that nobody can change', async () => {
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
    registry.register('spoiler', 'tool.completed', ({ event: told }) =>
      (told.result as { deep: number[] }).deep.push(2),
    );
    registry.register('reader', 'tool.*', (notice) => heard.push(notice));
    registry.tell(RUN, item(event));
    await passed();
    expect(heard).toEqual([{ runId: 'r', tenant: 't', sessionId: 's', agent: 'a', event }]);
    expect(event.result).toEqual({ deep: [1] });
    expect(errors).toHaveBeenCalledTimes(1);
  });

  it('harm nobody when they throw or reject, and each time is logged once', async () => {
    const registry = new RunListenerRegistry();
    const heard: string[] = [];
    registry.register('thrower', 'thought', () => {
      throw new Error('thrown');
    });
    registry.register('rejecter', 'thought', () => Promise.reject(new Error('rejected')));
    registry.register('reader', 'thought', ({ event }) => heard.push(event.text));
    registry.tell(RUN, item(thought('1')));
    registry.tell(RUN, item(thought('2')));
    await passed();
    expect(heard).toEqual(['1', '2']);
    expect(errors.mock.calls.map(([, message]) => message)).toEqual([
      'thrower, who listens to "thought", failed',
      'thrower, who listens to "thought", failed',
      'rejecter, who listens to "thought", failed',
      'rejecter, who listens to "thought", failed',
    ]);
  });

  it('that hang are told off once, and go on hearing', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    const registry = new RunListenerRegistry();
    let count = 0;
    registry.register('sleeper', 'thought', () => {
      count++;
      return new Promise(() => undefined);
    });
    for (const text of ['1', '2', '3']) registry.tell(RUN, item(thought(text)));
    await passed();
    jest.advanceTimersByTime(29_999);
    expect(warnings).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1);
    expect(count).toBe(3);
    expect(warnings.mock.calls).toEqual([
      [{ run_id: 'r' }, 'sleeper has not finished with "thought" after 30 s; this is told once'],
    ]);
  });

  it('cannot listen to what there is not', () => {
    const registry = new RunListenerRegistry();
    const listen = () => registry.register('The audit', 'tool.finished' as 'tool.completed', () => undefined);
    expect(listen).toThrow(
      'The audit listens to "tool.finished", which no event of a run is called; there are: run.started,',
    );
    expect(() => registry.register('x', 'stream.*' as '**', () => undefined)).toThrow('"stream.*"');
    expect(() => registry.register('x', '.*' as '**', () => undefined)).toThrow('".*"');
  });
});
