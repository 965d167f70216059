import { afterAll, describe, expect, it } from 'vitest';
import { openSync, readdirSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder } from '../support/jackdaw.js';
import { openDatabase } from '../support/run-host.js';
import { ServedWorld, statusOf, until } from './served-world.js';

const READY = '/api/health/ready';

describe('a server whose database file is lost', () => {
  const world = ServedWorld.prepare();

  it('refuses requests within two seconds, and ends with the exit code 1', async () => {
    const server = await world.start();
    expect((await server.chat({ query: 'hello' })).status).toBe(200);
    expect(await statusOf(server, READY)).toBe(200);
    rmSync(world.dataDir, { recursive: true });
    await until(async () => (await statusOf(server, READY)) !== 200);
    expect(await server.ended).toEqual({ code: 1, signal: null });
    const lines = server.lines.filter((line) => line.includes('was removed or replaced'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('restore the file, then restart');
  });
});

describe('a damaged database file', () => {
  const folder = newFolder();
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is reported once, and refuses all calls from then on', async () => {
    const opened = await openDatabase({ DATA_DIR: folder, NODE_ENV: 'development' });
    const { database } = opened;
    await database.commit([{ sql: 'CREATE TABLE large (text text)', params: [] }]);
    const row = { sql: 'INSERT INTO large VALUES (?)', params: ['x'.repeat(3000)] };
    // Larger than the page cache of 16 MB.
    for (let n = 0; n < 30; n++) await database.commit(Array.from({ length: 300 }, () => row));
    for (const name of readdirSync(folder).filter((file) => /\.db(-wal)?$/.test(file))) damage(join(folder, name));
    let failures = 0;
    database.onFailure(() => failures++);
    const damaged = { code: 'JOURNAL_UNAVAILABLE', message: expect.stringContaining('restore it from a backup') };
    await expect(database.query('SELECT SUM(LENGTH(text)) AS sum FROM large')).rejects.toMatchObject(damaged);
    await expect(database.query('SELECT 1')).rejects.toMatchObject(damaged);
    await expect(database.commit([row])).rejects.toMatchObject(damaged);
    expect([failures, database.outage]).toEqual([1, 'it cannot be used until a restart']);
    await opened.close().catch(() => undefined);
  });
});

/** Overwrites all but the first page. */
function damage(file: string): void {
  const { size } = statSync(file);
  const handle = openSync(file, 'r+');
  const page = Buffer.alloc(4096, 0xa5);
  for (let at = 4096; at < size; at += page.length) writeSync(handle, page, 0, page.length, at);
}
