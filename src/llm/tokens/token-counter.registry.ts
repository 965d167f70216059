import { Injectable, Logger } from '@nestjs/common';
import { AppConfig } from '../../config/index.js';
import { EstimatedTokenCounter } from './estimated-token-counter.js';
import { ExactTokenCounter } from './exact-token-counter.js';
import { vocabularyOf } from './model-vocabulary.mapper.js';
import type { TokenCounter } from './token-counter.js';
import { VocabularyLoader } from './vocabulary.loader.js';
import type { VocabularyName } from './vocabulary.types.js';

/** The token counters by model. A vocabulary is loaded when a model of it is first asked for, once for all. */
@Injectable()
export class TokenCounterRegistry {
  private readonly logger = new Logger(TokenCounterRegistry.name);
  private readonly estimate = new EstimatedTokenCounter();
  private readonly exact = new Map<VocabularyName, Promise<TokenCounter>>();

  constructor(
    private readonly config: AppConfig,
    private readonly loader: VocabularyLoader,
  ) {}

  /** The counter of a model: exact for OpenAI's unless `TOKEN_COUNTING` is `estimate`. Never rejects. */
  async of(model: string): Promise<TokenCounter> {
    const name = this.config.llm.tokenCounting === 'auto' ? vocabularyOf(model) : undefined;
    if (name === undefined) return this.estimate;
    const known = this.exact.get(name) ?? this.load(name);
    this.exact.set(name, known);
    return known;
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
