import { expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { reasonIn } from '../../../test/support/reasoned-run.js';
import { ALICE } from '../../../test/support/run-host.js';
import { says, ScriptedChatModel } from '../../../test/support/scripted-chat-model.js';
import { AppError } from '../../common/index.js';
import type { ChatRequest, ChatStreamPart } from '../../llm/index.js';
import { MemoryRunContext } from '../../run/index.js';

class BeginningContext extends MemoryRunContext {
  private readonly told = Promise.withResolvers<void>();
  private isTold = false;

  constructor(private readonly controller = new AbortController()) {
    super(ALICE, controller.signal);
  }

  override get begun(): Promise<void> | null {
    return this.isTold ? null : this.told.promise;
  }

  tell(): void {
    this.isTold = true;
    this.told.resolve();
  }

  lose(error: Error): void {
    this.controller.abort(error);
    this.told.reject(error);
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
  const context = new BeginningContext();
  const model = new CountingModel([says('the whole answer')]);
  const outcome = reasonIn(context, { model, tools: [], isStreaming: true });
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  return { context, model, outcome };
}

it('at most one piece of a reply is read until the start of its run is published', async () => {
  const { context, model, outcome } = await begin();
  expect(model.pieces).toBe(1);
  context.tell();
  await outcome;
  const told = context.events.map((event) => (event.type === 'message.delta' ? event.text : ''));
  expect([model.pieces, told.join('')]).toEqual([7, 'the whole answer']);
});

it('a lost start of the run ends the reading', async () => {
  const { context, model, outcome } = await begin();
  const lost = new AppError('JOURNAL_UNAVAILABLE', 'the disk is gone');
  context.lose(lost);
  await expect(outcome).rejects.toBe(lost);
  expect(model.pieces).toBe(1);
});
