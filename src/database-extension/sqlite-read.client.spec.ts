import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteReadClient } from './sqlite-read.client.js';

const ENDLESS = 'WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c';
/** Much shorter than the maximum duration of a read in this file. */
const PROMPT_MS = 20_000;

let folder: string;
let silent: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'jackdaw-read-'));
  writeFileSync(join(folder, 'empty.db'), '');
  silent = join(folder, 'silent.mjs');
  writeFileSync(silent, `process.on('disconnect', () => process.exit());`);
});
afterAll(() => rmSync(folder, { recursive: true }));

const ask = (client: SqliteReadClient, sql: string, signal = new AbortController().signal) => {
  const request = { file: join(folder, 'empty.db'), sql, parameters: [], maxRows: 1, maxBytes: 100 };
  return client.ask(request, { timeoutMs: 30_000, signal }).catch((error: unknown) => error);
};

describe('SqliteReadClient', () => {
  it('does not start its process again for a queued read after close', async () => {
    const client = new SqliteReadClient();
    expect(await ask(client, 'SELECT 7')).toMatchObject({ kind: 'rows' });
    const reads = [ask(client, ENDLESS), ask(client, 'SELECT 8')];
    // By then the first read is in the process.
    await new Promise(setImmediate);
    client.close();
    const [first, second] = await Promise.all([...reads, ask(client, 'SELECT 9')]);
    expect(first).toMatchObject({ code: 'TOOL_FAILED' });
    expect(second).toMatchObject({ code: 'TOOL_FAILED', message: expect.stringContaining('is closed') });
    expect(await ask(client, 'SELECT 9')).toMatchObject({ code: 'TOOL_FAILED' });
  });

  it.each(['PRAGMA hard_heap_limit = 1', 'PRAGMA soft_heap_limit = 1', "PRAGMA temp_store_directory = '/tmp'"])(
    'discards process-wide settings of a read: %s',
    async (sql) => {
      const client = new SqliteReadClient();
      const look = () => ask(client, sql.split(' =')[0]!);
      const before = await look();
      await ask(client, sql);
      expect(await look()).toEqual(before);
      expect(await ask(client, 'SELECT 7')).toMatchObject({ kind: 'rows' });
      client.close();
    },
  );

  it('stops waiting at the start time-out, and retries at the next read', async () => {
    const client = new SqliteReadClient(silent, 300);
    for (let i = 0; i < 2; i++) {
      expect(await ask(client, 'SELECT 1')).toMatchObject({
        code: 'TOOL_FAILED',
        message: expect.stringContaining('did not start within 300 ms'),
      });
    }
    client.close();
  });

  it('stops waiting for the process if the read is cancelled', async () => {
    const client = new SqliteReadClient(silent, 30_000);
    const controller = new AbortController();
    const from = performance.now();
    const read = ask(client, 'SELECT 1', controller.signal);
    await new Promise(setImmediate);
    controller.abort();
    expect(await read).toMatchObject({ code: 'TOOL_CANCELLED' });
    client.close();
    expect(performance.now() - from).toBeLessThan(PROMPT_MS);
  });
});
