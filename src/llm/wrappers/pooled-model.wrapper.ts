import { ChatModel } from '../chat/chat-model.js';
import type {
  CallAccount,
  CallOptions,
  ChatRequest,
  ChatResult,
  ChatStreamPart,
  ModelCapabilities,
} from '../chat/chat.types.js';
import type { KeyPool } from './key-pool.policy.js';
import { KeyTurns } from './key-turn.policy.js';

/** One model with several keys: after a rate limit or a rejection, the next key is tried immediately. */
export class PooledModel extends ChatModel {
  readonly provider: string;
  readonly name: string;
  readonly capabilities: ModelCapabilities;
  private readonly models = new Map<string, ChatModel>();
  private readonly turns: KeyTurns;

  /**
   * @param keys pool that all models of the provider share
   * @param make creates the model with a key
   * @param like any of these models, for its name and capabilities
   */
  constructor(
    keys: KeyPool,
    private readonly make: (key: string) => ChatModel,
    private readonly like: ChatModel,
  ) {
    super();
    this.provider = like.provider;
    this.name = like.name;
    this.capabilities = like.capabilities;
    this.turns = new KeyTurns(keys, like.provider, like.name);
  }

  generate(request: ChatRequest, options: CallOptions = {}): Promise<ChatResult> {
    return this.turns.run((key) => this.model(key).generate(request, options));
  }

  async *stream(request: ChatRequest, options: CallOptions = {}): AsyncGenerator<ChatStreamPart, void> {
    let last: unknown;
    for (const key of this.turns.usable()) {
      let hasShown = false;
      try {
        for await (const part of this.model(key).stream(request, options)) {
          hasShown = true;
          yield part;
        }
        return;
      } catch (error) {
        if (!this.turns.setAside(key, error) || hasShown) throw error;
        last = error;
      }
    }
    throw this.turns.noKey(last);
  }

  override bodyOf(request: ChatRequest, isStreaming: boolean, account?: CallAccount): object | null {
    return this.like.bodyOf(request, isStreaming, account);
  }

  private model(key: string): ChatModel {
    let made = this.models.get(key);
    if (!made) this.models.set(key, (made = this.make(key)));
    return made;
  }
}
