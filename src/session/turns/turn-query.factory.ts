import type { SqlValue } from '../../persistence/statement/index.js';
import type { SessionKey, StoredTurn } from '../session.types.js';
import { isBounded, type TurnQuery } from './turn-store.js';

const COLUMNS = 'turn, run_id, status, messages, tokens, plain_tokens, mark, created_at';
const OF_SESSION = 'FROM session_turn WHERE tenant = ? AND session_id = ?';
const NEWEST = 'AND turn <= ? ORDER BY turn DESC LIMIT ?';
/** Maximum newest turns that one statement reads within limits. */
const AT_ONCE = 50;
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

export interface TurnSelect {
  readonly sql: string;
  readonly params: readonly SqlValue[];
}

export function selectAfter({ tenant, id }: SessionKey, after: number, limit: number): TurnSelect {
  return {
    sql: `SELECT ${COLUMNS}, 0 AS is_newest ${OF_SESSION} AND turn > ? ORDER BY turn LIMIT ?`,
    params: [tenant, id, after, limit],
  };
}

/**
 * One statement. Each part uses an index and leaves the planner no other order, so that the cost does not grow with the
 * session. A turn selected by several parts is returned several times; `is_newest` marks a row of the newest part.
 */
export function selectTurns(key: SessionKey, query: TurnQuery): TurnSelect {
  const { through, first = 0, marked = 0, only = [] } = query;
  const parts = query.newest > 0 ? [newest(key, query)] : [];
  if (first > 0) parts.push(select(key, 'AND turn <= ? ORDER BY turn LIMIT ?', [through, first]));
  // `turn + 0` keeps SQLite from the index on turn numbers, which would scan all turns.
  if (marked > 0)
    parts.push(select(key, 'AND mark > 0 AND turn + 0 <= ? ORDER BY mark DESC LIMIT ?', [through, marked]));
  if (only.length > 0) {
    parts.push(select(key, `AND turn <= ? AND turn IN (${only.map(() => '?').join(', ')})`, [through, ...only]));
  }
  const named = parts.map(({ sql }, at) => {
    const isNewest = at === 0 && query.newest > 0 ? 1 : 0;
    return `SELECT ${COLUMNS}, ${isNewest} AS is_newest FROM (${sql}) part${at}`;
  });
  return { sql: named.join(' UNION ALL '), params: parts.flatMap(({ params }) => params) };
}

/** The query for further turns if the newest turns leave room; otherwise `null`. */
export function furtherTurns(query: TurnQuery, read: readonly StoredTurn[]): TurnQuery | null {
  const { newest: count, maxMessages = NO_LIMIT, maxTokens = NO_LIMIT, isPlain = false } = query;
  if (!isBounded(query) || read.length < AT_ONCE || count <= AT_ONCE) return null;
  const messages = maxMessages - sum(read, (turn) => turn.messages.length);
  const tokens = maxTokens - sum(read, (turn) => (isPlain ? turn.plainTokens : turn.tokens));
  if (messages <= 0 || tokens <= 0) return null;
  const through = Math.min(...read.map(({ turn }) => turn)) - 1;
  return { through, newest: count - AT_ONCE, maxMessages: messages, maxTokens: tokens, isPlain };
}

function newest(key: SessionKey, query: TurnQuery): TurnSelect {
  const { through, newest: count, maxMessages = NO_LIMIT, maxTokens = NO_LIMIT, isPlain = false } = query;
  if (!isBounded(query)) return select(key, NEWEST, [through, count]);
  const tokens = isPlain ? 'plain_tokens' : 'tokens';
  const { sql, params } = select(key, NEWEST, [through, Math.min(count, AT_ONCE)]);
  const summed = `SELECT ${COLUMNS}, ${newer('message_count')} AS newer_messages, ${newer(tokens)} AS newer_tokens
    FROM (${sql}) newest_turns`;
  return {
    sql: `SELECT ${COLUMNS} FROM (${summed}) summed WHERE newer_messages < ? AND newer_tokens < ?`,
    params: [...params, maxMessages, maxTokens],
  };
}

/** Sum over all newer turns. */
function newer(column: string): string {
  return `SUM(${column}) OVER (ORDER BY turn DESC ROWS UNBOUNDED PRECEDING) - ${column}`;
}

function sum(turns: readonly StoredTurn[], of: (turn: StoredTurn) => number): number {
  return turns.reduce((total, turn) => total + of(turn), 0);
}

function select({ tenant, id }: SessionKey, sql: string, params: readonly SqlValue[]): TurnSelect {
  return { sql: `SELECT ${COLUMNS}, message_count ${OF_SESSION} ${sql}`, params: [tenant, id, ...params] };
}
