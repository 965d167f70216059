import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomBytes } from 'node:crypto';
import { createConnection } from 'mysql2/promise';
import { startJackdaw, type Jackdaw } from '../support/jackdaw.js';
import { LimitedRole } from '../support/limited-role.js';
import { buildIfStale, ServerProcess } from '../support/process.js';
import { describeDatabases, testServers } from '../support/test-databases.js';
import { inShortForm } from '../support/long-form.js';

const servers = await testServers();
const onPostgres = servers.filter(({ kind }) => kind === 'postgres');
const onMariadb = servers.filter(({ kind }) => kind === 'mariadb');

/** The whole output of a server that cannot start. */
async function failedStart(url: string): Promise<string[]> {
  const env = { DATABASE_URL: url, LLM_PROVIDER: 'offline', LOG_LEVEL: 'info', PORT: '0' };
  const server = ServerProcess.start('dist/main.js', env);
  expect(await server.ended).toMatchObject({ code: 1 });
  return server.output.trim().split('\n');
}

function full(product: string, url: string, limit: string): string {
  const { host, pathname } = new URL(url);
  return `The ${product} database ${host}${pathname} cannot be opened: it accepts no more connections, as ${limit} is reached: raise it, or close others (docs/operations.md has the number of a process).`;
}

describeDatabases('a start at the limit of connections', onPostgres, (database) => {
  describe('of PostgreSQL', () => {
    beforeAll(() => buildIfStale());
    const role = LimitedRole.prepare(database);

    it.each(inShortForm(1, [0, 1]))(
      'of a role that may have %i prints one line with the limit and the remedy',
      async (connections) => {
        await role.limit(connections);
        expect(await failedStart(role.url)).toEqual([full('PostgreSQL', role.url, 'the CONNECTION LIMIT of the role')]);
      },
    );

    it('of the database prints one line with the limit and the remedy', async () => {
      await role.limit(-1);
      await role.limitDatabase(0);
      const lines = await failedStart(role.url);
      await role.limitDatabase(-1);
      expect(lines).toEqual([full('PostgreSQL', role.url, 'the CONNECTION LIMIT of the database')]);
    });
  });
});

describeDatabases('a start at the limit of connections', onMariadb, (database) => {
  beforeAll(() => buildIfStale());

  it('of a user prints one line with the limit and the remedy', async () => {
    const name = `jackdaw_${randomBytes(6).toString('hex')}`;
    const admin = await createConnection(database().url);
    await admin.query(`CREATE USER ${name} IDENTIFIED BY '${name}' WITH MAX_USER_CONNECTIONS 1`);
    const url = new URL(database().url);
    await admin.query(`GRANT ALL ON ${url.pathname.slice(1)}.* TO ${name}`);
    Object.assign(url, { username: name, password: name });
    const lines = await failedStart(url.href);
    await admin.query(`DROP USER ${name}`);
    await admin.end();
    expect(lines).toEqual([full('MariaDB', url.href, 'max_user_connections')]);
  });
});

describeDatabases('a limit of connections below those of a process', onPostgres, (database) => {
  describe('of PostgreSQL', () => {
    const role = LimitedRole.prepare(database);
    let jackdaw: Jackdaw;
    beforeAll(async () => {
      await role.limit(4);
      jackdaw = await startJackdaw({
        env: { DATABASE_URL: role.url, DATABASE_TIMEOUT_MS: '60000', LOG_LEVEL: 'warn' },
      });
    });
    afterAll(() => jackdaw.stop());

    it('is reported at the start, and requests wait for the connections that are open', async () => {
      const lines = jackdaw.log.map(({ msg }) => String(msg)).filter((line) => line.includes('too few connections'));
      expect(lines).toEqual([
        expect.stringContaining(
          'this process opens up to 12, more than the CONNECTION LIMIT of the role allows. Raise it, or lower DATABASE_POOL_SIZE.',
        ),
      ]);
      const chats = await Promise.all(Array.from({ length: 20 }, () => jackdaw.chat({ query: 'hello' })));
      expect(chats.map(({ status }) => status)).toEqual(chats.map(() => 200));
    });
  });
});
