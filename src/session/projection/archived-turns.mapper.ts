import type { SessionKey, StoredTurn } from '../session.types.js';
import type { TurnQuery } from '../turns/turn-store.js';
import type { TurnArchive } from './turn-archive.js';

/** How many turns are fetched at once where their number follows from what they hold. */
const PAGE = 50;

/** Reads what a query names, by turns' numbers. */
export async function readArchived(archive: TurnArchive, key: SessionKey, query: TurnQuery): Promise<StoredTurn[]> {
  const { through, newest, maxTokens, first = 0, marked = 0, only = [] } = query;
  const [span, marks] = await Promise.all([archive.span(key), archive.marks(key)]);
  const last = Math.min(span.last, through);
  const within = maxTokens === undefined ? [] : await newestWithin(archive, key, { last, newest, maxTokens });
  const found = new Set(within.map(({ turn }) => turn));
  const wanted = new Set([
    ...(maxTokens === undefined ? range(last - newest + 1, last) : []),
    ...range(span.first, Math.min(span.first + first - 1, last)),
    ...highest(marks, marked, last),
    ...only.filter((turn) => turn <= last),
  ]);
  const others = await archive.get(
    key,
    [...wanted].filter((turn) => !found.has(turn)),
  );
  return [...within, ...others]
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

async function newestWithin(
  archive: TurnArchive,
  key: SessionKey,
  { last, newest, maxTokens }: { last: number; newest: number; maxTokens: number },
): Promise<StoredTurn[]> {
  const found: StoredTurn[] = [];
  let tokens = 0;
  for (let end = last; end > Math.max(last - newest, 0); end -= PAGE) {
    const page = await archive.get(key, range(Math.max(end - PAGE + 1, last - newest + 1), end));
    for (const turn of page.toReversed()) {
      if (tokens >= maxTokens) return found;
      found.push(turn);
      tokens += turn.tokens;
    }
  }
  return found;
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
