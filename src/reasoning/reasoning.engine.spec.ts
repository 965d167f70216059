import { Logger } from '@nestjs/common';
import { beforeAll, describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { reasoningEngine } from '../../test/support/reasoning-engine.js';
import { expectPairSafe } from '../../test/support/pairs.js';
import { ALICE } from '../../test/support/run-host.js';
import { calls, says, ScriptedChatModel, type Scripted } from '../../test/support/scripted-chat-model.js';
import { AppError, type ErrorCode } from '../errors/index.js';
import type { ChatRequest, ChatResult, Message, Usage } from '../llm/chat/index.js';
import { MemoryRunContext } from '../run/context/index.js';
import type { RunEvent, RunUsage } from '../run/event/index.js';
import type { ToolEffect } from '../tool/index.js';
import type { Tool } from '../tool/method/index.js';
import { ReasoningEngine } from './reasoning.engine.js';
import type { ReasoningOutcome, ReasoningRequest } from './reasoning.types.js';

const INPUT: Message = { role: 'user', content: 'question' };
const MAX_ITERATIONS = 4;

let engine: ReasoningEngine;
beforeAll(() => {
  Logger.overrideLogger(false);
  engine = reasoningEngine();
});

/** Counts observable points of a run and acts at one of them. */
class Watch {
  points = 0;
  constructor(private readonly act: (point: number) => void = () => undefined) {}
  readonly pass = (): void => this.act(this.points++);
}

class WatchedContext extends MemoryRunContext {
  constructor(
    private readonly watch: Watch,
    signal: AbortSignal,
  ) {
    super(ALICE, signal);
  }
  override emit(event: RunEvent): void {
    super.emit(event);
    this.watch.pass();
  }
}

function tool(name: string, effect: ToolEffect, invoke: Tool['invoke']): Tool {
  return {
    definition: { name, description: name, inputSchema: { type: 'object' } },
    metadata: { effect, source: `Test.${name}`, egress: false, untrusted: false },
    validate: (args) =>
      (args as { bad?: boolean }).bad ? { valid: false, reason: 'bad' } : { valid: true, value: args },
    invoke,
  };
}

function toolsOf(watch: Watch): Tool[] {
  return [
    tool('echo', 'read', (args) => (watch.pass(), args)),
    tool('pay', 'once', async () => (watch.pass(), 'paid')),
    tool('late', 'idempotent', async () => {
      await new Promise((resolve) => setImmediate(resolve));
      watch.pass();
      return 'late';
    }),
    tool('fails', 'read', () => {
      watch.pass();
      throw new Error('broken');
    }),
  ];
}

interface Played {
  readonly outcome: ReasoningOutcome | { readonly kind: 'rejected'; readonly error: AppError };
  readonly model: ScriptedChatModel;
  readonly context: MemoryRunContext;
  readonly requestsAtAbort: number | null;
}

interface Abort {
  readonly at: number;
  readonly code: ErrorCode;
}

async function play(
  script: readonly Scripted[],
  abort: Abort | null = null,
  more: Partial<ReasoningRequest> = {},
): Promise<Played> {
  const controller = new AbortController();
  let requestsAtAbort: number | null = null;
  const watch = new Watch((point) => {
    if (point !== abort?.at) return;
    requestsAtAbort = model.requests.length;
    controller.abort(new AppError(abort.code, 'stop'));
  });
  const watched = script.map((line) => (asked: ChatRequest, signal?: AbortSignal) => {
    watch.pass();
    signal?.throwIfAborted();
    return typeof line === 'function' ? line(asked, signal) : line;
  });
  const model = new ScriptedChatModel(watched);
  const context = new WatchedContext(watch, controller.signal);
  const request: ReasoningRequest = {
    agent: null,
    instructions: 'be good',
    history: [],
    input: INPUT,
    model,
    protocol: 'native',
    tools: toolsOf(watch),
    limits: { maxIterations: MAX_ITERATIONS, maxResultBytes: 1000 },
    isStreaming: false,
    ...more,
  };
  const outcome = await engine.run(request, context).catch((error: AppError) => ({ kind: 'rejected', error }) as const);
  return { outcome, model, context, requestsAtAbort };
}

function usageOf(answers: readonly ChatResult[]): RunUsage {
  const sum = (key: keyof Usage) => answers.reduce((total, { usage }) => total + (usage?.[key] ?? 0), 0);
  return {
    prompt_tokens: sum('promptTokens'),
    completion_tokens: sum('completionTokens'),
    total_tokens: sum('totalTokens'),
  };
}

const call = fc.tuple(
  fc.constantFrom('echo', 'pay', 'late', 'fails', 'unknown', 'ECHO', ''),
  fc.constantFrom('{}', '{"bad":true}', '{"a":', '', '[1]', 'null', '{"__proto__":{"x":1}}'),
);
const replies: fc.Arbitrary<Scripted> = fc.oneof(
  fc
    .record({ text: fc.string(), finish: fc.constantFrom('stop', 'length', 'content_filter', 'tool_calls') })
    .map(({ text, finish }) => says(text, { finishReason: finish as 'stop' })),
  { weight: 4, arbitrary: fc.array(call, { maxLength: 4 }).map((wanted) => calls(...wanted)) },
  fc.tuple(call, fc.constantFrom('length', 'content_filter')).map(([one, finish]) => ({
    ...calls(one),
    finishReason: finish as 'length',
  })),
  fc.constant(says('counts nothing', { usage: undefined as never })),
  fc.constantFrom(new AppError('MODEL_TIMEOUT', 'too slow'), new Error('a bug')),
);
const aborts = fc.option(
  fc.record({
    at: fc.nat(30),
    code: fc.constantFrom<ErrorCode[]>(
      'RUN_CANCELLED',
      'RUN_TIMEOUT',
      'SHUTTING_DOWN',
      'RUN_FENCED',
      'JOURNAL_UNAVAILABLE',
    ),
  }),
);

describe('a turn with any replies and any stop', () => {
  it('is pair-safe and within all limits, sends no request after the stop, and sums the usage', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(replies, { maxLength: 6 }),
        aborts,
        fc.boolean(),
        async (script, abort, isStreaming) => {
          const { outcome, model, context, requestsAtAbort } = await play(script, abort, { isStreaming });
          // An iteration may retry once after an empty reply.
          expect(model.requests.length).toBeLessThanOrEqual(2 * MAX_ITERATIONS);
          expect(model.requests).toHaveLength(requestsAtAbort ?? model.requests.length);
          const rejection = outcome.kind === 'rejected' ? outcome.error.code : null;
          expect([null, requestsAtAbort === null ? null : abort!.code]).toContain(rejection);
          if (rejection !== null) return;
          if (outcome.kind !== 'ended') throw new Error('No run waits here.');
          expectPairSafe(outcome.messages, INPUT);
          expect(outcome.iterations).toBe(model.requests.length);
          // The loop does not wait for an answer that arrives together with the abort.
          const heard = [model.answers, ...(requestsAtAbort === null ? [] : [model.answers.slice(0, -1)])];
          expect(heard.map(usageOf)).toContainEqual(outcome.usage);
          for (const { messages } of model.requests) expectPairSafe(withoutPrompt(messages.slice(1)), INPUT);
          const isFailed = outcome.finishReason === 'error' || outcome.finishReason === 'timeout';
          expect(outcome.failure !== undefined).toBe(isFailed);
          expectPublishedOnce(context.events, outcome.messages);
        },
      ),
      { numRuns: 1500 },
    );
  });
});

/** Without the message that asks a model to continue after its empty reply. */
function withoutPrompt(messages: readonly Message[]): readonly Message[] {
  return messages.length > 1 && messages.at(-1)?.role === 'user' ? messages.slice(0, -1) : messages;
}

/** The fold of the events has the same results as the turn. */
function expectPublishedOnce(events: readonly RunEvent[], messages: readonly Message[]): void {
  const published = events.filter(({ type }) => type === 'tool.completed').length;
  expect(published).toBe(messages.filter(({ role }) => role === 'tool').length);
}

describe('the end of a run', () => {
  it.each([
    ['stop', says('fine'), { finishReason: 'stop', text: 'fine' }],
    ['length', says('cut o', { finishReason: 'length' }), { finishReason: 'length', text: 'cut o' }],
    ['a filter', says('', { finishReason: 'content_filter' }), { finishReason: 'content_filter', text: '' }],
    [
      'a refusal of the model',
      new AppError('MODEL_REFUSED', 'no'),
      { finishReason: 'error', failure: { code: 'MODEL_REFUSED' } },
    ],
    ['a bug', new Error('oops'), { finishReason: 'error', failure: { code: 'INTERNAL' } }],
  ])('reports its cause: %s', async (_what, reply, expected) => {
    expect((await play([reply])).outcome).toMatchObject({ kind: 'ended', iterations: 1, ...expected });
  });

  it('answers the last calls at the iteration limit without executing them', async () => {
    const { outcome, context } = await play(Array.from({ length: 9 }, () => calls(['pay', {}])));
    expect(outcome).toMatchObject({ kind: 'ended', finishReason: 'iteration_limit', iterations: MAX_ITERATIONS });
    const results = context.events.filter(({ type }) => type === 'tool.completed');
    expect(results.map((event) => 'success' in event && event.success)).toEqual([true, true, true, false]);
  });

  it('never executes the calls of a reply that was cut', async () => {
    const { outcome, context } = await play([{ ...calls(['pay', {}]), finishReason: 'length' }]);
    expect(outcome).toMatchObject({ finishReason: 'length', messages: [INPUT, { role: 'assistant', content: '' }] });
    expect(context.events.some(({ type }) => type === 'tool.started')).toBe(false);
  });
});

describe('several calls in one reply', () => {
  it('are executed at once; their results are in the order of the calls', async () => {
    let open = 0;
    let most = 0;
    const wait = async (args: unknown) => {
      most = Math.max(most, ++open);
      for (let turn = 0; turn < (args as { turns: number }).turns; turn++) await new Promise((go) => setImmediate(go));
      open--;
      return args;
    };
    const script = [calls(['wait', { turns: 5 }], ['wait', { turns: 1 }], ['wait', { turns: 3 }]), says('done')];
    const { outcome } = await play(script, null, { tools: [tool('wait', 'read', wait)] });
    expect(most).toBe(3);
    expect(outcome).toMatchObject({
      messages: [
        {},
        {},
        { content: '{"turns":5}' },
        { content: '{"turns":1}' },
        { content: '{"turns":3}' },
        { content: 'done' },
      ],
    });
  });
});

describe('the request to the model', () => {
  it('contains the instructions, the history and the current turn', async () => {
    const history: Message[] = [
      { role: 'user', content: 'before' },
      { role: 'assistant', content: 'earlier' },
    ];
    const { model } = await play([calls(['echo', { a: 1 }]), says('done')], null, { history });
    expect(model.requests[0]!.messages).toEqual([{ role: 'system', content: 'be good' }, ...history, INPUT]);
    expect(model.requests[1]!.messages.slice(4)).toMatchObject([
      { role: 'assistant', toolCalls: [{ id: 'call_0', name: 'echo' }] },
      { role: 'tool', toolCallId: 'call_0', name: 'echo', content: '{"a":1}' },
    ]);
    expect(model.requests[0]!.tools?.map(({ name }) => name)).toEqual(['echo', 'pay', 'late', 'fails']);
  });

  it('contains an error with advice for a wrong call', async () => {
    const script = [calls(['unknown', {}], ['echo', '{"a":'], ['echo', { bad: true }], ['fails', {}]), says('sorry')];
    const { model } = await play(script);
    const results = model.requests[1]!.messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
    expect(results).toEqual([
      expect.stringMatching(/^Error: Unknown tool "unknown".*echo, pay, late, fails/),
      expect.stringMatching(/^Error: /),
      'Error: Invalid arguments: bad',
      'Error: broken',
    ]);
  });
});

describe('a streamed message', () => {
  it('is published in pieces that add up to it', async () => {
    const { context } = await play([says('a longer message 🐦‍⬛ indeed')], null, { isStreaming: true });
    const pieces = context.events.map((event) => (event.type === 'message.delta' ? event.text : ''));
    expect(pieces.join('')).toBe('a longer message 🐦‍⬛ indeed');
  });
});
