import { afterEach, beforeEach, expect, it } from 'vitest';
import { FaultProxy } from '../support/fault-proxy.js';
import type { ServerProcess } from '../support/process.js';
import { describeDatabases, testServers } from '../support/test-databases.js';
import { ServedWorld, until } from './served-world.js';

const servers = (await testServers()).filter(({ kind }) => kind === 'postgres');
const TIMES = { CLUSTER_LEASE_MS: '1500', CLUSTER_CHECK_MS: '300', DATABASE_TIMEOUT_MS: '1000' };

describeDatabases('a run that another node claimed during a call', servers, (database) => {
  const world = ServedWorld.prepare();
  let proxy: FaultProxy;
  let other: ServerProcess;
  beforeEach(async () => {
    proxy = await FaultProxy.start(new URL(database().url), 5432);
    other = await world.start({ DATABASE_URL: database().url, ...TIMES, DATA_DIR: `${world.folder}/other` });
  });
  afterEach(() => proxy.close());

  /** Starts a run at the server, whose network then fails until the other one waits for a person. */
  async function lose(server: ServerProcess, waitMs: number): Promise<string> {
    const started = server.post('/api/agent/chat', { query: `send ${waitMs}` });
    started.catch(() => undefined);
    await server.waitForLine('sending Oslo');
    proxy.become('silent');
    const { body: list } = await other.get('/api/runs');
    const [{ run_id: id }] = list['runs'] as unknown as [{ run_id: string }];
    await until(async () => (await run(id))['status'] === 'waiting');
    return id;
  }

  const run = async (id: string) => (await other.get(`/api/runs/${id}`)).body as Record<string, unknown>;

  it('is settled by the node that has the result', async () => {
    const server = await world.start({ DATABASE_URL: proxy.through(database().url), ...TIMES });
    const id = await lose(server, 1_000);
    proxy.become('pass');
    await until(async () => (await run(id))['status'] === 'completed');
    expect(world.effects()).toEqual(['Oslo']);
    const { text } = await other.get(`/api/runs/${id}/events`);
    expect(text).toContain('sent to Oslo');
    expect(text).toContain('"decision":"settled"');
  });
});
