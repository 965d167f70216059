import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Logger } from '@nestjs/common';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../config/index.js';
import { openPersistence } from './shared-persistence.registry.js';
import type { OpenPersistence } from './persistence.types.js';
import { SqliteDatabase } from './sqlite-database.js';
import type { SqliteHandle } from './sqlite-handle.js';
import { insert } from './statement/statement.factory.js';

const WORD = 'kingfisher';
let folder: string;
let opened: OpenPersistence;
let warned: string[];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'jackdaw-purge-'));
  warned = [];
  vi.spyOn(Logger.prototype, 'warn').mockImplementation((line: string) => void warned.push(line));
  await open();
  await opened.database.commit([{ sql: 'CREATE TABLE item (id INTEGER PRIMARY KEY, body TEXT)', params: [] }]);
  // Rows of many lengths, so that pages are split and joined.
  for (let n = 0; n < 30; n++) {
    const ids = Array.from({ length: 30 }, (_, i) => ((n * 30 + i) * 577) % 900);
    await opened.database.commit(ids.map((id) => insert('item', { id, body: `${WORD} `.repeat(id % 90) })));
  }
  await opened.database.commit([{ sql: 'DELETE FROM item WHERE id % 3 > 0', params: [] }]);
  await opened.database.commit([{ sql: `UPDATE item SET body = 'x'`, params: [] }]);
});
afterEach(async () => {
  await opened.close();
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

async function open(): Promise<void> {
  const { config } = loadConfig({ env: { DATABASE_URL: `sqlite:${folder}/own.db` } });
  opened = await openPersistence(config.database, { entities: [], migrations: [] });
}

function handle(): SqliteHandle {
  return (opened.dataSource.driver as unknown as { databaseConnection: SqliteHandle }).databaseConnection;
}

/** Warnings about a rewrite at the opening. */
function rewritten(): string[] {
  return opened.warnings.filter((line) => line.includes('was rewritten'));
}

function isLeft(): boolean {
  return readdirSync(folder).some((name) => readFileSync(join(folder, name)).includes(WORD));
}

describe('deleted data', () => {
  it('is removed from the files by a purge', async () => {
    expect(isLeft()).toBe(true);
    await opened.database.purge();
    expect([isLeft(), warned]).toEqual([false, []]);
  });

  it('is removed from a large file when it is opened next', async () => {
    await new SqliteDatabase(handle(), null, undefined, 1000).purge();
    expect(warned).toEqual([expect.stringMatching(/has \d+ MB: .* at the next start, before requests are accepted/)]);
    await opened.close();
    await open();
    expect([isLeft(), rewritten()]).toEqual([false, [expect.stringMatching(/SQLite file \(\d+ MB\)/)]]);
    expect(await opened.database.query('SELECT COUNT(*) AS n FROM item')).toEqual([{ n: 300 }]);
    await opened.close();
    await open();
    expect(rewritten()).toEqual([]);
  });

  it('is left for later without an error when the file cannot be rewritten now', async () => {
    const reading = (handle().prepare('SELECT id FROM item') as unknown as { iterate(): Iterator<unknown> }).iterate();
    reading.next();
    await opened.database.purge();
    expect(warned).toEqual([expect.stringMatching(/is not yet removed from the SQLite file: .*busy.*retried/)]);
    reading.return?.();
    await opened.database.purge();
    expect([isLeft(), warned.length]).toEqual([false, 1]);
  });
});
