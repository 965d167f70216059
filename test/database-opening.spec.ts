import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { DatabaseExtension, type ExtensionHost } from '../src/index.js';
import { createReader } from '../src/database-extension/database-extension.js';
import { newFolder } from './support/jackdaw.js';
import { connectionsEnd, createReadable, type ReadableDatabase } from './support/readable-database.js';
import { describeDatabases, testServers } from './support/test-databases.js';

const servers = await testServers();
const onServers = servers.filter(({ kind }) => kind !== 'sqlite');
const onPostgres = servers.filter(({ kind }) => kind === 'postgres');

async function refuse(options: DataSourceOptions | DataSource): Promise<void> {
  const reader = await createReader(options);
  try {
    await reader.open();
  } finally {
    await reader.close();
  }
}

const optionsOf = (kind: string, url: string) =>
  ({ type: kind === 'postgres' ? 'postgres' : 'mariadb', url }) as DataSourceOptions;

const folder = newFolder();
const noDatabase = join(folder, 'letter.txt');
writeFileSync(noDatabase, 'Dear Ann, this is not a database. '.repeat(50));
afterAll(() => rmSync(folder, { recursive: true }));

/** A host that ignores tools: these tests only open the database. */
const HOST = { registerTool: () => undefined } as unknown as ExtensionHost;

describe('a database that is unsuitable for agents', () => {
  it.each<[string, DataSourceOptions, string]>([
    ['is in memory', { type: 'better-sqlite3', database: ':memory:' }, 'a SQLite database must be a file'],
    [
      'does not exist',
      { type: 'better-sqlite3', database: '/nowhere/x.db' },
      '/nowhere/x.db cannot be read: Cannot open database because the directory does not exist. Give an existing SQLite file',
    ],
    [
      'is not a database file',
      { type: 'better-sqlite3', database: noDatabase },
      `${noDatabase} cannot be read: file is not a database.`,
    ],
    ['is encrypted', { type: 'better-sqlite3', database: '/tmp/x.db', key: 'k' }, 'encrypted'],
    ['has an unsupported type', { type: 'oracle' }, 'its type is "oracle"'],
  ])('is refused because it %s', async (_title, options, message) => {
    await expect(refuse(options)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    await expect(refuse(options)).rejects.toThrow(message);
  });

  it.each<[string, DataSourceOptions]>([
    ['is invalid', { type: 'postgres', url: 'postgres://u:hun#ter2@db/x' }],
    ['has its password in the path', { type: 'mariadb', url: 'mysql://u:1/hunter2@db/x' }],
    ['has its password in the query', { type: 'postgres', url: 'postgres://u:1?hunter2@db/x' }],
    ['has an invalid percent escape', { type: 'postgres', url: 'postgres://u:100%hunter2@db/x' }],
    ['belongs to a different product', { type: 'mariadb', url: 'postgres://u:hunter2@db/x' }],
    ['comes from an unset variable', { type: 'postgres', url: undefined } as unknown as DataSourceOptions],
    [
      'of a replica is invalid',
      { type: 'postgres', replication: { master: { host: 'db' }, slaves: [{ url: 'hunter2' }] } },
    ],
  ])('is refused because its URL %s', async (_title, options) => {
    const error = await refuse(options).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(/ its url is .*: (give|set) /),
    });
    expect((error as Error).message).not.toMatch(/hun|ter2|%h/);
    expect((error as Error).cause).toBeUndefined();
  });
});

describeDatabases('a database', onServers, (database, kind) => {
  const changed = (change: (url: URL) => void) => {
    const url = new URL(database().url);
    change(url);
    // A server with the real password would report another error.
    if (url.pathname !== '/nowhere') url.password = 'hunter2';
    return { options: optionsOf(kind, url.href), name: `${url.hostname}:${url.port}${url.pathname}` };
  };

  it.each([
    ['no server at its port', 'nothing answers there', (url: URL) => (url.port = '1')],
    ['an unknown host', 'there is no such host', (url: URL) => (url.hostname = 'nowhere.invalid')],
    ['an unknown database', 'it has no database of that name', (url: URL) => (url.pathname = '/nowhere')],
    ['an unknown user', 'it refuses the user or the password', (url: URL) => (url.username = 'unknown')],
  ])('with %s is refused with a reason that does not contain the password', async (_what, reason, change) => {
    const { options, name } = changed(change);
    const product = kind === 'postgres' ? 'PostgreSQL' : 'MariaDB';
    const error = await refuse(options).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'CONFIG_INVALID' });
    const { message } = error as Error;
    expect(message).toContain(
      `The database is not suitable for agents: ${product} ${name} cannot be opened: ${reason}`,
    );
    expect(message).toMatch(/: (correct|create|start|see) |or correct/);
    expect(message).not.toMatch(/hunter2|DATABASE_URL/);
  });

  it('is refused with the rights of its owner', async () => {
    const rights =
      kind === 'postgres'
        ? /its role "postgres" has more rights than reading \(.*pg_read_file\(\).*superuser/
        : /ALL PRIVILEGES/;
    await expect(refuse(optionsOf(kind, database().url))).rejects.toThrow(rights);
  });
});

describeDatabases('a login', onPostgres, (database) =>
  describe('with replication rights', () => {
    const name = `copier_${randomBytes(5).toString('hex')}`;
    let owner: DataSource;
    const as = (login: string) => {
      const url = new URL(database().url);
      url.username = login;
      url.password = 'only-for-tests';
      return optionsOf('postgres', url.href);
    };
    beforeAll(async () => {
      owner = await new DataSource(optionsOf('postgres', database().url)).initialize();
      await owner.query(`CREATE ROLE ${name} LOGIN REPLICATION PASSWORD 'only-for-tests'`);
      await owner.query(`CREATE ROLE ${name}_friend LOGIN PASSWORD 'only-for-tests' IN ROLE ${name}`);
    });
    afterAll(async () => {
      await owner.query(`DROP ROLE ${name}_friend, ${name}`);
      await owner.destroy();
    });

    it('is refused', async () => {
      await expect(refuse(as(name))).rejects.toThrow(`its role "${name}" has more rights than reading (REPLICATION)`);
    });

    it('is refused, too, if only one of its roles has them', async () => {
      const friend = `${name}_friend`;
      await expect(refuse(as(friend))).rejects.toThrow(
        `its role "${friend}" has more rights than reading (SET ROLE ${name})`,
      );
    });
  }),
);

describeDatabases('an extension that cannot start', servers, (database, kind) =>
  describe('at its refused start', () => {
    let shop: ReadableDatabase;
    beforeAll(async () => {
      shop = await createReadable(kind, database());
    });
    afterAll(() => shop.drop());

    async function begin(dataSource: DataSourceOptions): Promise<unknown> {
      const extension = new DatabaseExtension({ dataSource });
      await extension.register(HOST);
      return extension.boot().catch((error: unknown) => error);
    }

    it('leaves no connection and no process behind', async () => {
      if (kind === 'postgres') await shop.owner.query(`ALTER ROLE ${shop.login} REPLICATION`);
      if (kind === 'mariadb') await shop.owner.query(`GRANT FILE ON *.* TO '${shop.login}'@'localhost'`);
      if (kind === 'mariadb') await shop.owner.query(`GRANT FILE ON *.* TO '${shop.login}'@'%'`);
      const dataSource = kind === 'sqlite' ? ({ type: 'better-sqlite3', database: noDatabase } as const) : shop.options;
      expect(await begin(dataSource)).toMatchObject({ code: 'CONFIG_INVALID' });
      await connectionsEnd(shop);
    });

    if (kind !== 'postgres') return;
    it('closes a half-opened connection', async () => {
      await shop.owner.query('REVOKE EXECUTE ON FUNCTION version() FROM PUBLIC');
      expect(await begin(shop.options)).toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining('its user may not read it: grant it CONNECT'),
      });
      await connectionsEnd(shop);
    });
  }),
);
