import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';

/** A Lua script, which Redis executes atomically. */
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
 * KEYS: context, versions, history, expiry index, and for a new context the indexes to add it to.
 * ARGV: expected revision; new `about`, unique to this write; expiry time or empty; number of arguments that are fields
 * and texts to set; number of fields to drop; number of arguments that are scores and members of versions; oldest
 * version to retain; the same two of the history; then all these arguments, and for a new context its id.
 * Returns 1 on success.
 */
export const WRITE = new RedisScript(`
local there = redis.call('HMGET', KEYS[1], 'revision', 'about')
if (there[1] or '0') ~= ARGV[1] then
  -- Sent again, because the answer was lost with the connection.
  if there[2] == ARGV[2] then return 1 end
  return 0
end
local at = 10
local function take(count)
  at = at + count
  return unpack(ARGV, at - count, at - 1)
end
redis.call('HSET', KEYS[1], 'revision', ARGV[1] + 1, 'about', ARGV[2], take(ARGV[4]))
if ARGV[5] ~= '0' then redis.call('HDEL', KEYS[1], take(ARGV[5])) end
for key = 2, 3 do
  local added, oldest = tonumber(ARGV[2 + 2 * key]), ARGV[3 + 2 * key]
  while added > 0 do
    -- A function has no room for more than 8,000.
    local count = math.min(added, 4000)
    redis.call('ZADD', KEYS[key], take(count))
    added = added - count
  end
  if oldest ~= '0' then redis.call('ZREMRANGEBYSCORE', KEYS[key], '-inf', '(' .. oldest) end
end
for key = 5, #KEYS do redis.call('ZADD', KEYS[key], 0, ARGV[#ARGV]) end
-- An expiry time in the past removes the context at once.
local owner = redis.call('HGET', KEYS[1], 'owner')
if ARGV[3] ~= '' then
  for key = 1, 3 do redis.call('PEXPIREAT', KEYS[key], ARGV[3]) end
  redis.call('ZADD', KEYS[4], ARGV[3], owner)
elseif redis.call('PERSIST', KEYS[1]) == 1 or #KEYS > 4 then
  for key = 2, 3 do redis.call('PERSIST', KEYS[key]) end
  redis.call('ZREM', KEYS[4], owner)
end
return 1
`);

/**
 * KEYS: context, versions, history, the indexes of tenant, session and tool, expiry index.
 * ARGV: id, member of the expiry index, required revision or empty.
 * Returns 1 if the context existed.
 */
export const REMOVE = new RedisScript(`
local revision = redis.call('HGET', KEYS[1], 'revision')
if not revision or (ARGV[3] ~= '' and revision ~= ARGV[3]) then return 0 end
redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3])
for key = 4, 6 do redis.call('ZREM', KEYS[key], ARGV[1]) end
redis.call('ZREM', KEYS[7], ARGV[2])
return 1
`);

/**
 * Removes a context that Redis has expired from the indexes. KEYS and ARGV as for `REMOVE`. Returns 1 if the context
 * still exists.
 */
export const TIDY = new RedisScript(`
if redis.call('EXISTS', KEYS[1]) == 1 then return 1 end
for key = 4, 6 do redis.call('ZREM', KEYS[key], ARGV[1]) end
redis.call('ZREM', KEYS[7], ARGV[2])
return 0
`);
