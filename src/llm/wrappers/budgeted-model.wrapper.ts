import { AppError, type ErrorCode } from '../../common/index.js';
import type { ModelPrice } from '../../config/index.js';
import type { CallEnd, ModelBudget, Reservation } from '../budget/model-budget.js';
import type { ChatModel } from '../chat-model.js';
import type { CallOptions, ChatRequest, ChatResult, ChatStreamPart } from '../chat.types.js';
import { ModelWrapper } from './model.wrapper.js';

/** The provider has not begun with what ends so, or says that it failed itself: for that nobody is charged. */
const REFUSALS: readonly ErrorCode[] = [
  'MODEL_UNREACHABLE',
  'MODEL_UNAVAILABLE',
  'MODEL_RATE_LIMITED',
  'MODEL_AUTHENTICATION',
  'MODEL_REFUSED',
  'SHUTTING_DOWN',
];
const BROKEN: CallEnd = { kind: 'broken', said: '' };

/** Asks a model only when the budgets have room for the most that the call may take. */
export class BudgetedModel extends ModelWrapper {
  constructor(
    inner: ChatModel,
    private readonly budget: ModelBudget,
    private readonly price: ModelPrice | undefined,
  ) {
    super(inner);
  }

  generate(request: ChatRequest, options: CallOptions = {}): Promise<ChatResult> {
    return this.budget.limits(options.account) ? this.counted(request, options) : this.inner.generate(request, options);
  }

  stream(request: ChatRequest, options: CallOptions = {}): AsyncIterable<ChatStreamPart> {
    const isCounted = this.budget.limits(options.account);
    return isCounted ? this.countedStream(request, options) : this.inner.stream(request, options);
  }

  private async counted(request: ChatRequest, options: CallOptions): Promise<ChatResult> {
    const asked = this.reserve(request, options);
    const reservation = asked instanceof Promise ? await asked : asked;
    let end: CallEnd = BROKEN;
    try {
      const result = await this.inner.generate(request, options);
      end = { kind: 'answered', result };
      return result;
    } catch (error) {
      end = endOf(error, '');
      throw error;
    } finally {
      const settled = reservation?.settle(end);
      if (settled) await settled;
    }
  }

  private async *countedStream(request: ChatRequest, options: CallOptions): AsyncGenerator<ChatStreamPart, void> {
    const reservation = await this.reserve(request, options);
    const said: string[] = [];
    let end: CallEnd | null = null;
    try {
      for await (const part of this.inner.stream(request, options)) {
        if (part.type === 'finish') end = { kind: 'answered', result: part.result };
        else if (reservation && 'text' in part) said.push(part.text);
        yield part;
      }
    } catch (error) {
      end ??= endOf(error, said.join(''));
      throw error;
    } finally {
      // Without an end the reader has gone away.
      await reservation?.settle(end ?? { kind: 'broken', said: said.join('') });
    }
  }

  private reserve(
    request: ChatRequest,
    { account, signal }: CallOptions,
  ): Reservation | null | Promise<Reservation | null> {
    signal?.throwIfAborted();
    return account ? this.budget.reserve(account, { model: this.name, request, price: this.price }) : null;
  }
}

function endOf(error: unknown, said: string): CallEnd {
  const isRefused = said === '' && error instanceof AppError && REFUSALS.includes(error.code);
  return isRefused ? { kind: 'refused' } : { kind: 'broken', said };
}
