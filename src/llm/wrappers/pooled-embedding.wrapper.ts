import type { CallOptions } from '../chat/chat.types.js';
import { EmbeddingModel, type EmbeddingResult } from '../embedding-model.js';
import type { KeyPool } from './key-pool.policy.js';
import { KeyTurns } from './key-turn.policy.js';

/** One embedding model with several keys. */
export class PooledEmbeddingModel extends EmbeddingModel {
  readonly provider: string;
  readonly name: string;
  private readonly models = new Map<string, EmbeddingModel>();
  private readonly turns: KeyTurns;
  private known: number | null = null;

  /**
   * @param keys pool that all models of the provider share
   * @param make creates the model with a key
   * @param like any of these models, for its name
   */
  constructor(
    keys: KeyPool,
    private readonly make: (key: string) => EmbeddingModel,
    like: EmbeddingModel,
  ) {
    super();
    this.provider = like.provider;
    this.name = like.name;
    this.turns = new KeyTurns(keys, like.provider, like.name);
  }

  get dimensions(): number | null {
    return this.known;
  }

  async embed(texts: readonly string[], options?: CallOptions): Promise<EmbeddingResult> {
    const result = await this.turns.run((key) => this.model(key).embed(texts, options));
    this.known = result.vectors[0]?.length ?? this.known;
    return result;
  }

  private model(key: string): EmbeddingModel {
    let made = this.models.get(key);
    if (!made) this.models.set(key, (made = this.make(key)));
    return made;
  }
}
