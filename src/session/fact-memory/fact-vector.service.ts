import { AppError, Log, messageOf } from '../../errors/index.js';
import type { EmbeddingModel } from '../../llm/index.js';
import { type Fact, FACT_LIMITS, type FactOwner, type RecallOptions } from './fact-memory.js';
import type { FactStore } from './fact.store.js';

/** Encodes the direction of a vector as base64 of 32-bit floats, in the byte order of all supported machines. */
export function encodeVector(vector: readonly number[]): string {
  return Buffer.from(toDirection(vector).buffer).toString('base64');
}

export function decodeVector(text: string): Float32Array {
  const bytes = Buffer.from(text, 'base64');
  // Copied, since the offset of a Buffer need not be aligned for floats.
  const vector = new Float32Array(bytes.length >> 2);
  new Uint8Array(vector.buffer).set(bytes.subarray(0, vector.byteLength));
  return vector;
}

/** The vector scaled to length 1; a zero vector stays zero. */
export function toDirection(vector: readonly number[]): Float32Array<ArrayBuffer> {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return Float32Array.from(vector, (value) => (length > 0 ? value / length : 0));
}

/** The cosine of the angle between two directions; 0 if their dimensions differ. */
export function cosine(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) return 0;
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += a[at]! * b[at]!;
  return sum;
}

type EmbeddingCall = Pick<RecallOptions, 'signal' | 'meter'>;

/**
 * Semantic search with an embedding model. It is optional: a failed call is logged, and the memory continues without
 * vectors.
 */
export class FactVectorService {
  private readonly logger = new Log('LongTermMemory');
  /** Key of the stored vectors; vectors of another model are computed again. */
  private readonly space: string;

  constructor(
    private readonly store: FactStore,
    private readonly model: EmbeddingModel,
  ) {
    this.space = `${model.provider}/${model.name}`;
  }

  /** Computes missing vectors for the owner's newest facts, including those of earlier failures. */
  async fillIn(owner: FactOwner, call: EmbeddingCall = {}): Promise<void> {
    const facts = await this.store.withoutVector(owner, this.space, FACT_LIMITS.filledIn);
    if (facts.length > 0) await this.fill(owner, facts, call);
  }

  /** The ids of the facts nearest in meaning to the query, nearest first; empty if the embedding fails. */
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

  /** Splits a rejected batch in halves, so that one rejected text does not prevent the vectors of the others. */
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

/** Whether the error concerns the text; another text fails too if the model does not exist. */
function isOfText(error: unknown): boolean {
  return error instanceof AppError && error.code === 'MODEL_REFUSED' && error.details?.['provider_status'] !== 404;
}
