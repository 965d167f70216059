import {
  type CallOptions,
  type ChatModel,
  type ChatRequest,
  type ChatResult,
  type ChatStreamPart,
  ModelWrapper,
} from '../../llm/chat/index.js';
import type { SideBand } from './side-band.builder.js';

/**
 * The inner model during one call of an enhanced model: it applies the options of that call and records the replies.
 */
export class RecordingChatModel extends ModelWrapper {
  readonly replies: ChatResult[] = [];
  /** Error of the last model call, if it failed. */
  failure: { readonly error: unknown } | null = null;
  private calls = 0;

  constructor(
    inner: ChatModel,
    private readonly options: CallOptions,
    private readonly sideBand: SideBand | null,
  ) {
    super(inner);
  }

  async generate(request: ChatRequest, loop: CallOptions = {}): Promise<ChatResult> {
    try {
      const reply = await this.inner.generate(request, this.nextOptions(loop));
      this.note({ type: 'finish', result: reply });
      return reply;
    } catch (error) {
      this.failure = { error };
      throw error;
    }
  }

  async *stream(request: ChatRequest, loop: CallOptions = {}): AsyncGenerator<ChatStreamPart, void> {
    this.sideBand?.begin();
    try {
      for await (const part of this.inner.stream(request, this.nextOptions(loop))) {
        this.note(part);
        yield part;
      }
    } catch (error) {
      this.failure = { error };
      throw error;
    }
  }

  private note(part: ChatStreamPart): void {
    if (part.type === 'finish') {
      this.replies.push(part.result);
      this.failure = null;
    } else if (part.type === 'reasoning') this.sideBand?.reasoning(part.text);
    else if (part.type === 'restart') this.sideBand?.restart();
  }

  /** Each model call has an account step of its own; with the same step it would replace the previous one. */
  private nextOptions({ isFresh, accepts }: CallOptions): CallOptions {
    const { account, ...given } = this.options;
    const options = { ...given, ...(isFresh && { isFresh }), ...(accepts && { accepts }) };
    this.calls++;
    if (!account) return options;
    return { ...options, account: this.calls === 1 ? account : { ...account, step: `${account.step}.${this.calls}` } };
  }
}
