import { afterEach, beforeEach, expect, it } from 'vitest';
import { FaultProxy } from '../support/fault-proxy.js';
import { canStart, startPrivateRedis, type PrivateRedis } from '../support/chaos-private-servers.js';
import { describeDatabases, testServers } from '../support/test-databases.js';
import { ServedWorld, until } from './served-world.js';

/** The time in which a run starts in every fault of Redis, in ms. */
const START_MS = 5_000;
const servers = (await testServers()).filter(({ kind }) => kind === 'postgres');
const hasRedis = canStart('redis-server');

describeDatabases('a cluster with a failing Redis', hasRedis ? servers : [], (database) => {
  const world = ServedWorld.prepare();
  let redis: PrivateRedis;
  let proxy: FaultProxy;
  beforeEach(async () => {
    redis = await startPrivateRedis();
    proxy = await FaultProxy.start(new URL(redis.url), 6379);
  });
  afterEach(async () => {
    await proxy.close();
    await redis.stop();
  });

  const env = (url = proxy.through(redis.url)) => ({
    DATABASE_URL: database().url,
    REDIS_URL: url,
    CLUSTER_CHECK_MS: '500',
  });

  it.each(['cut', 'silent'] as const)(
    'starts accepted runs while it is %s, and is ready but degraded',
    async (state) => {
      const server = await world.start(env());
      proxy.become(state);
      for (let n = 0; n < 3; n++) {
        const from = performance.now();
        const { body, status } = await server.post('/api/agent/runs', { query: 'send' });
        expect(status).toBe(202);
        const run = `/api/runs/${String(body['run_id'])}`;
        await until(async () => (await server.get(run)).body['status'] === ('completed' as never));
        expect(performance.now() - from).toBeLessThan(START_MS);
      }
      expect(world.effects()).toHaveLength(3);
      const ready = await server.get('/api/health/ready');
      expect([ready.status, ready.body['details']]).toMatchObject([200, { redis: { status: 'degraded' } }]);
      proxy.become('pass');
      await until(async () => (await server.get('/api/health/ready')).text.includes('"redis":{"status":"up"}'));
      const warnings = server.lines.filter((line) => /"level":(4|5)0/.test(line));
      expect(warnings.length).toBeLessThanOrEqual(20);
    },
  );

  it('starts degraded without Redis, and executes runs', async () => {
    proxy.become('cut');
    const server = await world.start(env());
    const { body } = await server.post('/api/agent/runs', { query: 'send' });
    await until(async () => {
      const { body: run } = await server.get(`/api/runs/${String(body['run_id'])}`);
      return run['status'] === ('completed' as never);
    });
    expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  });

  it('does not start with a wrong password', async () => {
    const url = new URL(redis.url);
    url.username = 'unknown';
    url.password = 'wrong';
    const server = world.launch(env(url.href));
    expect((await server.ended).code).toBe(1);
    expect(server.output).toContain('Redis refuses the user or the password: correct REDIS_URL');
  });
});
