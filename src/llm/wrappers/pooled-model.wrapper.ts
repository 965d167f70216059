import { AppError } from '../../common/index.js';
import { ChatModel } from '../chat-model.js';
import type { CallOptions, ChatRequest, ChatResult, ChatStreamPart, ModelCapabilities } from '../chat.types.js';
import type { KeyPool } from './key-pool.policy.js';

/** How long a key rests that was limited without a word on how long, in ms. */
const COOL_MS = 10_000;

/** One model under several keys: when a key is limited or refused, the next one is tried at once. */
export class PooledModel extends ChatModel {
  readonly provider: string;
  readonly name: string;
  readonly capabilities: ModelCapabilities;
  private readonly models = new Map<string, ChatModel>();

  /**
   * @param keys shared by all models of the provider
   * @param make the model with that key
   * @param like any model of them, for what does not depend on the key
   */
  constructor(
    private readonly keys: KeyPool,
    private readonly make: (key: string) => ChatModel,
    like: ChatModel,
  ) {
    super();
    this.provider = like.provider;
    this.name = like.name;
    this.capabilities = like.capabilities;
  }

  async generate(request: ChatRequest, options: CallOptions = {}): Promise<ChatResult> {
    let last: unknown;
    for (const key of this.keys.usable()) {
      try {
        return await this.model(key).generate(request, options);
      } catch (error) {
        if (!this.setAside(key, error)) throw error;
        last = error;
      }
    }
    throw this.noKey(last);
  }

  async *stream(request: ChatRequest, options: CallOptions = {}): AsyncGenerator<ChatStreamPart, void> {
    let last: unknown;
    for (const key of this.keys.usable()) {
      let hasShown = false;
      try {
        for await (const part of this.model(key).stream(request, options)) {
          hasShown = true;
          yield part;
        }
        return;
      } catch (error) {
        if (!this.setAside(key, error) || hasShown) throw error;
        last = error;
      }
    }
    throw this.noKey(last);
  }

  /** @returns whether it was for the key that the call failed */
  private setAside(key: string, error: unknown): boolean {
    if (!(error instanceof AppError)) return false;
    if (error.code === 'MODEL_AUTHENTICATION') {
      this.keys.retire(key);
      return true;
    }
    if (error.code !== 'MODEL_RATE_LIMITED') return false;
    const asked = error.details?.['retry_after_ms'];
    this.keys.cool(key, typeof asked === 'number' ? asked : COOL_MS);
    return true;
  }

  private model(key: string): ChatModel {
    let made = this.models.get(key);
    if (!made) this.models.set(key, (made = this.make(key)));
    return made;
  }

  private noKey(cause: unknown): AppError {
    const { provider, name: model } = this;
    const next = this.keys.nextAt();
    if (next === null) {
      const message = `Every API key of the provider ${provider} was refused; give others.`;
      return new AppError('MODEL_AUTHENTICATION', message, { cause, details: { provider, model } });
    }
    const retryMs = Math.max(next - Date.now(), 1);
    const message = `Every API key of the provider ${provider} is rate limited; try again in ${Math.ceil(retryMs / 1000)} s.`;
    return new AppError('MODEL_RATE_LIMITED', message, {
      isRetryable: true,
      cause,
      details: { provider, model, retry_after_ms: retryMs },
    });
  }
}
