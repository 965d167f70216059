import { type Passage, Retriever, type RetrieveOptions } from 'jackdaw';

/** The part of `pg` that the retrievers use: a `Pool`, a `Client`, or a compatible driver. */
export interface Queries {
  query(sql: string, params: unknown[]): Promise<{ rows: unknown[] }>;
}

/** The table of both retrievers; `words` is for full text. */
export const TEXT_SCHEMA = `
  CREATE TABLE IF NOT EXISTS passage (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text NOT NULL,
    source text NOT NULL,
    content text NOT NULL,
    words tsvector GENERATED ALWAYS AS (to_tsvector('english', content)) STORED
  );
  CREATE INDEX IF NOT EXISTS passage_words ON passage USING gin (words);`;

/** PostgreSQL's full text search over the passages of the caller's tenant. */
export class PostgresTextRetriever extends Retriever {
  constructor(private readonly database: Queries) {
    super();
  }

  async add(tenant: string, source: string, content: string): Promise<void> {
    const sql = 'INSERT INTO passage (tenant, source, content) VALUES ($1, $2, $3)';
    await this.database.query(sql, [tenant, source, content]);
  }

  async retrieve(query: string, { limit, principal, signal }: RetrieveOptions): Promise<Passage[]> {
    signal.throwIfAborted();
    // `websearch_to_tsquery` accepts every text; its words are alternatives here, ranked by their matches.
    const sql = `
      WITH asked AS (SELECT replace(websearch_to_tsquery('english', $1)::text, '&', '|')::tsquery AS words)
      SELECT content AS text, source, ts_rank_cd(passage.words, asked.words)::float8 AS score
        FROM passage, asked
       WHERE tenant = $2 AND passage.words @@ asked.words
       ORDER BY score DESC, id LIMIT $3`;
    const { rows } = await this.database.query(sql, [query, principal.tenant, limit]);
    return rows as Passage[];
  }
}
