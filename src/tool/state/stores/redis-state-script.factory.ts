import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';

/** A Lua script: Redis serves nobody else meanwhile. */
export class RedisScript {
  private readonly sha: string;

  constructor(private readonly lua: string) {
    this.sha = createHash('sha1').update(lua).digest('hex');
  }

  async run(redis: Redis, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    try {
      return await redis.evalsha(this.sha, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return redis.eval(this.lua, keys.length, ...keys, ...args);
    }
  }
}

/**
 * KEYS: the context, its versions, its history, then as `REMOVE`. ARGV: the revision that it was made on, what tells this
 * write from all others, the id, when it expires or nothing, its member in the index of those that do; how many texts
 * follow to be set and the fields and texts, how many fields to be dropped and they; then, for versions and for the history,
 * the oldest number that is kept, how many numbers and texts follow, and they. Gives 1 when it was done.
 */
export const WRITE = new RedisScript(`
local there = redis.call('HMGET', KEYS[1], 'revision', 'write')
if (there[1] or '0') ~= ARGV[1] then
  -- Sent again, because the answer was lost with the connection.
  if there[2] == ARGV[2] then return 1 end
  return 0
end
local at = 6
local function take()
  local count = tonumber(ARGV[at])
  local taken = { unpack(ARGV, at + 1, at + count) }
  at = at + count + 1
  return taken
end
redis.call('HSET', KEYS[1], 'write', ARGV[2], unpack(take()))
local dropped = take()
if #dropped > 0 then redis.call('HDEL', KEYS[1], unpack(dropped)) end
for key = 2, 3 do
  local oldest = ARGV[at]
  at = at + 1
  local added = take()
  if #added > 0 then redis.call('ZADD', KEYS[key], unpack(added)) end
  if oldest ~= '0' then redis.call('ZREMRANGEBYSCORE', KEYS[key], '-inf', '(' .. oldest) end
end
if ARGV[1] == '0' then
  for key = 4, 6 do redis.call('ZADD', KEYS[key], 0, ARGV[3]) end
end
if ARGV[4] == '' then
  for key = 1, 3 do redis.call('PERSIST', KEYS[key]) end
  redis.call('ZREM', KEYS[7], ARGV[5])
else
  for key = 1, 3 do redis.call('PEXPIREAT', KEYS[key], ARGV[4]) end
  redis.call('ZADD', KEYS[7], ARGV[4], ARGV[5])
end
return 1
`);

/**
 * KEYS: the context, its versions, its history, the indexes of its tenant, its session and its tool, and of those that expire.
 * ARGV: the id, its member in the last index, and the revision that alone is removed, or nothing. Gives 1 when it was there.
 */
export const REMOVE = new RedisScript(`
local revision = redis.call('HGET', KEYS[1], 'revision')
if not revision or (ARGV[3] ~= '' and revision ~= ARGV[3]) then return 0 end
redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3])
for key = 4, 6 do redis.call('ZREM', KEYS[key], ARGV[1]) end
redis.call('ZREM', KEYS[7], ARGV[2])
return 1
`);

/** Takes one that Redis has let expire out of the indexes. KEYS and ARGV as of `REMOVE`. Gives 1 when it is still there. */
export const TIDY = new RedisScript(`
if redis.call('EXISTS', KEYS[1]) == 1 then return 1 end
for key = 4, 6 do redis.call('ZREM', KEYS[key], ARGV[1]) end
redis.call('ZREM', KEYS[7], ARGV[2])
return 0
`);
