import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { setTimeout as pause } from 'node:timers/promises';
import { FaultProxy } from '../support/fault-proxy.js';
import type { Answer } from '../support/jackdaw-client.js';
import { ProcessWorld } from '../support/process-world.js';
import type { ServerProcess } from '../support/process.js';
import { describeDatabases, testServers } from '../support/test-databases.js';
import { IS_LONG_FORM } from '../support/long-form.js';

/** Requests that a circuit breaker needs to open. */
const CALLS = 24;

/** Longer than the lease of a process, in ms. In the long form also longer than an idle connection stays in the pool of PostgreSQL. */
const FROZEN_MS = IS_LONG_FORM ? 35_000 : 3_000;

/** Suspends the process, by default for twice the limit of its model calls. */
async function suspend(server: ServerProcess, meanwhile: () => unknown, forMs = 2_000): Promise<void> {
  server.signal('SIGSTOP');
  await meanwhile();
  await pause(forMs);
  server.signal('SIGCONT');
}

describe('a suspended process', () => {
  const world = ProcessWorld.prepare();
  const env = { LLM_TIMEOUT_MS: '1000', LLM_BREAKER_FAILURES: '5' };

  it('accepts the replies that arrived in the meantime', async () => {
    const gate = Promise.withResolvers<undefined>();
    world.llm.always({ text: 'in time', gate: gate.promise });
    const server = await world.start({ ...env, LLM_MAX_ATTEMPTS: '1' });
    const chats = Array.from({ length: CALLS }, () => server.chat({ query: 'hello' }));
    await world.llm.waitForRequest(CALLS);
    await suspend(server, () => gate.resolve(undefined));
    for (const { status, body } of await Promise.all(chats))
      expect({ status, body }).toMatchObject({ status: 200, body: { result: 'in time' } });
    expect(world.llm.requests).toHaveLength(CALLS);
  });

  it('retries calls without a reply, and leaves the circuit closed', async () => {
    world.llm.always(() => (world.llm.requests.length <= CALLS ? { hang: true } : { text: 'retried' }));
    const server = await world.start({ ...env, LLM_MAX_ATTEMPTS: '2' });
    const chats = Array.from({ length: CALLS }, () => server.chat({ query: 'hello' }));
    await world.llm.waitForRequest(CALLS);
    await suspend(server, () => undefined);
    const replies = await Promise.all(chats);
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    expect(JSON.stringify((await server.get('/api/agent/health')).body)).not.toContain('circuits');
  });
});

const servers = (await testServers()).filter(({ kind }) => kind !== 'sqlite');

describeDatabases('a frozen serverless instance', servers, (database, kind) => {
  const world = ProcessWorld.prepare();
  let proxy: FaultProxy;
  beforeEach(async () => {
    proxy = await FaultProxy.start(new URL(database().url), kind === 'postgres' ? 5432 : 3306);
  });
  afterEach(() => proxy.close());

  const ended = { cause: 'the database ended', meanwhile: () => database().disconnect() };
  // Neither end is notified. The pool of MariaDB drops no connection by age: the first request gets 503.
  const lost = { cause: 'the network lost', meanwhile: async () => proxy.lose() };
  const cases = IS_LONG_FORM && kind === 'postgres' ? [ended, lost] : [ended];

  it.each(cases)('answers the first requests after $cause its idle connections', async ({ meanwhile }) => {
    world.llm.always({ text: 'hello' });
    const server = await world.start({
      DATABASE_URL: proxy.through(database().url),
      DATABASE_POOL_SIZE: '2',
      CLUSTER_LEASE_MS: '2000',
    });
    expect((await server.chat({ query: 'before' })).status).toBe(200);
    let first: Promise<Answer>[] = [];
    const freeze = async () => {
      await meanwhile();
      // A request thaws the instance.
      first = [server.chat({ query: 'after' }), server.post('/api/agent/runs', { query: 'after' })];
    };
    await suspend(server, freeze, FROZEN_MS);
    const [chat, started] = await Promise.all(first);
    expect([chat!.status, started!.status]).toEqual([200, 202]);
    expect((await (await server.follow(String(started!.body['run_id']))).all()).at(-1)).toMatchObject({
      event: 'run.completed',
    });
  });
});
