import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Log } from '../../errors/index.js';
import { llmConfig, type LlmConfig } from '../../config/index.js';
import { EstimatedTokenCounter } from './estimated-token-counter.js';
import { ExactTokenCounter } from './exact-token-counter.js';
import { vocabularyOf } from './model-vocabulary.mapper.js';
import type { TokenCounter } from './token-counter.js';
import { VocabularyLoader } from './vocabulary.loader.js';
import type { VocabularyName } from './vocabulary.types.js';

/** Delay before a vocabulary is preloaded, in ms. */
const LOAD_AFTER_MS = 1000;

/** The token counters by model. The first use of a model loads its vocabulary once for the process. */
@Injectable()
export class TokenCounterRegistry implements OnApplicationShutdown {
  private readonly logger = new Log(TokenCounterRegistry.name);
  private readonly estimate = new EstimatedTokenCounter();
  private readonly exact = new Map<VocabularyName, Promise<TokenCounter>>();
  private readonly loaded = new Map<VocabularyName, TokenCounter>();
  private readonly timers = new Map<VocabularyName, NodeJS.Timeout>();
  /** The last requested model: most applications use one. */
  private last: { readonly model: string; readonly name: VocabularyName | undefined } = { model: '', name: undefined };

  constructor(
    @Inject(llmConfig.KEY) private readonly config: LlmConfig,
    private readonly loader: VocabularyLoader,
  ) {}

  /**
   * Like `of`, but synchronous: returns an estimate until the vocabulary is loaded. Loading starts after a delay, since
   * it takes a third of a second of CPU time.
   */
  atHand(model: string): TokenCounter {
    const name = this.nameOf(model);
    if (name === undefined) return this.estimate;
    const loaded = this.loaded.get(name);
    if (loaded) return loaded;
    if (!this.timers.has(name)) this.timers.set(name, setTimeout(() => void this.of(model), LOAD_AFTER_MS).unref());
    return this.estimate;
  }

  /** The counter of a model: exact for OpenAI's models unless `TOKEN_COUNTING` is `estimate`. Never rejects. */
  async of(model: string): Promise<TokenCounter> {
    const name = this.nameOf(model);
    if (name === undefined) return this.estimate;
    const known = this.exact.get(name) ?? this.load(name);
    this.exact.set(name, known);
    this.loaded.set(name, await known);
    return known;
  }

  onApplicationShutdown(): void {
    for (const timer of this.timers.values()) clearTimeout(timer);
  }

  private nameOf(model: string): VocabularyName | undefined {
    if (this.config.tokenCounting !== 'auto') return undefined;
    if (model !== this.last.model) this.last = { model, name: vocabularyOf(model) };
    return this.last.name;
  }

  private async load(name: VocabularyName): Promise<TokenCounter> {
    try {
      return new ExactTokenCounter(await this.loader.load(name));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.logger.warn(
        `The vocabulary ${name} cannot be loaded (${reason}): its models' tokens are estimated. Install gpt-tokenizer, or set TOKEN_COUNTING=estimate.`,
      );
      return this.estimate;
    }
  }
}
