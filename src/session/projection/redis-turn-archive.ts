import { parseExactJson } from '../../kernel/json/index.js';
import type { Redis } from 'ioredis';
import { closeRedisClient } from '../../persistence/index.js';
import type { SessionKey, StoredTurn } from '../session.types.js';
import { TurnArchive, type TurnChange, type TurnSpan } from './turn-archive.js';

/** Field with the number of the last turn. */
const LAST = 'last';
/** Field with the number of the last removed turn. */
const REMOVED = 'removed';

/**
 * Applies one change and stores its number, unless it was applied before; atomically, since another process may apply
 * the same change. Arguments: the number, its time to live (s), the session's time to live (s), the kind of the change
 * and its data.
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
/** Maximum fields that one call removes; Redis is blocked meanwhile. */
const REMOVED_AT_ONCE = 500;
/**
 * Minimum time to live of a change's number, in s: a node may be delayed for this long, or for the lifetime of a
 * session.
 */
const LEAST_FENCE_SECONDS = 86_400;

/**
 * Turns in Redis: a session has a hash of turns by number, a hash of marks and the number of the last applied change.
 */
export class RedisTurnArchive extends TurnArchive {
  /**
   * @param prefix separates applications that share a Redis
   * @param ttlSeconds lifetime of a session after its last turn, in s; 0 for no limit
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

  /**
   * Removes turns in batches. Only the last batch stores the change's number, so that an interrupted removal is
   * repeated.
   */
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
    const parameters = [seq, fence, this.ttlSeconds, ...change];
    return Number(await this.redis.eval(APPLY, 3, ...this.names(key), ...parameters));
  }

  /** Keys of the turns, the marks and the number of the last change; in one slot of a Redis cluster. */
  private names({ tenant, id }: SessionKey): [turns: string, marks: string, done: string] {
    const name = `${this.prefix}{${encodeURIComponent(tenant)}:${id}}`;
    return [`${name}:turns`, `${name}:marks`, `${name}:done`];
  }
}

function range(through: number): number[] {
  return Array.from({ length: through }, (_, at) => at + 1);
}
