import { Logger } from '@nestjs/common';
import { AppError, messageOf } from '../../common/index.js';
import type { EmbeddingModel } from '../../llm/index.js';
import { FACT_LIMITS } from './fact-limits.policy.js';
import type { FactStore } from './fact.store.js';
import type { Fact, FactOwner, RecallOptions } from './fact.types.js';
import { cosine, decodeVector, encodeVector, toDirection } from './vector.mapper.js';

type EmbeddingCall = Pick<RecallOptions, 'signal' | 'meter'>;

/**
 * What an embedding model adds to the memory. It is only a help: a call of it that fails is logged, and everything goes
 * on without.
 */
export class FactVectorService {
  private readonly logger = new Logger('LongTermMemory');
  /** What vectors are stored under; those of another model are made anew. */
  private readonly space: string;

  constructor(
    private readonly store: FactStore,
    private readonly model: EmbeddingModel,
  ) {
    this.space = `${model.provider}/${model.name}`;
  }

  /** Gives the owner's newest facts that have no vector theirs: what was just remembered, and what failed before. */
  async fillIn(owner: FactOwner, call: EmbeddingCall = {}): Promise<void> {
    const facts = await this.store.withoutVector(owner, this.space, FACT_LIMITS.filledIn);
    if (facts.length > 0) await this.fill(owner, facts, call);
  }

  /** The ids of the facts whose meaning is nearest to the query's, the nearest first; none when it cannot be told. */
  async nearest(owner: FactOwner, query: string, call: EmbeddingCall = {}): Promise<string[]> {
    const embedded = await this.embed([query], call);
    const [vector] = Array.isArray(embedded) ? embedded : [];
    if (!vector) return [];
    await this.fillIn(owner, call);
    const wanted = toDirection(vector);
    const stored = await this.store.vectors(owner, this.space, FACT_LIMITS.vectors);
    return stored
      .map(({ id, embedding }) => ({ id, nearness: cosine(wanted, decodeVector(embedding)) }))
      .filter(({ nearness }) => nearness > 0)
      .toSorted((a, b) => b.nearness - a.nearness)
      .slice(0, FACT_LIMITS.nearest)
      .map(({ id }) => id);
  }

  /** A text that the model refuses must not keep the others from their vectors: what is refused is tried in halves. */
  private async fill(owner: FactOwner, facts: readonly Fact[], call: EmbeddingCall): Promise<void> {
    const embedded = await this.embed(
      facts.map(({ text }) => text),
      call,
    );
    if (Array.isArray(embedded)) {
      const vectors = facts.map(({ id }, at) => ({ id, embedding: encodeVector(embedded[at] ?? []) }));
      await this.store.setVectors(owner, this.space, vectors);
    } else if (embedded === 'refused' && facts.length > 1) {
      const half = facts.length >> 1;
      await this.fill(owner, facts.slice(0, half), call);
      await this.fill(owner, facts.slice(half), call);
    }
  }

  private async embed(
    texts: readonly string[],
    { signal, meter }: EmbeddingCall,
  ): Promise<(readonly number[])[] | 'refused' | 'failed'> {
    try {
      const account = meter?.next();
      const options = { ...(signal && { signal }), ...(account && { account }) };
      const { vectors, usage, model } = await this.model.embed(texts, options);
      if (usage) meter?.count(model, { completionTokens: 0, ...usage });
      return [...vectors];
    } catch (error) {
      if (!signal?.aborted) this.logger.warn(`No embeddings, words alone have to do: ${messageOf(error)}`);
      return isOfText(error) ? 'refused' : 'failed';
    }
  }
}

/** Whether another text might do: not when there is no such model. */
function isOfText(error: unknown): boolean {
  return error instanceof AppError && error.code === 'MODEL_REFUSED' && error.details?.['provider_status'] !== 404;
}
