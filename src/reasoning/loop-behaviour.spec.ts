import { Logger } from '@nestjs/common';
import { beforeAll, describe, expect, it } from 'vitest';
import { reasoningEngine } from '../../test/support/reasoning-engine.js';
import { reasonIn } from '../../test/support/reasoned-run.js';
import { ALICE } from '../../test/support/run-host.js';
import { calls, says, ScriptedChatModel, type Scripted } from '../../test/support/scripted-chat-model.js';
import { AppError } from '../errors/index.js';
import { MemoryRunContext } from '../run/context/index.js';
import type { RunEvent } from '../run/event/index.js';
import type { Tool } from '../tool/method/index.js';
import type { PlacedProcessor } from './loop/pipeline.js';
import { Processor } from './loop/processor.js';
import { ProcessorRegistry } from './loop/processor.registry.js';
import type { Loop, ReasoningOutcome } from './reasoning.types.js';

beforeAll(() => Logger.overrideLogger(false));

const FAILS: Tool = {
  definition: { name: 'fails', description: 'fails', inputSchema: { type: 'object' } },
  metadata: { effect: 'read', source: 'Test.fails', egress: false, untrusted: false },
  validate: (value) => ({ valid: true, value }),
  invoke: () => Promise.reject(new Error('broken')),
};

/** Separates the events that are committed only with the end of the run. */
class ClosingContext extends MemoryRunContext {
  readonly closing: RunEvent[] = [];

  override emitWithEnd(event: RunEvent): void {
    this.closing.push(event);
  }
}

async function play(script: readonly Scripted[], placed: readonly PlacedProcessor[] = []) {
  const processors = new ProcessorRegistry(placed);
  const engine = reasoningEngine({ processors });
  const model = new ScriptedChatModel(script);
  const run = new ClosingContext(ALICE);
  const outcome: ReasoningOutcome = await engine.run(
    {
      agent: null,
      instructions: '',
      history: [],
      input: { role: 'user', content: 'question' },
      model,
      protocol: 'native',
      tools: [FAILS],
      limits: { maxIterations: 5, maxResultBytes: 1000 },
      isStreaming: false,
    },
    run,
  );
  return { outcome, model, run };
}

describe('a model that repeats a failing call', () => {
  it('is warned from the second time on, only for the same arguments', async () => {
    const script = [
      calls(['fails', { a: 1 }]),
      calls(['fails', { a: 2 }]),
      calls(['fails', { a: 1 }]),
      says('I stop here.'),
    ];
    const { outcome } = await play(script);
    if (outcome.kind !== 'ended') throw new Error('It does not wait.');
    const results = outcome.messages.flatMap((message) => (message.role === 'tool' ? [message.content] : []));
    expect(results.slice(0, 2)).toEqual(['Error: broken', 'Error: broken']);
    expect(results[2]).toMatch(/^Error: broken You made the same call before and it failed/);
    expect(outcome.text).toBe('I stop here.');
  });
});

describe('an empty reply', () => {
  it('is requested again once, and leaves no trace in the turn', async () => {
    const { outcome, model, run } = await play([says('  \n'), says('here')]);
    expect(outcome).toMatchObject({ kind: 'ended', finishReason: 'stop', text: 'here', iterations: 2 });
    expect(outcome).toMatchObject({ messages: [{ role: 'user' }, { role: 'assistant', content: 'here' }] });
    expect(outcome).toMatchObject({ usage: { total_tokens: 30 } });
    expect(model.requests[1]).toEqual(model.requests[0]);
    expect(run.events.filter(({ type }) => type === 'message.completed')).toHaveLength(1);
  });

  it('fails the run with MODEL_BAD_REPLY when it occurs twice', async () => {
    const { outcome, model } = await play([says(''), says('')]);
    expect(outcome).toMatchObject({ finishReason: 'error', failure: { code: 'MODEL_BAD_REPLY', is_retryable: true } });
    expect(model.requests).toHaveLength(2);
  });

  it('is continued once after tool results, and then the answer is empty', async () => {
    const { outcome, model, run } = await play([calls(['fails', {}]), says(''), says('\n')]);
    expect(outcome).toMatchObject({ kind: 'ended', finishReason: 'stop', text: '\n', iterations: 3 });
    const [, second, third] = model.requests;
    expect(third!.messages.slice(0, -1)).toEqual(second!.messages);
    expect(third!.messages.at(-1)).toMatchObject({ role: 'user', content: expect.stringContaining('Please continue') });
    expect(outcome).toMatchObject({ messages: [{ role: 'user' }, {}, { role: 'tool' }, { role: 'assistant' }] });
    expect(run.events.filter(({ type }) => type === 'message.completed')).toHaveLength(2);
    const answered = await play([calls(['fails', {}]), says(''), says('Done.')]);
    expect(answered.outcome).toMatchObject({ finishReason: 'stop', text: 'Done.', iterations: 3 });
  });

  it.each(['MODEL_REFUSED', 'BUDGET_EXCEEDED', 'BUDGET_IN_USE'] as const)(
    'is the answer when the request to continue it fails with %s, and is published with the end of the run',
    async (code) => {
      const script = [calls(['fails', {}]), says(''), new AppError(code, 'It failed.')];
      const { outcome, run } = await play(script);
      expect(outcome).toMatchObject({ kind: 'ended', finishReason: 'stop', text: '' });
      const published = (events: readonly RunEvent[]) => events.filter(({ type }) => type === 'message.completed');
      expect(published(run.events)).toMatchObject([{ iteration: 1 }]);
      expect(published(run.closing)).toMatchObject([{ iteration: 2, text: '', tool_calls: [] }]);
    },
  );

  it('is an answer when it was cut or filtered', async () => {
    const { outcome } = await play([says('', { finishReason: 'content_filter' })]);
    expect(outcome).toMatchObject({ finishReason: 'content_filter', text: '' });
  });
});

describe('<think> at the start of a reply', () => {
  const whole = '<think>Secret.</think>Hello';

  it.each([
    [3, whole, whole],
    [4, whole, 'Hello'],
    [4, '<think> is a tag', '<think> is a tag'],
  ])('is decoded by version %i of the loop: %s', async (loopVersion, content, text) => {
    for (const isStreaming of [false, true]) {
      const run = new MemoryRunContext(ALICE);
      const model = new ScriptedChatModel([says(content)]);
      expect(await reasonIn(run, { model, tools: [], loopVersion, isStreaming })).toMatchObject({ text });
      const shown = run.events.flatMap((event) => (event.type === 'message.delta' ? [event.text] : [])).join('');
      expect(shown).toBe(isStreaming ? text : '');
    }
  });
});

describe('a custom processor', () => {
  class Noting extends Processor {
    readonly name = 'noting';
    constructor(private readonly notes: string[]) {
      super();
    }
    async process(loop: Loop): Promise<void> {
      this.notes.push(`${loop.iteration}: ${loop.turn.length} messages`);
    }
  }

  it.each([
    ['before', 'format-results', ['1: 2 messages', '2: 4 messages']],
    ['after', 'format-results', ['1: 3 messages', '2: 4 messages']],
    ['before', 'prepare-tools', ['1: 1 messages', '2: 3 messages']],
    ['after', 'continue-or-finish', ['1: 3 messages', '2: 4 messages']],
  ] as const)('runs %s %s in every iteration of the loop', async (side, name, expected) => {
    const notes: string[] = [];
    await play([calls(['fails', {}]), says('done')], [{ processor: new Noting(notes), side, name }]);
    expect(notes).toEqual(expected);
  });

  it('is rejected beside an unknown name, naming the available ones', async () => {
    const placed = { processor: new Noting([]), side: 'before', name: 'ask-modle' } as const;
    await expect(play([], [placed])).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('prepare-tools, ask-model, tee-stream'),
    });
  });
});
