import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  canStart,
  startPrivatePostgres,
  startPrivateRedis,
  type PrivateRedis,
} from './support/chaos-private-servers.js';
import type { ClusterStore } from './support/cluster-stores.js';
import { gate, type Answer } from './support/jackdaw.js';
import { ProcessWorld } from './support/process-world.js';
import { describeDatabases, testServers } from './support/test-databases.js';
import { inShortForm } from './support/long-form.js';

const world = ProcessWorld.prepare();
const runIdOf = ({ body }: Answer) => String(body['run_id']);
const hasRedis = canStart('redis-server');
const onPostgres = (await testServers()).filter(({ kind }) => kind === 'postgres');

/** A store that the tests start and stop themselves. */
function given(env: () => Record<string, string>): ClusterStore {
  return { name: 'given', answers: true, open: async () => env(), close: async () => undefined };
}

const withRedis = hasRedis ? onPostgres : onPostgres.map((server) => ({ ...server, answers: false }));
describeDatabases('a cluster with a Redis of its own', withRedis, (created) => {
  let redis: PrivateRedis;
  beforeAll(async () => {
    redis = await startPrivateRedis();
  });
  afterAll(() => redis.stop());
  world.share(
    given(() => ({ DATABASE_URL: created().url, REDIS_URL: redis.url })),
    { CLUSTER_CHECK_MS: '200', RUN_CONCURRENCY: '1' },
  );

  it.each(inShortForm(1, ['flush', 'crash'] as const))(
    'executes all queued runs after its Redis lost its data: %s',
    async (disaster) => {
      const hold = gate();
      world.llm.always({ gate: hold.opened, text: 'done' });
      const [a, b] = await Promise.all([world.start(), world.start()]);
      const submit = (query: string) => a.post('/api/agent/runs', { query });
      const runs = await Promise.all(['one', 'two', 'three', 'four', 'five'].map(submit));
      await world.llm.waitForRequest(2);
      await redis[disaster]();
      hold.open();
      for (const run of runs) expect((await b.events(runIdOf(run))).at(-1)?.event).toBe('run.completed');
      expect(world.llm.requests).toHaveLength(5);
    },
  );
});

const canCrash = canStart('initdb');
const why = canCrash ? '' : ' (skipped: there is no initdb)';
(canCrash ? describe : describe.skip)(`a cluster on a PostgreSQL of its own${why}`, () => {
  let postgres: Awaited<ReturnType<typeof startPrivatePostgres>>;
  beforeAll(async () => {
    postgres = await startPrivatePostgres();
  });
  afterAll(() => postgres.stop());
  world.share(
    given(() => ({ DATABASE_URL: postgres.url })),
    { CLUSTER_CHECK_MS: '200', CLUSTER_LEASE_MS: '2000' },
  );

  it('completes started and queued runs once after a restart of its PostgreSQL', async () => {
    const hold = gate();
    world.llm.always({ gate: hold.opened, text: 'done' });
    const [a, b] = await Promise.all([world.start(), world.start()]);
    const stream = await a.stream({ query: 'zero', sessionId: 's' });
    await world.llm.waitForRequest();
    const queued = await b.post('/api/agent/runs', { query: 'behind it', sessionId: 's' });
    await postgres.crash();
    hold.open();
    for (const runId of [stream.runId, runIdOf(queued)]) {
      let last: string | undefined;
      // A stream ends while the journal is unreadable; the client can then open a new one.
      while (last !== 'run.completed') last = (await b.events(runId).catch(() => [])).at(-1)?.event;
    }
    const messages = await b.messages('s');
    expect(messages.map(({ content }) => content)).toEqual(['zero', 'done', 'behind it', 'done']);
  });
});
