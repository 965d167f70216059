import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { RedisStateStore } from '../src/tool-state/backend/redis-state-store.js';
import { StateCodec } from '../src/tool-state/backend/state-codec.js';
import { openRedisStateStore } from '../src/tool-state/backend/durable-backend.factory.js';
import type { StateStore } from '../src/tool-state/backend/state-store.js';
import { managerOf } from './support/state-stores.js';
import { testRedisUrl } from './support/test-databases.js';

Logger.overrideLogger(false);
const HOUR_MS = 3_600_000;
const url = (await testRedisUrl()) ?? (process.env['CI'] ? 'redis://127.0.0.1:6379' : null);
const name = `test-${process.pid}-${Date.now()}`;
const prefix = `${name}:`;
let count = 0;
const fresh = () => ({ tenant: 't', session: `s${count++}`, tool: 'a' });

(url === null ? describe.skip : describe)('states of tools in Redis', () => {
  let redis: Redis;
  const stores: StateStore[] = [];
  const open = async (db = 0) => {
    const store = await openRedisStateStore({ url: url!, prefix: name, db });
    stores.push(store);
    return store;
  };
  beforeAll(() => {
    redis = new Redis(url!);
  });
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()));
    for (const db of [7, 0]) {
      await redis.select(db);
      await redis.del(...(await redis.keys(`${prefix}*`)), 'none');
    }
    await redis.quit();
  });

  it('are in the named database', async () => {
    const id = await managerOf(await open(7)).createContext(fresh());
    expect([await (await open()).load(id), await redis.keys(`${prefix}*${id}*`)]).toEqual([null, []]);
    expect(await (await open(7)).load(id)).toMatchObject({ id });
  });

  it('expire in Redis without a sweep, and leave no index behind', async () => {
    const store = await open();
    const keys = Array.from({ length: 5 }, fresh);
    const ids: string[] = [];
    // In sequence, so that the last one expires last.
    for (const [at, key] of keys.entries()) {
      const states = managerOf(store, { idleMs: HOUR_MS + at * 1000 });
      const id = await states.createContext(key);
      await states.setState(id, 'business', { n: 1 });
      await states.edit(id, (draft) => draft.note('execution_start', null, {}));
      ids.push(id);
    }
    const states = managerOf(store, { idleMs: HOUR_MS });
    const parts = ids.flatMap((id) => ['', ':versions', ':history'].map((part) => `${prefix}{${id}}${part}`));
    const times = await Promise.all(parts.map((key) => redis.pexpiretime(key)));
    expect(new Set(times.slice(0, 3)).size).toBe(1);
    expect(Math.min(...times)).toBeGreaterThan(Date.now() + HOUR_MS - 60_000);
    // Deletes the keys as Redis does at their expiry.
    await redis.del(...parts.slice(0, 12));
    expect(await states.listContexts({ tenant: 't', session: keys[0]!.session })).toEqual([]);
    expect(await store.expired(Date.now() + 2 * HOUR_MS, 2)).toEqual([ids[4]]);
    const left = await Promise.all((await redis.keys(`${prefix}*`)).map(async (key) => [key, await members(key)]));
    for (const id of ids.slice(0, 4)) expect(JSON.stringify(left)).not.toContain(id);
  });

  const members = async (key: string) => ((await redis.type(key)) === 'zset' ? redis.zrange(key, 0, -1) : []);

  it('no longer expire once one of their states does not', async () => {
    const states = managerOf(await open(), { ttlMs: HOUR_MS });
    const id = await states.createContext(fresh());
    await states.setState(id, 'cache', { n: 1 });
    expect(await redis.pttl(`${prefix}{${id}}`)).toBeGreaterThan(0);
    await managerOf(await open()).setState(id, 'business', { n: 1 });
    expect([await redis.pttl(`${prefix}{${id}}`), await redis.pttl(`${prefix}{${id}}:versions`)]).toEqual([-1, -1]);
    expect(await members(`${prefix}expiries`)).not.toContainEqual(expect.stringContaining(id));
  });

  it('no longer expire when they are created again without an expiry', async () => {
    const key = fresh();
    const id = await managerOf(await open(), { idleMs: HOUR_MS }).createContext(key);
    await redis.del(`${prefix}{${id}}`);
    expect(await members(`${prefix}expiries`)).toContainEqual(expect.stringContaining(id));
    await managerOf(await open()).createContext(key);
    expect(await members(`${prefix}expiries`)).not.toContainEqual(expect.stringContaining(id));
  });

  it('are written with a history that is longer than a script accepts at once', async () => {
    const store = await open();
    const states = managerOf(store, { maxHistory: 10_000 });
    const id = await states.createContext(fresh());
    await states.edit(id, (draft) => {
      for (let n = 1; n <= 5000; n++) draft.note('execution_start', null, { n });
    });
    const history = await states.getHistory(id, 10_000);
    expect(history.map(({ n, detail }) => [n, detail['n']])).toEqual(
      Array.from({ length: 5000 }, (_, at) => [5000 - at, 5000 - at]),
    );
  });

  it('are changed once by a command that is repeated because its reply was lost', async () => {
    const twice = redis.duplicate();
    const send = twice.evalsha.bind(twice) as (...args: unknown[]) => Promise<unknown>;
    twice.evalsha = async (...args: unknown[]) => {
      await send(...args);
      return send(...args);
    };
    const store = new RedisStateStore(twice, prefix, new StateCodec());
    stores.push(store);
    const states = managerOf(store);
    const id = await states.createContext(fresh());
    const add = () => states.updateState(id, 'business', ({ n }) => ({ n: Number(n ?? 0) + 1 }));
    for (let n = 0; n < 3; n++) await add();
    expect(await states.getState(id, 'business')).toMatchObject({ version: 3, data: { n: 3 } });
    expect(await states.getVersions(id)).toHaveLength(3);
  });

  it('work with a Redis that has lost the scripts', async () => {
    const states = managerOf(await open());
    await redis.script('FLUSH');
    const id = await states.createContext(fresh());
    await redis.script('FLUSH');
    expect(await states.cleanupContext(id)).toBe(true);
  });
});

describe('a Redis that is away', () => {
  let server: Server;
  const sockets: Socket[] = [];
  beforeAll(async () => {
    server = createServer((socket) => sockets.push(socket.on('error', () => undefined))).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  const away = { code: 'TOOL_STATE_UNAVAILABLE', isRetryable: true };

  it.each(['silent', 'absent'])('fails instead of waiting without end: %s', async (how) => {
    const port = how === 'silent' ? (server.address() as AddressInfo).port : 1;
    const store = await openRedisStateStore({ url: `redis://127.0.0.1:${port}`, prefix: name });
    const states = managerOf(store);
    const asked = [
      () => states.createContext(fresh()),
      () => states.getState('ctx', 'business'),
      () => states.listContexts({ tenant: 't' }),
      () => states.cleanupContext('ctx'),
      () => store.expired(1, 1),
    ];
    for (const ask of asked) {
      await expect(ask()).rejects.toMatchObject(away);
    }
    await store.close();
  });

  it('fails as soon as it stops answering, and works when it answers again', async () => {
    if (url === null) return;
    const { hostname, port } = new URL(url);
    const lines: Socket[] = [];
    const relay = createServer((client) => {
      const target = connect(Number(port || 6379), hostname);
      for (const socket of [client, target]) lines.push(socket.on('error', () => undefined));
      client.pipe(target).pipe(client);
    }).listen(0, '127.0.0.1');
    await once(relay, 'listening');
    const store = await openRedisStateStore({
      url: `redis://127.0.0.1:${(relay.address() as AddressInfo).port}`,
      prefix: name,
    });
    const states = managerOf(store);
    const id = await states.createContext(fresh());
    for (const socket of lines) socket.pause();
    await expect(states.setState(id, 'business', {})).rejects.toMatchObject(away);
    for (const socket of lines) socket.resume();
    expect(await states.setState(id, 'business', { n: 1 })).toMatchObject({ data: { n: 1 } });
    await states.cleanupContext(id);
    relay.close();
    for (const socket of lines) socket.destroy();
    await expect(states.createContext(fresh())).rejects.toMatchObject(away);
    await store.close();
  });
});
