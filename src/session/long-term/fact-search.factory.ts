import type { Dialect, SqlValue } from '../../persistence/index.js';
import type { FactOwner } from './fact.types.js';

export interface Search {
  readonly sql: string;
  readonly params: readonly SqlValue[];
}

/** Exactly the expression of the index. */
const TSVECTOR = "to_tsvector('pg_catalog.simple', fact.terms)";
const OWNED = 'fact.tenant = ? AND fact.user_id = ?';

/** The statement that finds an owner's facts with any of the tokens, by the full-text search of the database. */
export function searchOf(
  dialect: Dialect,
  { tenant, user }: FactOwner,
  tokens: readonly string[],
  limit: number,
): Search {
  switch (dialect) {
    case 'sqlite':
      return {
        sql: `SELECT fact.id, fact.terms FROM fact_terms JOIN fact ON fact.terms_row = fact_terms.rowid
          WHERE fact_terms MATCH ? AND ${OWNED} ORDER BY fact_terms.rank LIMIT ?`,
        params: [tokens.join(' OR '), tenant, user, limit],
      };
    case 'postgres':
      return {
        sql: `SELECT fact.id, fact.terms FROM fact, to_tsquery('pg_catalog.simple', ?) AS wanted
          WHERE ${TSVECTOR} @@ wanted AND ${OWNED} ORDER BY ts_rank(${TSVECTOR}, wanted) DESC LIMIT ?`,
        params: [tokens.join(' | '), tenant, user, limit],
      };
    case 'mariadb': {
      const match = 'MATCH (fact.terms) AGAINST (? IN BOOLEAN MODE)';
      const any = tokens.join(' ');
      return {
        sql: `SELECT fact.id, fact.terms FROM fact WHERE ${match} AND ${OWNED} ORDER BY ${match} DESC LIMIT ?`,
        params: [any, tenant, user, any, limit],
      };
    }
  }
}
