import { AppError, type ErrorCode } from '../../errors/index.js';
import type { ModelPrice } from '../../config/index.js';
import type { CallEnd, ModelBudget, Reservation } from '../budget/model-budget.js';
import { type ChatModel, ModelWrapper } from '../chat/chat-model.js';
import type { CallOptions, ChatRequest, ChatResult, ChatStreamPart, ReplyProgress, Usage } from '../chat/chat.types.js';
import { contextWindowOf, type ModelPatterns } from '../models/model-facts.js';

/** Errors of calls that the provider rejected, did not receive or failed itself: they use no budget. */
const REFUSALS: readonly ErrorCode[] = [
  'MODEL_UNREACHABLE',
  'MODEL_UNAVAILABLE',
  'MODEL_RATE_LIMITED',
  'MODEL_AUTHENTICATION',
  'MODEL_REFUSED',
  'SHUTTING_DOWN',
];
const BROKEN: CallEnd = { kind: 'broken', said: '' };
/** Limits of a reply that is not streamed, in tokens: for models with a known context window, and for others. */
const LONGEST_REPLY = 16_384;
const UNKNOWN_REPLY = 4096;
/** Matches a provider's message about an unsupported reply limit. */
const LIMIT = /max_?(?:completion_|output_)?tokens|context length|context window/i;

/** Calls a model only if the budgets have room for the maximum amount of the call. */
export class BudgetedModel extends ModelWrapper {
  constructor(
    inner: ChatModel,
    private readonly budget: ModelBudget,
    private readonly price: ModelPrice | undefined,
    /** Facts that override the built-in tables. */
    private readonly models: ModelPatterns = {},
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
    const reserved = this.reserve(request, options);
    const reservation = reserved instanceof Promise ? await reserved : reserved;
    let end: CallEnd = BROKEN;
    try {
      const result = await this.limited(request, options, reservation);
      end = { kind: 'answered', result };
      return result;
    } catch (error) {
      end = endOf(error, { said: '' });
      throw error;
    } finally {
      const settled = reservation?.settle(end);
      if (settled) await settled;
    }
  }

  /** A reply that is not streamed cannot be stopped, so the request limits it to the room in the budget. */
  private async limited(
    request: ChatRequest,
    options: CallOptions,
    reservation: Reservation | null,
  ): Promise<ChatResult> {
    const maxTokens = this.isUnlimited(request) ? await reservation?.limitReply(this.longestReply()) : null;
    if (typeof maxTokens !== 'number') return this.inner.generate(request, options);
    try {
      const optionalParameters = [...(request.optionalParameters ?? []), 'maxTokens' as const];
      const limited = { ...request, parameters: { ...request.parameters, maxTokens }, optionalParameters };
      return await this.inner.generate(limited, options);
    } catch (error) {
      // The limit is ours: retry without it if the model does not support it.
      if (!isLimitRefused(error)) throw error;
      return this.inner.generate(request, options);
    }
  }

  private isUnlimited({ parameters }: ChatRequest): boolean {
    const isTaken = !this.capabilities.parameterLimits?.lacking?.includes('maxTokens');
    return parameters?.maxTokens === undefined && isTaken;
  }

  private async *countedStream(request: ChatRequest, options: CallOptions): AsyncGenerator<ChatStreamPart, void> {
    const reservation = await this.reserve(request, options);
    const reply = new RunningReply(reservation);
    let end: CallEnd | null = null;
    try {
      for await (const part of this.inner.stream(request, reservation ? { ...options, progress: reply } : options)) {
        if (part.type === 'finish') end = { kind: 'answered', result: part.result };
        const grown = reply.add(part);
        if (grown) await grown;
        if (!isProgress(part)) yield part;
      }
    } catch (error) {
      end ??= endOf(error, reply.ending());
      throw error;
    } finally {
      // Without an outcome, the reader has left early.
      await reservation?.settle(end ?? { kind: 'broken', ...reply.ending() });
    }
  }

  /** A quarter of the context window, to leave room for the prompt. */
  private longestReply(): number {
    const window = contextWindowOf(this, this.models);
    return window === undefined ? UNKNOWN_REPLY : Math.min(Math.floor(window / 4), LONGEST_REPLY);
  }

  private reserve(
    request: ChatRequest,
    { account, signal }: CallOptions,
  ): Reservation | null | Promise<Reservation | null> {
    signal?.throwIfAborted();
    return account ? this.budget.reserve(account, { model: this.name, request, price: this.price }) : null;
  }
}

/** The received part of a reply whose call failed. */
type Arrived = Omit<Extract<CallEnd, { kind: 'broken' }>, 'kind'>;

/** The received part of a streamed reply. */
class RunningReply implements ReplyProgress {
  /** UTF-16 units generated so far, if the model reports them. */
  length = 0;
  usage?: Usage | undefined;
  private readonly said: string[] = [];
  private saidLength = 0;
  private checked = 0;

  constructor(private readonly reservation: Reservation | null) {}

  /** @throws AppError `BUDGET_EXCEEDED` if the budget has no room for the reply so far */
  add(part: ChatStreamPart): Promise<void> | null {
    if (!this.reservation || !('text' in part)) return null;
    this.said.push(part.text);
    this.saidLength += part.text.length;
    const length = this.saidLength + this.unseen;
    if (length < this.reservation.checkAt) return null;
    const unchecked = this.said.slice(this.checked).join('');
    this.checked = this.said.length;
    return this.reservation.grow(unchecked, length, this.unseen);
  }

  ending(): Arrived {
    const { said, unseen, usage } = this;
    return { said: said.join(''), ...(unseen > 0 && { unseen }), ...(usage && { usage }) };
  }

  private get unseen(): number {
    return Math.max(0, this.length - this.saidLength);
  }
}

/** An empty part only reports progress. */
function isProgress(part: ChatStreamPart): boolean {
  return 'text' in part && part.text === '';
}

function isLimitRefused(error: unknown): boolean {
  return error instanceof AppError && error.code === 'MODEL_REFUSED' && LIMIT.test(error.message);
}

function endOf(error: unknown, arrived: Arrived): CallEnd {
  const isRefused =
    arrived.said === '' &&
    !arrived.unseen &&
    !arrived.usage &&
    error instanceof AppError &&
    REFUSALS.includes(error.code);
  return isRefused ? { kind: 'refused' } : { kind: 'broken', ...arrived };
}
