import type { Redis } from 'ioredis';
import { closeRedisClient } from '../../persistence/index.js';
import type { SessionKey, StoredTurn } from '../session.types.js';
import { TurnArchive, type TurnSpan } from './turn-archive.js';

/** The field that holds the last turn's number. */
const LAST = 'last';
/** The field that holds the number of the last turn that was removed. */
const REMOVED = 'removed';

/** Keeps a turn and raises the last number in one go, as another process may do the same. */
const PUT = `
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
if tonumber(redis.call('HGET', KEYS[1], 'last') or '0') < tonumber(ARGV[1]) then redis.call('HSET', KEYS[1], 'last', ARGV[1]) end
`;
const MARK = `
if ARGV[2] == '' then redis.call('HDEL', KEYS[2], ARGV[1])
elseif redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then redis.call('HSET', KEYS[2], ARGV[1], ARGV[2]) end
`;
/** Fields a call removes: Redis serves nobody else meanwhile. */
const REMOVED_AT_ONCE = 500;

/** Turns in Redis: a session is a hash of them by their numbers, and a hash of marks. */
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

  async put(key: SessionKey, turns: readonly StoredTurn[]): Promise<void> {
    const [name, marks] = this.names(key);
    const batch = this.redis.multi();
    for (const turn of turns) batch.eval(PUT, 1, name, turn.turn, JSON.stringify({ ...turn, mark: null }));
    if (this.ttlSeconds > 0) batch.expire(name, this.ttlSeconds).expire(marks, this.ttlSeconds);
    const results = await batch.exec();
    const failed = results?.find(([error]) => error)?.[0];
    if (failed) throw failed;
  }

  async get(key: SessionKey, turns: readonly number[]): Promise<StoredTurn[]> {
    if (turns.length === 0) return [];
    const fields = turns.toSorted((a, b) => a - b).map(String);
    const texts = await this.redis.hmget(this.names(key)[0], ...fields);
    return texts.flatMap((text) => (text === null ? [] : [JSON.parse(text) as StoredTurn]));
  }

  async span(key: SessionKey): Promise<TurnSpan> {
    const [last, removed] = await this.redis.hmget(this.names(key)[0], LAST, REMOVED);
    return { first: Number(removed ?? 0) + 1, last: Number(last ?? 0) };
  }

  async marks(key: SessionKey): Promise<ReadonlyMap<number, number>> {
    const marks = await this.redis.hgetall(this.names(key)[1]);
    return new Map(Object.entries(marks).map(([turn, mark]) => [Number(turn), Number(mark)]));
  }

  async setMark(key: SessionKey, turn: number, mark: number | null): Promise<void> {
    const [name, marks] = this.names(key);
    await this.redis.eval(MARK, 2, name, marks, turn, mark ?? '');
    if (this.ttlSeconds > 0) await this.redis.expire(marks, this.ttlSeconds);
  }

  async remove(key: SessionKey, through: number): Promise<void> {
    const [name, marks] = this.names(key);
    if ((await this.span(key)).last <= through) {
      await this.redis.unlink(name, marks);
      return;
    }
    await this.redis.hset(name, REMOVED, through);
    for (let from = 1; from <= through; from += REMOVED_AT_ONCE) {
      const count = Math.min(REMOVED_AT_ONCE, through - from + 1);
      const fields = Array.from({ length: count }, (_, at) => String(from + at));
      await this.redis
        .multi()
        .hdel(name, ...fields)
        .hdel(marks, ...fields)
        .exec();
    }
  }

  async drop(key: SessionKey, turns: readonly number[]): Promise<void> {
    const [name, marks] = this.names(key);
    const fields = turns.map(String);
    if (fields.length === 0) return;
    await this.redis
      .multi()
      .hdel(name, ...fields)
      .hdel(marks, ...fields)
      .exec();
  }

  async close(): Promise<void> {
    await closeRedisClient(this.redis);
  }

  /** Of the turns and of the marks; in one slot of a Redis cluster. */
  private names({ tenant, id }: SessionKey): [string, string] {
    const name = `${this.prefix}{${encodeURIComponent(tenant)}:${id}}`;
    return [`${name}:turns`, `${name}:marks`];
  }
}
