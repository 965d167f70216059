import { describe, expect, it } from 'vitest';
import type { EventMark, RunMarks } from './run-fork.types.js';
import { callOf, forkPoints, prefixBefore } from './run-prefix.policy.js';

type PartialMark = Partial<EventMark> & { readonly type: string };

/** A run that recorded these steps, one per ms, and these events. */
function marks(steps: readonly string[], events: readonly PartialMark[] = []): RunMarks {
  return {
    steps: steps.map((name, i) => ({ name, at: i + 1 })),
    events: events.map((event, i) => ({
      n: i + 1,
      at: 0,
      iteration: null,
      callId: null,
      calls: null,
      started: null,
      ...event,
    })),
  };
}

const message = (iteration: number, ...ids: string[]): PartialMark => ({
  type: 'message.completed',
  iteration,
  calls: ids.map((id) => ({ id, name: `tool-${id}`, arguments: '{}' })),
});
const tool = (type: 'started' | 'completed', iteration: number, callId: string): PartialMark => ({
  type: `tool.${type}`,
  iteration,
  callId,
});

const TWO_CALLS = marks(
  ['value:window', 'model:1', 'tool:1:2', 'tool:1:1', 'model:2'],
  [
    { type: 'run.started' },
    message(1, 'a', 'b'),
    { type: 'usage', iteration: 1 },
    tool('started', 1, 'a'),
    tool('started', 1, 'b'),
    tool('completed', 1, 'b'),
    tool('completed', 1, 'a'),
    message(2),
    { type: 'run.completed' },
  ],
);

describe('fork points', () => {
  it.each([
    ['include the first step of a run without records', marks([]), ['model:1']],
    [
      'are the recorded steps of an ended run',
      TWO_CALLS,
      ['value:window', 'model:1', 'tool:1:1', 'tool:1:2', 'model:2'],
    ],
    [
      'include the pending calls of a run',
      marks(['model:1', 'claim:1:2'], [message(1, 'a', 'b')]),
      ['model:1', 'tool:1:1', 'claim:1:2', 'tool:1:2'],
    ],
    [
      'include the next model call after all calls have results',
      marks(['model:1', 'tool:1:1'], [message(1, 'a')]),
      ['model:1', 'tool:1:1', 'model:2'],
    ],
    ['include a retry of an empty model reply', marks(['model:1']), ['model:1', 'model:1:r1']],
    [
      'exclude the compaction of a request, which belongs to its model call',
      marks(['model:1', 'tool:1:1', 'model:compact:2', 'value:compact:2'], [message(1, 'a')]),
      ['model:1', 'tool:1:1', 'model:2'],
    ],
    ['exclude the cancel of a waiting run', marks(['model:1', 'answer:3'], [message(1)]), ['model:1']],
  ])('%s', (_case, run, expected) => {
    expect(forkPoints(run)).toEqual(expected);
  });
});

describe('the prefix before a step', () => {
  it.each([
    ['model:1', ['value:window'], []],
    ['value:window', [], []],
    ['tool:1:1', ['value:window', 'model:1'], [2, 3]],
    ['tool:1:2', ['value:window', 'model:1', 'tool:1:1'], [2, 3, 4, 7]],
    ['model:2', ['value:window', 'model:1', 'tool:1:1', 'tool:1:2'], [2, 3, 4, 5, 6, 7]],
  ])('%s', (fromStep, steps, events) => {
    expect(prefixBefore(TWO_CALLS, fromStep)).toEqual({ steps, events });
  });

  it('treats a call as one unit: a fork from any of its steps starts the call anew', () => {
    const run = marks(
      ['model:1', 'tool:1:1', 'answer:approval:1:2', 'claim:1:2', 'suspend:1:2', 'answer:input:1:2', 'tool:1:2'],
      [message(1, 'a', 'b'), tool('completed', 1, 'a'), tool('started', 1, 'b'), tool('completed', 1, 'b')],
    );
    for (const fromStep of run.steps.map(({ name }) => name).filter((name) => name.includes(':1:2'))) {
      expect(prefixBefore(run, fromStep)).toEqual({ steps: ['model:1', 'tool:1:1'], events: [1, 2] });
    }
  });

  it('starts an earlier call without a result anew', () => {
    const steps = ['model:1', 'value:approval:1:1', 'answer:approval:1:1', 'suspend:1:1', 'tool:1:2'];
    const run = marks(steps, [message(1, 'a', 'b')]);
    expect(prefixBefore(run, 'tool:1:2')).toEqual({ steps: ['model:1'], events: [1] });
  });

  it('copies the records of a claimed call, but not its approval', () => {
    const run = marks(
      ['model:1', 'value:approval:1:1', 'answer:approval:1:1', 'claim:1:1', 'value:settle:1:1', 'tool:1:2'],
      [message(1, 'a', 'b'), tool('started', 1, 'a'), tool('completed', 1, 'b')],
    );
    expect(prefixBefore(run, 'tool:1:2')).toEqual({ steps: ['model:1', 'claim:1:1'], events: [1, 2] });
  });

  it('has the compaction of a request with its model call, and neither without the other', () => {
    const compaction = ['model:compact:2', 'value:compact:2'];
    const run = marks(
      ['model:1', 'tool:1:1', ...compaction, 'model:2', 'tool:2:1'],
      [message(1, 'a'), tool('completed', 1, 'a'), { type: 'context.compacted', iteration: 2 }, message(2, 'b')],
    );
    expect(prefixBefore(run, 'model:2')).toEqual({ steps: ['model:1', 'tool:1:1'], events: [1, 2] });
    expect(prefixBefore(run, 'tool:2:1')).toEqual({
      steps: ['model:1', 'tool:1:1', 'model:2', ...compaction],
      events: [1, 2, 3, 4],
    });
  });

  it('separates two attempts of one reply', () => {
    const run: RunMarks = {
      steps: [
        { name: 'model:1', at: 10 },
        { name: 'model:1:r1', at: 20 },
      ],
      events: [
        { n: 2, at: 9, type: 'usage', iteration: 1, callId: null, calls: null, started: null },
        { n: 3, at: 19, type: 'thought', iteration: 1, callId: null, calls: null, started: null },
        { n: 4, at: 19, type: 'message.completed', iteration: 1, callId: null, calls: [], started: null },
        { n: 5, at: 19, type: 'usage', iteration: 1, callId: null, calls: null, started: null },
      ],
    };
    expect(prefixBefore(run, 'model:1:r1')).toEqual({ steps: ['model:1'], events: [2] });
    expect(prefixBefore(run, 'model:1')).toEqual({ steps: [], events: [] });
  });
});

describe('the call of a step', () => {
  it('is found by its position', () => {
    expect(callOf(TWO_CALLS, 'tool:1:2')).toMatchObject({ id: 'b', name: 'tool-b' });
    expect(callOf(TWO_CALLS, 'model:2')).toBeNull();
    expect(callOf(TWO_CALLS, 'tool:7:1')).toBeNull();
  });
});

describe('a fork from a call of a script', () => {
  const begun = (id: string): PartialMark => ({
    ...tool('started', 1, id),
    started: { id, name: `tool-${id}`, arguments: '{}' },
  });
  const SCRIPT = marks(
    ['model:1', 'value:script:1:1', 'tool:1:1.1', 'claim:1:1.2', 'tool:1:1.2', 'tool:1:1.3', 'tool:1:1', 'model:2'],
    [
      message(1, 'a'),
      begun('a'),
      begun('a.1'),
      tool('completed', 1, 'a.1'),
      begun('a.2'),
      tool('completed', 1, 'a.2'),
      begun('a.3'),
      tool('completed', 1, 'a.3'),
      tool('completed', 1, 'a'),
      message(2),
    ],
  );

  it('is possible, and knows the call', () => {
    expect(forkPoints(SCRIPT)).toEqual(SCRIPT.steps.map(({ name }) => name));
    expect(callOf(SCRIPT, 'tool:1:1.2')).toEqual({ id: 'a.2', name: 'tool-a.2', arguments: '{}' });
    expect(callOf(SCRIPT, 'tool:1:1')).toMatchObject({ id: 'a' });
    expect(callOf(SCRIPT, 'tool:1:1.4')).toBeNull();
  });

  it('copies the start of the script and the calls before', () => {
    expect(prefixBefore(SCRIPT, 'tool:1:1.2')).toEqual({
      steps: ['model:1', 'value:script:1:1', 'tool:1:1.1'],
      events: [1, 2, 3, 4],
    });
    expect(prefixBefore(SCRIPT, 'tool:1:1')).toEqual({ steps: ['model:1'], events: [1] });
    expect(prefixBefore(SCRIPT, 'model:2')).toMatchObject({ steps: { length: 7 }, events: { length: 9 } });
  });
});
