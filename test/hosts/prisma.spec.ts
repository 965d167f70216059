import { afterAll, beforeAll, expect, it } from 'vitest';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { AgentHost } from '../support/agent-host.js';
import { InstalledHost } from '../support/installed-host.js';
import { says } from '../support/scripted-chat-model.js';
import { describeDatabases, testServers } from '../support/test-databases.js';

const INSTALLATION_MS = 600_000;
const CLI = 'node_modules/prisma/build/index.js';
const onPostgres = (await testServers()).filter(({ kind }) => kind === 'postgres');
const agents = new AgentHost();

/** Every table of the database with its columns and its number of rows, except those of PostgreSQL. */
async function tablesOf(url: string): Promise<Readonly<Record<string, string>>> {
  const client = new Client(url);
  await client.connect();
  const { rows } = await client.query<{ name: string; columns: string }>(
    `SELECT format('%I.%I', table_schema, table_name) AS name, string_agg(column_name || ' ' || data_type, ', ' ORDER BY ordinal_position) AS columns
     FROM information_schema.columns WHERE table_schema NOT IN ('pg_catalog', 'information_schema') GROUP BY 1 ORDER BY 1`,
  );
  const counted: Record<string, string> = {};
  for (const { name, columns } of rows) {
    const { rows: counts } = await client.query<{ count: string }>(`SELECT count(*) FROM ${name}`);
    counted[name] = `${counts[0]!.count} rows of ${columns}`;
  }
  await client.end();
  return counted;
}

describeDatabases('the migrations of Prisma in the database of Jackdaw', onPostgres, (database) => {
  let host: InstalledHost;
  beforeAll(async () => {
    host = await InstalledHost.create('test/fixtures/prisma-host');
    // Without its scripts, which download the engines for other machines.
    const { code, output } = await host.install('npm', 'install', '--ignore-scripts');
    if (code !== 0) throw new Error(output);
    writeFileSync(join(host.folder, 'unused'), '');
  }, INSTALLATION_MS);
  afterAll(async () => {
    await agents.stop();
    host.remove();
  });

  /** Prisma refuses to start without a file for each of its native engines; it reads neither. */
  function prisma(...args: string[]) {
    const unused = join(host.folder, 'unused');
    const env = { PRISMA_QUERY_ENGINE_LIBRARY: unused, PRISMA_SCHEMA_ENGINE_BINARY: unused, CI: '' };
    return host.run('node', [CLI, ...args], { ...env, DATABASE_URL: database().url });
  }

  it(
    'change the tables of the application only: migrate dev, its next migration, and migrate reset',
    async () => {
      const config = { ...agents.environment(), DATABASE_URL: database().url };
      const agent = await agents.start({ config }, [says('One.')]);
      await agent.chat('First?', { sessionId: 'books' });
      await agent.close();
      const ours = await tablesOf(database().url);
      expect(Object.keys(ours).filter((name) => name.startsWith('jackdaw.')).length).toBeGreaterThan(20);

      const first = await prisma('migrate', 'dev', '--name', 'books', '--skip-generate');
      expect(first).toEqual({ code: 0, output: expect.stringContaining('Your database is now in sync') });
      const {
        'public."Book"': book,
        'public._prisma_migrations': migrations,
        ...others
      } = await tablesOf(database().url);
      expect(book).toBe('0 rows of id integer, title text');
      expect(migrations).toMatch(/^1 rows/);
      expect(others).toEqual(ours);

      appendFileSync(join(host.folder, 'prisma/schema.prisma'), '\nmodel Author {\n  name String @id\n}\n');
      const second = await prisma('migrate', 'dev', '--name', 'authors', '--skip-generate');
      expect(second).toEqual({ code: 0, output: expect.not.stringMatching(/[Dd]rift|reset/) });
      const reset = await prisma('migrate', 'reset', '--force', '--skip-generate');
      expect(reset).toEqual({ code: 0, output: expect.stringContaining('reset successful') });
      const after = await tablesOf(database().url);
      expect(after).toMatchObject({ ...ours, 'public."Author"': '0 rows of name text' });

      const next = await agents.start({ config }, [says('Two.')]);
      expect((await next.chat('Second?', { sessionId: 'books' })).content).toBe('Two.');
      expect(await next.session('books').turns()).toHaveLength(2);
      await next.close();
    },
    INSTALLATION_MS,
  );
});
