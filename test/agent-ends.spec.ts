import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { promisify } from 'node:util';
import { clusterStores, describeClusters } from './support/cluster-stores.js';
import { newFolder } from './support/jackdaw.js';
import { buildIfStale, program } from './support/process.js';
import { describeDatabases, testServers } from './support/test-databases.js';
import { PATIENCE_MS } from './support/patience.js';

const run = promisify(execFile);
const servers = await testServers();
const clusters = (await clusterStores()).filter(({ name }) => name === 'mariadb with redis');

describe('a program', () => {
  const folder = newFolder();
  beforeAll(() => buildIfStale());
  afterAll(() => rmSync(folder, { recursive: true }));

  /** The output of the program, after the program ended by itself. */
  async function end(which: string, env: object): Promise<string> {
    const args = [program('half-agent'), which, JSON.stringify({ DATA_DIR: folder, ...env })];
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
  ])('ends by itself if the creation of its agent fails midway: %s', async (which, outcome) => {
    expect(await end(which, {})).toBe(outcome);
  });

  describeDatabases('on a server', servers, (created) => {
    it('ends by itself, too', async () => {
      expect(await end('tool', { DATABASE_URL: created().url })).toBe('AGENT_INVALID');
    });
  });

  describeClusters('whose Redis is unreachable', clusters, (store) => {
    let env: Record<string, string>;
    beforeAll(async () => {
      env = await store.open();
    });
    afterAll(() => store.close());

    it.each([
      ['was never there', 'none', { REDIS_URL: 'redis://127.0.0.1:1' }],
      ['goes away', 'lost', {}],
    ])('ends by itself, too, if that %s', async (_what, which, changed) => {
      expect(await end(which, { ...env, ...changed })).toBe('closed');
    });
  });
});
