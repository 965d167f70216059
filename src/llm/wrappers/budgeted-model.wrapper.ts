import type { ModelPrice } from '../../config/index.js';
import type { ModelBudget, Reservation } from '../budget/model-budget.js';
import type { ChatModel } from '../chat-model.js';
import type { CallOptions, ChatRequest, ChatResult, ChatStreamPart } from '../chat.types.js';
import { ModelWrapper } from './model.wrapper.js';

/** Asks a model only when the budgets have room for the most that the call may take. */
export class BudgetedModel extends ModelWrapper {
  constructor(
    inner: ChatModel,
    private readonly budget: ModelBudget,
    private readonly price: ModelPrice | undefined,
  ) {
    super(inner);
  }

  async generate(request: ChatRequest, options: CallOptions = {}): Promise<ChatResult> {
    const reservation = await this.reserve(request, options);
    let result: ChatResult | null = null;
    try {
      return (result = await this.inner.generate(request, options));
    } finally {
      await reservation?.settle(result);
    }
  }

  async *stream(request: ChatRequest, options: CallOptions = {}): AsyncGenerator<ChatStreamPart, void> {
    const reservation = await this.reserve(request, options);
    let result: ChatResult | null = null;
    try {
      for await (const part of this.inner.stream(request, options)) {
        if (part.type === 'finish') result = part.result;
        yield part;
      }
    } finally {
      await reservation?.settle(result);
    }
  }

  private async reserve(request: ChatRequest, { account, signal }: CallOptions): Promise<Reservation | null> {
    signal?.throwIfAborted();
    return account ? this.budget.reserve(account, { model: this.name, request, price: this.price }) : null;
  }
}
