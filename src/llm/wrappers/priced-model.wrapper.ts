import type { ModelPrice } from '../../config/index.js';
import { type ChatModel, ModelWrapper } from '../chat/chat-model.js';
import type { CallOptions, ChatRequest, ChatResult, ChatStreamPart } from '../chat/chat.types.js';
import { checkUsage } from '../wire/reply.parser.js';
import { costOf } from '../models/model-facts.js';

/** Adds the cost to the usage of every reply. Later price changes do not alter journaled costs. */
export class PricedModel extends ModelWrapper {
  constructor(
    inner: ChatModel,
    private readonly price: ModelPrice,
  ) {
    super(inner);
  }

  async generate(request: ChatRequest, options?: CallOptions): Promise<ChatResult> {
    return this.priced(await this.inner.generate(request, options));
  }

  async *stream(request: ChatRequest, options?: CallOptions): AsyncGenerator<ChatStreamPart, void> {
    for await (const part of this.inner.stream(request, options))
      yield part.type === 'finish' ? { type: 'finish', result: this.priced(part.result) } : part;
  }

  private priced(result: ChatResult): ChatResult {
    const { usage: reported, ...rest } = result;
    if (!reported) return result;
    const usage = checkUsage(reported);
    return usage ? { ...rest, usage: { ...usage, cost: costOf(usage, this.price) } } : rest;
  }
}
