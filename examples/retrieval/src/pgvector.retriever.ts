import { type EmbeddingModel, type Passage, Retriever, type RetrieveOptions } from 'jackdaw';
import type { Queries } from './postgres-text.retriever.js';

/** @param dimensions length of the vectors of the embedding model */
export function vectorSchema(dimensions: number): string {
  return `
    CREATE EXTENSION IF NOT EXISTS vector;
    CREATE TABLE IF NOT EXISTS embedded_passage (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      tenant text NOT NULL,
      source text NOT NULL,
      content text NOT NULL,
      embedding vector(${dimensions}) NOT NULL
    );
    CREATE INDEX IF NOT EXISTS embedded_passage_near ON embedded_passage USING hnsw (embedding vector_cosine_ops);`;
}

/** Search by meaning: the passages whose vectors (pgvector) have the least cosine distance to that of the question. */
export class PgvectorRetriever extends Retriever {
  constructor(
    private readonly database: Queries,
    private readonly model: EmbeddingModel,
  ) {
    super();
  }

  async add(tenant: string, source: string, content: string): Promise<void> {
    const sql = 'INSERT INTO embedded_passage (tenant, source, content, embedding) VALUES ($1, $2, $3, $4)';
    await this.database.query(sql, [tenant, source, content, await this.vectorOf(content)]);
  }

  async retrieve(query: string, { limit, principal, signal }: RetrieveOptions): Promise<Passage[]> {
    const sql = `
      SELECT content AS text, source, 1 - (embedding <=> $1) AS score
        FROM embedded_passage WHERE tenant = $2
       ORDER BY embedding <=> $1 LIMIT $3`;
    const { rows } = await this.database.query(sql, [await this.vectorOf(query, signal), principal.tenant, limit]);
    return rows as Passage[];
  }

  /** In the notation of pgvector: `[0.1,0.2]`. */
  private async vectorOf(text: string, signal?: AbortSignal): Promise<string> {
    const { vectors } = await this.model.embed([text], signal ? { signal } : {});
    return JSON.stringify(vectors[0]);
  }
}
