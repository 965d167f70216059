import { describe, expect, it } from 'vitest';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { reasonIn } from '../../../test/support/reasoned-run.js';
import { ALICE } from '../../../test/support/run-host.js';
import { says, ScriptedChatModel } from '../../../test/support/scripted-chat-model.js';
import { AppError } from '../../errors/index.js';
import type { ChatRequest, ChatResult, ChatStreamPart, ResponseFormat } from '../../llm/chat/index.js';
import { MemoryRunContext, type StepName } from '../../run/context/index.js';

class StartContext extends MemoryRunContext {
  private readonly published = Promise.withResolvers<void>();
  private isPublished = false;

  constructor(private readonly controller = new AbortController()) {
    super(ALICE, controller.signal);
  }

  override get started(): Promise<void> | null {
    return this.isPublished ? null : this.published.promise;
  }

  publish(): void {
    this.isPublished = true;
    this.published.resolve();
  }

  lose(error: Error): void {
    this.controller.abort(error);
    this.published.reject(error);
  }
}

class CountingModel extends ScriptedChatModel {
  pieces = 0;
  override async *stream(request: ChatRequest): AsyncIterable<ChatStreamPart> {
    for await (const part of super.stream(request)) {
      this.pieces++;
      yield part;
    }
  }
}

async function begin() {
  const context = new StartContext();
  const model = new CountingModel([says('the whole answer')]);
  const outcome = reasonIn(context, { model, tools: [], isStreaming: true });
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  return { context, model, outcome };
}

it('at most one piece of a reply is read until the start of its run is published', async () => {
  const { context, model, outcome } = await begin();
  expect(model.pieces).toBe(1);
  context.publish();
  await outcome;
  const texts = context.events.map((event) => (event.type === 'message.delta' ? event.text : ''));
  expect([model.pieces, texts.join('')]).toEqual([7, 'the whole answer']);
});

it('a lost start of the run ends the reading', async () => {
  const { context, model, outcome } = await begin();
  const lost = new AppError('JOURNAL_UNAVAILABLE', 'the disk is gone');
  context.lose(lost);
  await expect(outcome).rejects.toBe(lost);
  expect(model.pieces).toBe(1);
});

/** Replays recorded steps; every other step executes and is recorded. */
class RecordedContext extends MemoryRunContext {
  constructor(readonly steps: Map<string, string> = new Map()) {
    super(ALICE);
  }

  override async step<T>(name: StepName, action: () => Promise<T>): Promise<T> {
    const place = this.nameOf(name);
    if (!this.steps.has(place)) this.steps.set(place, JSON.stringify(await action()));
    return JSON.parse(this.steps.get(place)!) as T;
  }

  override isRecorded(name?: { readonly kind: string; readonly place: string }): boolean {
    return name !== undefined && this.steps.has(`${name.kind}:${name.place}`);
  }
}

describe('the verdict on the format of an answer', () => {
  /** Its value is any object. */
  const loose: ResponseFormat = { schema: { type: 'object' } };
  const strict: ResponseFormat = { schema: { type: 'object', required: ['n'] } };

  async function replay(steps: Map<string, string>, replies: readonly ChatResult[], responseFormat: ResponseFormat) {
    const model = new ScriptedChatModel(replies);
    const outcome = await reasonIn(new RecordedContext(steps), { model, tools: [], responseFormat });
    return { outcome, requests: model.requests.length };
  }

  it('is recorded with the answer, which a replay does not check again', async () => {
    const steps = new Map<string, string>();
    const first = await replay(steps, [says('{}')], loose);
    expect(first.outcome).toMatchObject({ finishReason: 'stop', output: {} });
    expect(JSON.parse(steps.get('model:1')!)).toMatchObject({ verdict: { kind: 'valid' } });
    expect(await replay(steps, [], strict)).toEqual({ ...first, requests: 0 });
  });

  it('is recorded with an answer of another format, which a replay corrects again', async () => {
    const steps = new Map<string, string>();
    const replies = [says('{}'), says('{"n": 1}')];
    const first = await replay(steps, replies, strict);
    expect(first).toMatchObject({ outcome: { output: { n: 1 } }, requests: 2 });
    expect(JSON.parse(steps.get('model:1')!)).toMatchObject({
      verdict: { kind: 'format', problem: '"output.n" is required', mayRepair: true },
    });
    expect(await replay(steps, [], loose)).toEqual({ ...first, requests: 0 });
  });

  it('is missing for a reply that is cut or has no format, and for older records, which are checked', async () => {
    const cut = new Map<string, string>();
    await replay(cut, [says('{', { finishReason: 'length' })], loose);
    const plain = new Map<string, string>();
    await reasonIn(new RecordedContext(plain), { model: new ScriptedChatModel([says('{}')]), tools: [] });
    for (const steps of [cut, plain]) expect(JSON.parse(steps.get('model:1')!)).not.toHaveProperty('verdict');
    expect(await replay(plain, [says('{"n": 1}')], strict)).toMatchObject({
      outcome: { output: { n: 1 } },
      requests: 1,
    });
  });
});
