import { parseExactJson } from '../../common/index.js';
import type { Redis } from 'ioredis';
import { closeRedisClient } from '../../persistence/index.js';
import type { SessionKey, StoredTurn } from '../session.types.js';
import { TurnArchive, type TurnChange, type TurnSpan } from './turn-archive.js';

/** The field that holds the last turn's number. */
const LAST = 'last';
/** The field that holds the number of the last turn that was removed. */
const REMOVED = 'removed';

/**
 * Does one change and remembers its number, or finds that it is done; in one go, as another process may do the same.
 * Takes the number, how long it is remembered, how long a turn is kept, the kind of the change, and what it says.
 */
const APPLY = `
local turns, marks, done = KEYS[1], KEYS[2], KEYS[3]
local seq, fence, ttl, kind, a, b, c = unpack(ARGV, 1, 7)
local before = redis.call('GET', done)
if before and tonumber(before) >= tonumber(seq) then return before end
local function mark(turn, value)
  if value == '' then redis.call('HDEL', marks, turn)
  elseif redis.call('HEXISTS', turns, turn) == 1 then redis.call('HSET', marks, turn, value) end
end
if kind == 'append' then
  redis.call('HSET', turns, a, b)
  if tonumber(redis.call('HGET', turns, 'last') or '0') < tonumber(a) then redis.call('HSET', turns, 'last', a) end
  mark(a, c)
  if ttl ~= '0' then redis.call('EXPIRE', turns, ttl) end
elseif kind == 'mark' then mark(a, b)
elseif kind == 'refer' then
  if tonumber(redis.call('HGET', marks, a) or '0') < tonumber(b) then mark(a, b) end
elseif kind == 'empty' then redis.call('UNLINK', turns, marks)
else
  if a ~= '' then redis.call('HSET', turns, 'removed', a) end
  if b then
    redis.call('HDEL', turns, unpack(ARGV, 6))
    redis.call('HDEL', marks, unpack(ARGV, 6))
  end
  if kind == 'drop some' then return before or '0' end
end
if ttl ~= '0' then redis.call('EXPIRE', marks, ttl) end
redis.call('SET', done, seq, 'EX', fence)
return seq
`;
/** Fields a call removes: Redis serves nobody else meanwhile. */
const REMOVED_AT_ONCE = 500;
/** A node may have been held up for so long, or for as long as a session is kept. */
const LEAST_FENCE_SECONDS = 86_400;

/** Turns in Redis: a session is a hash of them by their numbers, a hash of marks, and the number of the last change. */
export class RedisTurnArchive extends TurnArchive {
  /**
   * @param prefix keeps applications apart that share a Redis
   * @param ttlSeconds how long a session is kept after its last turn; 0 is for ever
   */
  constructor(
    private readonly redis: Redis,
    private readonly prefix: string,
    private readonly ttlSeconds: number,
  ) {
    super();
  }

  async apply(key: SessionKey, seq: number, change: TurnChange): Promise<number> {
    switch (change.kind) {
      case 'append': {
        const { turn, mark } = change.turn;
        return this.call(key, seq, 'append', turn, JSON.stringify({ ...change.turn, mark: null }), mark ?? '');
      }
      case 'mark':
        return this.call(key, seq, 'mark', change.turn, change.mark ?? '');
      case 'refer':
        return this.call(key, seq, 'refer', change.turn, change.by);
      case 'drop':
        return this.drop(key, seq, change.turns);
      case 'remove': {
        const { last } = await this.span(key);
        if (last <= change.through) return this.call(key, seq, 'empty');
        return this.drop(key, seq, range(change.through), change.through);
      }
    }
  }

  override async forgetDone(key: SessionKey): Promise<void> {
    await this.redis.del(this.names(key)[2]);
  }

  async get(key: SessionKey, turns: readonly number[]): Promise<StoredTurn[]> {
    if (turns.length === 0) return [];
    const fields = turns.toSorted((a, b) => a - b).map(String);
    const texts = await this.redis.hmget(this.names(key)[0], ...fields);
    return texts.flatMap((text) => (text === null ? [] : [parseExactJson(text) as StoredTurn]));
  }

  async span(key: SessionKey): Promise<TurnSpan> {
    const [last, removed] = await this.redis.hmget(this.names(key)[0], LAST, REMOVED);
    return { first: Number(removed ?? 0) + 1, last: Number(last ?? 0) };
  }

  async marks(key: SessionKey): Promise<ReadonlyMap<number, number>> {
    const marks = await this.redis.hgetall(this.names(key)[1]);
    return new Map(Object.entries(marks).map(([turn, mark]) => [Number(turn), Number(mark)]));
  }

  async close(): Promise<void> {
    await closeRedisClient(this.redis);
  }

  /** A part at a time; it counts as done with the last one, so that half of it is done again. */
  private async drop(key: SessionKey, seq: number, turns: readonly number[], removed?: number): Promise<number> {
    for (let from = 0; ; from += REMOVED_AT_ONCE) {
      const part = turns.slice(from, from + REMOVED_AT_ONCE);
      const isLast = from + REMOVED_AT_ONCE >= turns.length;
      const done = await this.call(key, seq, isLast ? 'drop' : 'drop some', removed ?? '', ...part);
      if (isLast || done >= seq) return done;
    }
  }

  private async call(key: SessionKey, seq: number, ...change: readonly (string | number)[]): Promise<number> {
    const fence = Math.max(this.ttlSeconds, LEAST_FENCE_SECONDS);
    const given = [seq, fence, this.ttlSeconds, ...change];
    return Number(await this.redis.eval(APPLY, 3, ...this.names(key), ...given));
  }

  /** Of the turns, of the marks, and of the number of the last change; in one slot of a Redis cluster. */
  private names({ tenant, id }: SessionKey): [turns: string, marks: string, done: string] {
    const name = `${this.prefix}{${encodeURIComponent(tenant)}:${id}}`;
    return [`${name}:turns`, `${name}:marks`, `${name}:done`];
  }
}

function range(through: number): number[] {
  return Array.from({ length: through }, (_, at) => at + 1);
}
