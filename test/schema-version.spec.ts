import { afterEach, beforeEach, expect, it } from 'vitest';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '../src/kernel/index.js';
import type { Statement } from '../src/persistence/statement/index.js';
import { newFolder } from './support/jackdaw.js';
import { openDatabase, type OpenDatabase } from './support/run-host.js';
import { describeDatabases, testServers, type TestDatabase } from './support/test-databases.js';

const servers = await testServers();

describeDatabases('the version of a schema', servers, (_shared, kind) => {
  let folder: string;
  let created: TestDatabase;
  let opened: OpenDatabase | undefined;
  const open = async () => {
    const url = kind === 'sqlite' ? `sqlite:${join(folder, 'x.db')}` : created.url;
    opened = await openDatabase({ DATABASE_URL: url });
    return opened.database;
  };
  const close = async () => {
    await opened?.close();
    opened = undefined;
  };
  beforeEach(async () => {
    folder = newFolder();
    created = await servers.find((server) => server.kind === kind)!.create();
  });
  afterEach(async () => {
    await close();
    await created.drop();
    rmSync(folder, { recursive: true });
  });

  const change = async (...statements: readonly Statement[]) => {
    await (await open()).commit(statements);
    await close();
  };
  const set = (name: string, value: string): Statement => ({
    sql: 'UPDATE jackdaw_property SET value = ? WHERE name = ?',
    params: [value, name],
    rows: 1,
  });
  const migrated = (name: string): Statement => ({
    sql: 'INSERT INTO jackdaw_migration (timestamp, name) VALUES (?, ?)',
    params: [Number(name.slice(-13)), name],
  });
  const recorded = async () => {
    const sql = `SELECT name, value FROM jackdaw_property WHERE name IN ('written_by', 'compatible_from') ORDER BY name`;
    const rows = await (await open()).query<{ name: string; value: string }>(sql);
    await close();
    return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
  };
  const refusal = (text: string) => ({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining(
      `${text}. This is Jackdaw ${VERSION}. Nothing was changed: start the newer version`,
    ),
  });

  it('is recorded with the oldest version that may use it, once', async () => {
    const expected = { compatible_from: '0.1.0', written_by: VERSION };
    expect([await recorded(), await recorded()]).toEqual([expected, expected]);
  });

  it('stops code that is too old for it, and names the version that wrote it', async () => {
    await change(set('written_by', '7.2.0'), set('compatible_from', '7.1.0'));
    await expect(open()).rejects.toMatchObject(
      refusal('was written by Jackdaw 7.2.0: its schema needs Jackdaw 7.1.0 or newer'),
    );
  });

  it('admits older code if the newer version says so, and remains that of the newer one', async () => {
    await change(set('written_by', '7.2.0'), migrated('AddColumn9764000000000'));
    expect(await recorded()).toEqual({ compatible_from: '0.1.0', written_by: '7.2.0' });
  });

  it('stops code that does not know a later migration, if no newer version has recorded its own', async () => {
    await change(migrated('AddColumn9764000000000'));
    await expect(open()).rejects.toMatchObject(
      refusal(
        `by Jackdaw ${VERSION} or a later build: it has the migration AddColumn9764000000000, which is not in this code`,
      ),
    );
  });
});
