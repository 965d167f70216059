import type { SessionKey, StoredTurn } from '../session.types.js';
import { isBounded, type TurnQuery } from '../turns/turn-store.js';
import type { TurnArchive, TurnSpan } from './turn-archive.js';

/** Turns fetched at once while the content of turns determines how many are needed. */
const PAGE = 50;

/** Reads the turns of a query by their numbers, of which some may be removed. */
export async function readArchived(archive: TurnArchive, key: SessionKey, query: TurnQuery): Promise<StoredTurn[]> {
  const { through, first = 0, marked = 0, only = [] } = query;
  const [span, marks] = await Promise.all([archive.span(key), archive.marks(key)]);
  const within = { first: span.first, last: Math.min(span.last, through) };
  const named = [...highest(marks, marked, within.last), ...only.filter((turn) => turn <= within.last)];
  const parts = await Promise.all([
    newestOf(archive, key, within, query),
    firstOf(archive, key, within, first),
    archive.get(key, [...new Set(named)]),
  ]);
  const found = new Map(parts.flat().map((turn) => [turn.turn, turn]));
  return [...found.values()]
    .map((turn) => ({ ...turn, mark: marks.get(turn.turn) ?? null }))
    .toSorted((a, b) => a.turn - b.turn);
}

/** Up to `limit` turns after one, oldest first. */
export async function readAfter(
  archive: TurnArchive,
  key: SessionKey,
  after: number,
  limit: number,
): Promise<StoredTurn[]> {
  const [{ first, last }, marks] = await Promise.all([archive.span(key), archive.marks(key)]);
  const found: StoredTurn[] = [];
  for (let from = Math.max(after + 1, first); from <= last && found.length < limit; from += limit) {
    found.push(...(await archive.get(key, range(from, Math.min(from + limit - 1, last)))));
  }
  return found.slice(0, limit).map((turn) => ({ ...turn, mark: marks.get(turn.turn) ?? null }));
}

async function newestOf(
  archive: TurnArchive,
  key: SessionKey,
  { first, last }: TurnSpan,
  query: TurnQuery,
): Promise<StoredTurn[]> {
  const found: StoredTurn[] = [];
  const isFull = limitOf(query);
  const size = isBounded(query) ? PAGE : query.newest;
  for (let end = last; end >= Math.max(first, 1) && found.length < query.newest; end -= size) {
    const page = await archive.get(key, range(Math.max(end - size + 1, first), end));
    for (const turn of page.toReversed()) {
      if (isFull(found)) return found;
      found.push(turn);
    }
  }
  return found;
}

/** Creates a check whether the newest turns are complete; call it once for each added turn. */
function limitOf({ newest, maxMessages = Infinity, maxTokens = Infinity, isPlain = false }: TurnQuery) {
  let [messages, tokens] = [0, 0];
  return (found: readonly StoredTurn[]) => {
    const last = found.at(-1);
    messages += last?.messages.length ?? 0;
    tokens += (isPlain ? last?.plainTokens : last?.tokens) ?? 0;
    return found.length === newest || messages >= maxMessages || tokens >= maxTokens;
  };
}

async function firstOf(
  archive: TurnArchive,
  key: SessionKey,
  { first, last }: TurnSpan,
  count: number,
): Promise<StoredTurn[]> {
  const found: StoredTurn[] = [];
  for (let from = Math.max(first, 1); from <= last && found.length < count; from += count)
    found.push(...(await archive.get(key, range(from, Math.min(from + count - 1, last)))));
  return found.slice(0, count);
}

function highest(marks: ReadonlyMap<number, number>, count: number, last: number): number[] {
  if (count === 0) return [];
  const byMark = [...marks].filter(([turn]) => turn <= last).toSorted(([, a], [, b]) => b - a);
  return byMark.slice(0, count).map(([turn]) => turn);
}

function range(from: number, to: number): number[] {
  const start = Math.max(from, 1);
  return Array.from({ length: Math.max(to - start + 1, 0) }, (_, at) => start + at);
}
