import { beforeAll, expect, it } from 'vitest';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { buildIfStale } from './support/process.js';
import { describeDatabases, testServers } from './support/test-databases.js';
import { PATIENCE_MS } from './support/patience.js';

const run = promisify(execFile);
const postgres = (await testServers()).filter(({ kind }) => kind === 'postgres');

describeDatabases('the run queue', postgres, (created) => {
  beforeAll(() => buildIfStale());

  it('does not start on failing connections, leaves the process its time, and starts later', async () => {
    const options = { timeout: PATIENCE_MS, killSignal: 'SIGKILL' } as const;
    const { stdout } = await run(process.execPath, ['test/support/queue-start.mjs', created().url], options);
    expect(stdout.trim()).toBe('refused started');
  });
});
