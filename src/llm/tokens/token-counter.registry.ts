import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { llmConfig, type LlmConfig } from '../../config/namespaces/index.js';
import { Log } from '../../errors/index.js';
import { ExactTokenCounter } from './exact-token-counter.js';
import { countSampled, estimateTokens, type Sampling } from './token-estimate.mapper.js';
import type { TokenCounter } from './token-counter.js';
import { VocabularyLoader, type VocabularyName } from './vocabulary.loader.js';

/**
 * From `MODEL_PREFIX_TO_ENCODING` of github.com/openai/tiktoken (tiktoken/model.py), plus Azure's names without dots.
 */
const VOCABULARIES: readonly (readonly [RegExp, VocabularyName])[] = [
  [/^(chatgpt-|gpt-)(4o|4\.\d|4[15]|[5-9]|oss)(?![a-z\d])/, 'o200k_base'],
  [/^(o\d|codex)(?![a-z\d])/, 'o200k_base'],
  [/^gpt-(4|3\.5|35)(?![a-z\d.])/, 'cl100k_base'],
];

/**
 * The vocabulary of an OpenAI model by its name. The name may have a date or variant as suffix, and a gateway's path
 * (`openai/gpt-4o`) or `ft:` as prefix. Undefined for all other models.
 */
export function vocabularyOf(model: string): VocabularyName | undefined {
  const name = model
    .toLowerCase()
    .slice(model.lastIndexOf('/') + 1)
    .replace(/^ft:/, '');
  return VOCABULARIES.find(([pattern]) => pattern.test(name))?.[1];
}

/** The estimate takes 0.01 to 0.04 ms of CPU per 1,000 characters: 1 to 5 ms for the longest text without sampling. */
const SAMPLING: Sampling = { maxLength: 131_072, windows: 64, windowLength: 2048 };

/**
 * Estimates by known pieces, for models without a local vocabulary. Samples texts of more than 131,072 UTF-16 units.
 */
export class EstimatedTokenCounter implements TokenCounter {
  readonly isExact = false;

  count(text: string): number {
    return countSampled(text, SAMPLING, estimateTokens);
  }
}

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
