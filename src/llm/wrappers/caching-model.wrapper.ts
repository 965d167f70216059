import { hash } from 'node:crypto';
import type { Cache } from '../../cache/index.js';
import { AppError } from '../../errors/index.js';
import { canonicalJson } from '../../kernel/json/index.js';
import { type ChatModel, ModelWrapper } from '../chat/chat-model.js';
import type { CallOptions, ChatRequest, ChatResult, ChatStreamPart } from '../chat/chat.types.js';
import { type CallMethod, free, ModelFlight, partsOf } from './model-flight.builder.js';

/** Tenant and model of a request. */
interface CalledModel {
  readonly tenant: string;
  readonly provider: string;
  readonly model: string;
}

/** Whether equal requests have equal replies: only at temperature 0. */
function isDeterministic({ parameters }: ChatRequest): boolean {
  return parameters?.temperature === 0;
}

/** Cache key of a request, independent of the order of its fields: SHA-256 in hex. */
export function requestKey(called: CalledModel, request: ChatRequest): string {
  return hash('sha256', canonicalJson([called.tenant, called.provider, called.model, request]));
}

/**
 * Caches replies of deterministic requests; concurrent equal requests share one call. Only a reply that its caller
 * accepts is stored, and an entry that a later caller does not accept is replaced.
 */
export class CachingModel extends ModelWrapper {
  private readonly flights = new Map<string, ModelFlight>();

  constructor(
    inner: ChatModel,
    private readonly cache: Cache,
  ) {
    super(inner);
  }

  generate(request: ChatRequest, options: CallOptions = {}): Promise<ChatResult> {
    return isDeterministic(request) ? this.whole(request, options) : this.inner.generate(request, options);
  }

  async *stream(request: ChatRequest, options: CallOptions = {}): AsyncGenerator<ChatStreamPart, void> {
    yield* isDeterministic(request) ? this.answer('stream', request, options) : this.inner.stream(request, options);
  }

  private async whole(request: ChatRequest, options: CallOptions): Promise<ChatResult> {
    for await (const part of this.answer('generate', request, options)) if (part.type === 'finish') return part.result;
    throw new Error('a reply without an end');
  }

  private async *answer(
    method: CallMethod,
    request: ChatRequest,
    options: CallOptions,
  ): AsyncGenerator<ChatStreamPart, void> {
    const { provider, name: model } = this;
    const key = requestKey({ tenant: options.tenant ?? '', provider, model }, request);
    if (options.isFresh) return yield* this.start(key, method, request, options).read(options.signal);
    const stored = this.flightOf(key) ? null : readEntry(await this.cache.get(key));
    if (stored && (await isUsable(stored, options))) return yield* partsOf(free(stored));
    const shared = this.flightOf(key);
    yield* shared
      ? this.follow(shared, method, request, options)
      : this.start(key, method, request, options).read(options.signal);
  }

  private async *follow(
    shared: ModelFlight,
    method: CallMethod,
    request: ChatRequest,
    options: CallOptions,
  ): AsyncGenerator<ChatStreamPart, void> {
    let hasShown = false;
    try {
      for await (const part of shared.read(options.signal)) {
        hasShown = part.type !== 'restart';
        yield part;
      }
    } catch (error) {
      // The budget of another caller is exceeded: repeat the call for this one.
      if (!(error instanceof AppError) || error.code !== 'BUDGET_EXCEEDED') throw error;
      if (hasShown) yield { type: 'restart' };
      yield* this.answer(method, request, options);
    }
  }

  private flightOf(key: string): ModelFlight | undefined {
    const flight = this.flights.get(key);
    return flight?.isOver ? undefined : flight;
  }

  private start(key: string, method: CallMethod, request: ChatRequest, options: CallOptions): ModelFlight {
    const flight = new ModelFlight(this.inner, method, request, options);
    this.flights.set(key, flight);
    const land = () => this.flights.get(key) === flight && this.flights.delete(key);
    flight.result.then((result) => this.store(key, result, options)).then(land, land);
    return flight;
  }

  private async store(key: string, result: ChatResult, options: CallOptions): Promise<void> {
    // A fallback's reply is not the reply of this model.
    if (result.switches) return;
    const usable = isUsable(result, options);
    // Without a delay for an immediate answer: the next equal request finds the entry.
    if (!(typeof usable === 'boolean' ? usable : await usable)) return;
    await this.cache.set(key, JSON.stringify(result));
  }
}

/** `null` for an entry that is absent or damaged. */
function readEntry(text: string | null): ChatResult | null {
  try {
    const entry = JSON.parse(text ?? 'null') as Partial<ChatResult> | null;
    return typeof entry?.message?.content === 'string' ? (entry as ChatResult) : null;
  } catch {
    return null;
  }
}

function isUsable(result: ChatResult, { accepts }: CallOptions): boolean | Promise<boolean> {
  const { finishReason, message } = result;
  const isWhole = finishReason === 'stop' || finishReason === 'tool_calls';
  const isEmpty = message.content.trim() === '' && !message.toolCalls?.length;
  return isWhole && !isEmpty && (accepts?.(result) ?? true);
}
