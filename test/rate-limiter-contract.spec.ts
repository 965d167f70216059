import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { Logger } from '@nestjs/common';
import { createHash, randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { loadConfig } from '../src/config/index.js';
import { DatabaseRateLimiter } from '../src/security/rate-limit/database-rate-limiter.js';
import { openRateLimiter, type RateLimit, type RateLimiter } from '../src/security/index.js';
import { openDatabase, type OpenDatabase } from './support/run-host.js';
import { describeDatabases, testRedisUrl, testServers } from './support/test-databases.js';

Logger.overrideLogger(false);

const HOUR_MS = 3_600_000;

function limitOf(calls: number, windowMs = HOUR_MS): RateLimit {
  return { key: createHash('sha256').update(randomUUID()).digest('hex'), calls, windowMs };
}

/** The contract of every rate-limit store. @param open gives each process's access to the same store */
function holdsToLimits(open: () => RateLimiter[]): void {
  const admitted = async (limits: readonly RateLimit[], times: number) => {
    const limiters = open();
    const asked = Array.from({ length: times }, (_, n) => limiters[n % limiters.length]!.admit(limits));
    return (await Promise.all(asked)).filter(({ kind }) => kind === 'admitted').length;
  };

  it('admits exactly the limit, however many requests are concurrent', async () => {
    const limit = limitOf(20);
    expect([await admitted([limit], 60), await admitted([limit], 10)]).toEqual([20, 0]);
  });

  it('reports the exhausted limit and its reset time; a refused call counts in no limit', async () => {
    const [wide, narrow] = [limitOf(3), limitOf(1)];
    expect(await admitted([wide, narrow], 1)).toBe(1);
    const from = Date.now();
    const refused = await open()[0]!.admit([wide, narrow]);
    expect(refused).toMatchObject({ kind: 'limited', limit: narrow });
    const { resetsAt } = refused as { resetsAt: number };
    expect(resetsAt - from).toBeGreaterThan(HOUR_MS - 60_000);
    expect(resetsAt - from).toBeLessThanOrEqual(HOUR_MS + 5_000);
    expect(await admitted([wide], 5)).toBe(2);
  });
}

const servers = await testServers();

describe('the rate limiter in memory', () => {
  let limiter: RateLimiter;
  beforeAll(async () => {
    limiter = await openRateLimiter(loadConfig({ env: {} }).config.database);
  });
  afterAll(() => limiter.close());
  holdsToLimits(() => [limiter]);
});

describeDatabases('the rate limiter in the database', servers, (created) => {
  let opened: OpenDatabase[] = [];
  let limiters: RateLimiter[];
  beforeAll(async () => {
    const env = {
      DATABASE_URL: created().url,
      ...(created().kind === 'mariadb' && { REDIS_URL: 'redis://127.0.0.1:1' }),
    };
    opened = [await openDatabase(env)];
    if (created().kind !== 'sqlite') opened.push(await openDatabase(env));
    limiters = opened.map(({ database }) => new DatabaseRateLimiter(database));
  });
  afterEach(() => void vi.restoreAllMocks());
  afterAll(async () => {
    for (const one of opened) await one.close();
  });
  holdsToLimits(() => limiters);
  const rowsOf = ({ key }: RateLimit) => opened[0]!.database.query('SELECT id FROM call_rate WHERE id = ?', [key]);

  it('counts the first call in the window that it starts, also when its clock is behind', async () => {
    const limit = limitOf(1);
    const at = Date.now();
    // The row is created at `at`; the call is counted by a process whose clock is 5 ms behind.
    vi.spyOn(Date, 'now')
      .mockReturnValueOnce(at)
      .mockReturnValueOnce(at - 5)
      .mockReturnValue(at + 1);
    expect((await limiters[0]!.admit([limit])).kind).toBe('admitted');
    expect((await limiters[0]!.admit([limit])).kind).toBe('limited');
  });

  it('starts a new window after the last one, and deletes rows of old windows', async () => {
    const limit = limitOf(2);
    const from = Date.now();
    const clock = vi.spyOn(Date, 'now');
    const admits = async (at: number) => {
      clock.mockReturnValue(from + at);
      return (await limiters[0]!.admit([limit])).kind;
    };
    expect([await admits(0), await admits(1), await admits(2)]).toEqual(['admitted', 'admitted', 'limited']);
    expect([await admits(HOUR_MS - 1), await admits(HOUR_MS)]).toEqual(['limited', 'admitted']);
    clock.mockReturnValue(from + 3 * HOUR_MS);
    await limiters[0]!.admit([limitOf(1)]);
    expect(await rowsOf(limit)).toEqual([]);
  });

  it('deletes the row of a window that no call has started', async () => {
    const [used, refused] = [limitOf(1), limitOf(1)].toSorted((a, b) => (a.key < b.key ? 1 : -1));
    const from = Date.now();
    expect((await limiters[0]!.admit([used!])).kind).toBe('admitted');
    expect((await limiters[0]!.admit([used!, refused!])).kind).toBe('limited');
    expect(await rowsOf(refused!)).toHaveLength(1);
    vi.spyOn(Date, 'now').mockReturnValue(from + 2 * HOUR_MS);
    await limiters[0]!.admit([limitOf(1)]);
    expect(await rowsOf(refused!)).toEqual([]);
  });
});

const redisUrl = await testRedisUrl();
(redisUrl === null ? describe.skip : describe)('the rate limiter in Redis', () => {
  let limiters: RateLimiter[];
  beforeAll(async () => {
    const { config } = loadConfig({ env: { REDIS_URL: redisUrl! } });
    limiters = [await openRateLimiter(config.database), await openRateLimiter(config.database)];
  });
  afterAll(async () => {
    for (const limiter of limiters) await limiter.close();
    const redis = new Redis(redisUrl!);
    await redis.del(...(await redis.keys('jackdaw:rate:*')), 'none');
    await redis.quit();
  });
  holdsToLimits(() => limiters);
});

describe('a Redis that is away', () => {
  let server: Server;
  const sockets: Socket[] = [];
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  it('fails within moments instead of waiting', async () => {
    server = createServer((socket) => sockets.push(socket.on('error', () => undefined))).listen(0, '127.0.0.1');
    await new Promise((listening) => server.once('listening', listening));
    const url = `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const silent = await openRateLimiter(loadConfig({ env: { REDIS_URL: url } }).config.database);
    const absent = await openRateLimiter(loadConfig({ env: { REDIS_URL: 'redis://127.0.0.1:1' } }).config.database);
    for (const limiter of [silent, absent]) {
      await expect(limiter.admit([limitOf(1)])).rejects.toThrow(/./);
      await limiter.close();
    }
  });
});
