import type { ChatModel } from '../chat/chat-model.js';
import type { CallOptions, ChatRequest, ChatResult, ChatStreamPart } from '../chat/chat.types.js';

/** Method of the call. */
export type CallMethod = 'generate' | 'stream';

/**
 * One call shared by several readers: each reads the reply from its start, late ones included. The call is aborted
 * after the last reader has left.
 */
export class ModelFlight {
  private readonly parts: ChatStreamPart[] = [];
  private readonly controller = new AbortController();
  private readonly waiting = new Set<() => void>();
  private readers = 0;
  private hasPublished = false;
  private state: 'open' | 'ended' | 'failed' = 'open';
  private failure: unknown;
  /** Resolves with the complete reply; rejects with the call's error. */
  readonly result: Promise<ChatResult>;

  constructor(model: ChatModel, method: CallMethod, request: ChatRequest, { signal: _own, ...others }: CallOptions) {
    const options = { ...others, signal: this.controller.signal };
    this.result = this.run(
      method === 'stream' ? model.stream(request, options) : toStream(model.generate(request, options)),
    );
    // The readers receive the error.
    this.result.catch(() => undefined);
  }

  /** Whether new readers must not join: the call has failed or was aborted. */
  get isOver(): boolean {
    return this.state === 'failed' || this.controller.signal.aborted;
  }

  /**
   * Streams the whole reply. Only the first reader that reaches the end gets its usage.
   * @param signal aborts the reading, not the call
   */
  async *read(signal?: AbortSignal): AsyncGenerator<ChatStreamPart, void> {
    this.readers++;
    try {
      for (let at = 0; ;) {
        signal?.throwIfAborted();
        if (at < this.parts.length) yield this.published(this.parts[at++]!);
        else if (this.state === 'open') await this.change(signal);
        else if (this.state === 'failed') throw this.failure;
        else return;
      }
    } finally {
      this.readers--;
      if (this.readers === 0 && this.state === 'open') this.controller.abort(new Error('All callers have left.'));
    }
  }

  private async run(stream: AsyncIterable<ChatStreamPart>): Promise<ChatResult> {
    let result: ChatResult | undefined;
    try {
      for await (const part of stream) {
        this.parts.push(part);
        if (part.type === 'finish') {
          result = part.result;
          this.state = 'ended';
        }
        this.wake();
      }
    } catch (error) {
      this.state = 'failed';
      this.failure = error;
      throw error;
    } finally {
      this.wake();
    }
    return result!;
  }

  private published(part: ChatStreamPart): ChatStreamPart {
    if (part.type !== 'finish') return part;
    const result = this.hasPublished ? free(part.result) : part.result;
    this.hasPublished = true;
    return { type: 'finish', result };
  }

  private wake(): void {
    for (const one of this.waiting) one();
  }

  private change(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const go = () => {
        this.waiting.delete(go);
        signal?.removeEventListener('abort', go);
        resolve();
      };
      this.waiting.add(go);
      signal?.addEventListener('abort', go, { once: true });
    });
  }
}

/** A reply without usage, since another caller has paid for it. */
export function free({ usage: _spent, ...result }: ChatResult): ChatResult {
  return { ...result, isCached: true };
}

/** A complete reply as a stream. */
export function* partsOf(result: ChatResult): Generator<ChatStreamPart, void> {
  const { reasoning, content } = result.message;
  if (reasoning) yield { type: 'reasoning', text: reasoning };
  if (content !== '') yield { type: 'text', text: content };
  yield { type: 'finish', result };
}

async function* toStream(result: Promise<ChatResult>): AsyncGenerator<ChatStreamPart, void> {
  yield* partsOf(await result);
}
