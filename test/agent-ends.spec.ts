import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { promisify } from 'node:util';
import { newFolder } from './support/jackdaw.js';
import { buildIfStale } from './support/process.js';
import { describeDatabases, testRedisUrl, testServers } from './support/test-databases.js';

const run = promisify(execFile);
/** One that is held by a connection, a timer or a child never ends by itself. */
const PATIENCE_MS = 30_000;
const servers = await testServers();
/** Without a Redis it cannot go away: it is as good as never there. */
const redisUrl = (await testRedisUrl()) ?? 'redis://127.0.0.1:1';

describe('a program', () => {
  const folder = newFolder();
  beforeAll(() => buildIfStale(), 120_000);
  afterAll(() => rmSync(folder, { recursive: true }));

  /** What it prints, once it has ended by itself. */
  async function end(which: string, env: object): Promise<string> {
    const args = ['test/support/half-agent.mjs', which, JSON.stringify({ DATA_DIR: folder, ...env })];
    const { stdout } = await run(process.execPath, args, { timeout: PATIENCE_MS, killSignal: 'SIGKILL' });
    return stdout.trim();
  }

  it.each([
    ['tool', 'AGENT_INVALID'],
    ['workflow', 'WORKFLOW_INVALID'],
    ['extension', 'EXTENSION_INVALID'],
    ['object', 'EXTENSION_INVALID'],
    ['server', 'MCP_SERVER_NOT_FOUND'],
    ['none', 'closed'],
  ])(
    'ends by itself when its agent was not made half way: %s',
    async (which, outcome) => {
      expect(await end(which, {})).toBe(outcome);
    },
    PATIENCE_MS + 5000,
  );

  describeDatabases('on a server', servers, (created) => {
    it(
      'ends by itself, too',
      async () => {
        expect(await end('tool', { DATABASE_URL: created().url })).toBe('AGENT_INVALID');
      },
      PATIENCE_MS + 5000,
    );
  });

  describeDatabases(
    'whose Redis',
    servers.filter(({ kind }) => kind === 'mariadb'),
    (created) => {
      it.each([
        ['was never there', 'none', 'redis://127.0.0.1:1'],
        ['goes away', 'lost', redisUrl],
      ])(
        'ends by itself, too, when that %s',
        async (_what, which, url) => {
          expect(await end(which, { DATABASE_URL: created().url, REDIS_URL: url })).toBe('closed');
        },
        PATIENCE_MS + 5000,
      );
    },
  );
});
