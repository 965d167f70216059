import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { readFileSync } from 'node:fs';
import { Client } from 'pg';
import { loadConfig } from '../src/config/index.js';
import { processConnections } from '../src/persistence/index.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Answer, type Jackdaw } from './support/jackdaw.js';
import { describeDatabases, testRedisUrl, testServers } from './support/test-databases.js';

const servers = (await testServers()).filter(({ kind }) => kind === 'postgres');
const redisUrl = await testRedisUrl();
/** Requests of each kind, and at the same time. */
const REQUESTS = 60;
const CLIENTS = 24;

/** The connections of a test database, by the highest number at one moment. */
class ConnectionWatch {
  highest = 0;
  private isOn = true;
  private readonly done: Promise<void>;

  private constructor(private readonly client: Client) {
    this.done = this.watch();
  }

  static async start(url: string): Promise<ConnectionWatch> {
    const client = new Client({ connectionString: url, application_name: 'watch' });
    await client.connect();
    return new ConnectionWatch(client);
  }

  async stop(): Promise<void> {
    this.isOn = false;
    await this.done;
    await this.client.end();
  }

  private async watch(): Promise<void> {
    while (this.isOn) {
      const { rowCount } = await this.client.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name <> 'watch'`,
      );
      this.highest = Math.max(this.highest, rowCount ?? 0);
    }
  }
}

/** Chats, runs of the queue and direct calls of a tool, several at a time. */
async function load(jackdaw: Jackdaw): Promise<void> {
  let left = REQUESTS;
  const expectStatus = async (expected: number, asked: Promise<Answer>) => {
    const { status, body } = await asked;
    expect({ status, body }).toMatchObject({ status: expected });
  };
  const client = async () => {
    while (left-- > 0) {
      await expectStatus(200, jackdaw.chat({ query: 'hi' }));
      await expectStatus(202, jackdaw.post('/api/agent/runs', { query: 'hi' }));
      await expectStatus(200, jackdaw.post('/api/tools/get_timestamp/call', { arguments: {} }));
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
}

describeDatabases('the connections of a process', servers, (database) => {
  let llm: FakeLlm;
  beforeAll(async () => {
    llm = (await FakeLlm.start()).always({ text: 'hello' });
  });
  afterAll(() => llm.close());

  describe.each([
    ['by default', {}, 12],
    ['with the smallest pool', { DATABASE_POOL_SIZE: '2' }, 5],
    ...(redisUrl === null ? [] : [['with Redis', { REDIS_URL: redisUrl }, 8] as const]),
  ] as const)('%s', (_case, settings, most) => {
    it('stay within the documented number under load', async () => {
      const env = { DATABASE_URL: database().url, RUN_QUEUE_LIMIT: '1000', RUN_TENANT_CONCURRENCY: '64', ...settings };
      expect(processConnections(loadConfig({ env }).config.database)).toBe(most);
      const watch = await ConnectionWatch.start(database().url);
      onTestFinished(() => watch.stop());
      const jackdaw = await startJackdaw({ llm, env });
      onTestFinished(() => jackdaw.stop());
      await load(jackdaw);
      const { highest } = watch;
      expect(highest).toBeLessThanOrEqual(most);
      expect(highest).toBeGreaterThan(most / 2);
      expect(readFileSync('docs/operations.md', 'utf8')).toMatch(new RegExp(`\\| ${most} +\\|`));
    });
  });
});
