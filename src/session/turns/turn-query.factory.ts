import type { SqlValue } from '../../persistence/index.js';
import type { SessionKey } from '../session.types.js';
import type { TurnQuery } from './turn-store.js';

const COLUMNS = 'turn, run_id, status, messages, tokens, plain_tokens, mark, created_at';
const OF_SESSION = 'FROM session_turn WHERE tenant = ? AND session_id = ?';

export interface TurnSelect {
  readonly sql: string;
  readonly params: readonly SqlValue[];
}

export function selectAfter({ tenant, id }: SessionKey, after: number, limit: number): TurnSelect {
  return {
    sql: `SELECT ${COLUMNS} ${OF_SESSION} AND turn > ? ORDER BY turn LIMIT ?`,
    params: [tenant, id, after, limit],
  };
}

/** One statement, each part of it along an index; a turn that several parts name comes several times. */
export function selectTurns(key: SessionKey, query: TurnQuery): TurnSelect {
  const { through, first = 0, marked = 0, only = [] } = query;
  const parts = newest(key, query);
  if (first > 0) parts.push(select(key, through, 'ORDER BY turn LIMIT ?', [first]));
  if (marked > 0) parts.push(select(key, through, 'AND mark IS NOT NULL ORDER BY mark DESC LIMIT ?', [marked]));
  if (only.length > 0) parts.push(select(key, through, `AND turn IN (${only.map(() => '?').join(', ')})`, only));
  return {
    sql: parts.map(({ sql }, at) => `SELECT ${COLUMNS} FROM (${sql}) part${at}`).join(' UNION ALL '),
    params: parts.flatMap(({ params }) => params),
  };
}

function newest(key: SessionKey, { through, newest: count, maxTokens }: TurnQuery): TurnSelect[] {
  if (count <= 0) return [];
  const last = 'ORDER BY turn DESC LIMIT ?';
  if (maxTokens === undefined) return [select(key, through, last, [count])];
  // The sum is of narrow rows; wide ones are read where it allows.
  const narrow = `SELECT turn, tokens ${OF_SESSION} AND turn <= ? ${last}`;
  const summed = `SELECT turn AS newest_turn, SUM(tokens) OVER (ORDER BY turn DESC) - tokens AS newer FROM (${narrow}) narrow`;
  const within = `AND turn IN (SELECT newest_turn FROM (${summed}) summed WHERE newer < ?)`;
  return [select(key, through, within, [key.tenant, key.id, through, count, maxTokens])];
}

function select({ tenant, id }: SessionKey, through: number, sql: string, params: readonly SqlValue[]): TurnSelect {
  return { sql: `SELECT ${COLUMNS} ${OF_SESSION} AND turn <= ? ${sql}`, params: [tenant, id, through, ...params] };
}
