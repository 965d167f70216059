import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRequire } from 'node:module';
import { CliTerminal, runCli, startCli, type CliEnd, type CliOptions } from './support/cli.js';
import { FakeLlm } from './support/fake-llm.js';
import { describeDatabases, testServers } from './support/test-databases.js';
import { buildIfStale, killAll, program, ServerProcess } from './support/process.js';

type Sqlite = new (
  file: string,
  options?: object,
) => {
  prepare(sql: string): { all(...params: unknown[]): Record<string, unknown>[]; run(...params: unknown[]): unknown };
  exec(sql: string): void;
  close(): void;
};

const Database = createRequire(import.meta.url)('better-sqlite3-v13') as Sqlite;

const onServers = (await testServers()).filter(({ kind }) => kind !== 'sqlite');
let folder: string;

beforeAll(() => buildIfStale());
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'jackdaw-cli-'))));
afterEach(async () => {
  await killAll();
  rmSync(folder, { recursive: true });
});

const cli = (args: string, options: CliOptions = {}): Promise<CliEnd> =>
  runCli(args.split(' '), { cwd: folder, ...options });

interface Checks {
  readonly ok: boolean;
  readonly checks: readonly { readonly name: string; readonly status: string; readonly detail: string }[];
}

async function doctor(env: Record<string, string> = {}): Promise<Checks & { code: number | null }> {
  const { code, out } = await cli('doctor --json', { env: { PORT: '0', ...env } });
  return { code, ...(JSON.parse(out) as Checks) };
}

/** A server in the folder, which answers. */
async function serve(env: Record<string, string> = {}): Promise<ServerProcess & { address: string }> {
  const variables = { LLM_PROVIDER: 'offline', LOG_LEVEL: 'info', LOG_FORMAT: 'json', ...env };
  const started = ServerProcess.start(join(process.cwd(), 'lib/cli.js'), variables, ['serve', '--port', '0'], folder);
  await started.waitForOutput(/Jackdaw serves http:\/\/127\.0\.0\.1:\d+/);
  const [, address = ''] = /Jackdaw serves (http:\/\/127\.0\.0\.1:\d+)/.exec(started.output) ?? [];
  return Object.assign(started, { address });
}

describe('the commands without a server', () => {
  it('end when a server owns the database, and name JACKDAW_URL', async () => {
    const server = await serve();
    const { code, err } = await cli('runs list');
    expect([code, err]).toEqual([1, expect.stringContaining('JACKDAW_URL=http://localhost:3000')]);
    expect(JSON.parse((await cli('runs list --json')).err)).toMatchObject({ code: 'DATABASE_LOCKED' });
    const second = await runCli(['serve', '--port', '0'], { cwd: folder, env: { SHUTDOWN_TIMEOUT_MS: '0' } });
    expect([second.code, second.err]).toEqual([78, expect.stringContaining('belongs to another running Jackdaw')]);
    const env = { JACKDAW_URL: server.address };
    expect(await cli('chat 6*7', { env })).toMatchObject({ code: 0, out: '42\n' });
    expect((await doctor(env)).checks[1]).toMatchObject({ name: 'server', status: 'ok' });
    expect((await server.kill('SIGTERM')).code).toBe(0);
    expect((await cli('runs list')).out).toContain('completed');
  });

  it('need a key when the database has keys', async () => {
    const { key, id } = JSON.parse((await cli('key create mine --role admin --json')).out) as Record<string, string>;
    expect(await cli('runs list')).toMatchObject({ code: 1, err: expect.stringContaining('JACKDAW_KEY') });
    writeFileSync(join(folder, '.env'), `JACKDAW_KEY=${key}\n`);
    expect((await cli('key list')).out).toMatch(new RegExp(`^${id} +admin .* mine$`, 'm'));
    expect((await cli(`key revoke ${id}`)).out).toBe(`Revoked key ${id}.\n`);
    expect((await cli('runs list')).code).toBe(1);
  });

  it('cancel their run at SIGINT, and end with 130', async () => {
    const llm = await FakeLlm.start();
    llm.reply({ hang: true });
    const { env } = llm;
    const chat = startCli(['chat', 'Wait'], { cwd: folder, env });
    await llm.waitForRequest();
    chat.kill('SIGINT');
    expect(await once(chat, 'close')).toEqual([130, null]);
    await llm.close();
    expect((await cli('runs list')).out).toContain('cancelled');
  });

  it('settle a call in place that a crash interrupted', async () => {
    const server = ServerProcess.start(
      program('crash-app'),
      { EFFECTS_FILE: join(folder, 'effects'), DIE_AT: 'once_step 1', LLM_PROVIDER: 'offline' },
      [],
      folder,
    );
    await server.waitForLine('ready ');
    const url = server.lines.find((line) => line.startsWith('ready '))!.slice('ready '.length);
    await cli('tools call once_step {"step":1}', { env: { JACKDAW_URL: url } });
    await server.ended;
    // The next start of the application finds the interrupted call.
    const again = ServerProcess.start(
      program('crash-app'),
      { EFFECTS_FILE: join(folder, 'effects'), LLM_PROVIDER: 'offline' },
      [],
      folder,
    );
    await again.waitForLine('ready ');
    const env = { JACKDAW_URL: again.lines.find((line) => line.startsWith('ready '))!.slice('ready '.length) };
    const { runs } = JSON.parse((await cli('runs list --json', { env })).out) as { runs: { run_id: string }[] };
    const follow = CliTerminal.start(['runs', 'follow', runs[0]!.run_id], { cwd: folder, env });
    await follow.waitFor('The outcome of a call is unknown: once_step');
    await follow.waitFor('[l]ater: ');
    follow.type('s\n');
    await follow.waitFor('Its result (text or JSON): ');
    follow.type('it worked\n');
    await follow.waitFor('run.completed');
    expect([await follow.end(), readFileSync(join(folder, 'effects'), 'utf8')]).toEqual([0, 'once_step 1\n']);
  });
});

describe('jackdaw doctor', () => {
  it('reports each fault with its remedy, and ends with 1', async () => {
    const wrong = await doctor({ LLM_TIMEOUT_MS: 'soon' });
    expect(wrong).toMatchObject({ code: 1, ok: false, checks: [{}, { name: 'configuration', status: 'error' }] });
    expect(wrong.checks[1]?.detail).toContain('LLM_TIMEOUT_MS');
    const busy = createServer().listen(0, '127.0.0.1');
    await once(busy, 'listening');
    const { port } = busy.address() as { port: number };
    const used = await doctor({
      PORT: String(port),
      REDIS_URL: 'redis://127.0.0.1:1',
      DATABASE_URL: 'postgres://127.0.0.1:1/none',
    });
    busy.close();
    const found = Object.fromEntries(used.checks.map(({ name, status }) => [name, status]));
    expect(found).toMatchObject({ database: 'error', redis: 'error', port: 'warning' });
    expect(used.code).toBe(1);
  });

  it('reports an agent file with a mistake', async () => {
    await cli('init');
    writeFileSync(join(folder, 'config/agents/default.json'), '{"name":"default","colour":"red"}');
    const { checks } = await doctor();
    expect(checks.find(({ name }) => name === 'agents')).toMatchObject({
      status: 'error',
      detail: expect.stringContaining('colour'),
    });
  });

  it('reports pending migrations, and a server that owns the database', async () => {
    await cli('runs list');
    forgetMigration();
    expect(databaseOf(await doctor())).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining('1 pending migrations'),
    });
    expect(databaseOf(await doctor({ MIGRATE: 'off' }))).toMatchObject({ status: 'error' });
    await cli('migrate');
    await serve();
    expect(databaseOf(await doctor())).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining('a running server owns it'),
    });
  });
});

const databaseOf = ({ checks }: Checks) => checks.find(({ name }) => name === 'database');

/** Makes the newest migration, which creates a table, pending. */
function forgetMigration(): string {
  const database = new Database(join(folder, 'data/jackdaw.db'));
  const [row] = database.prepare(`SELECT name FROM jackdaw_migration WHERE name LIKE 'CreateStorageProbe%'`).all();
  const name = String(row!['name']);
  database.prepare('DELETE FROM jackdaw_migration WHERE name = ?').run(name);
  database.exec('DROP TABLE storage_probe');
  database.close();
  return name;
}

describe('MIGRATE=off', () => {
  it('refuses a start with pending migrations until jackdaw migrate has applied them', async () => {
    const env = { MIGRATE: 'off' };
    const fresh = await cli('runs list', { env });
    expect([fresh.code, fresh.err]).toEqual([1, expect.stringContaining('run `jackdaw migrate`')]);
    const all = JSON.parse((await cli('migrate --json', { env })).out) as { applied: string[] };
    expect(all.applied.length).toBeGreaterThan(30);
    expect((await cli('runs list', { env })).code).toBe(0);
    const name = forgetMigration();
    const refused = await runCli(['serve', '--port', '0'], { cwd: folder, env });
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('needs 1 migrations of this version')]);
    expect(JSON.parse((await cli('migrate --json', { env })).out)).toMatchObject({ applied: [name] });
    expect((await cli('runs list', { env })).code).toBe(0);
  });
});

describe('jackdaw backup and restore', () => {
  it('copy a database consistently while a server writes, and put it back', async () => {
    const server = await serve();
    const env = { JACKDAW_URL: server.address };
    const backedUp = new AbortController();
    const chats = (async () => {
      let count = 0;
      while (!backedUp.signal.aborted || count < 3) {
        const body = JSON.stringify({ query: `${++count}*2`, sessionId: `s${count}` });
        const headers = { 'content-type': 'application/json' };
        await fetch(`${server.address}/api/agent/chat`, { method: 'POST', headers, body });
      }
      return count;
    })();
    await cli('chat 6*7 --session first', { env });
    const backup = JSON.parse((await cli('backup copy.db --json')).out) as { bytes: number };
    backedUp.abort();
    await chats;
    const file = join(folder, 'copy.db');
    expect([statSync(file).size, statSync(file).mode & 0o77]).toEqual([backup.bytes, 0]);
    expect(await cli('backup copy.db')).toMatchObject({ code: 1, err: expect.stringContaining('exists') });
    expect(await cli('restore copy.db --force')).toMatchObject({
      code: 1,
      err: expect.stringContaining('belongs to another running Jackdaw'),
    });
    await server.kill('SIGTERM');
    expect(await cli('restore copy.db')).toMatchObject({ code: 1, err: expect.stringContaining('--force') });
    await cli('sessions delete first');
    const restored = JSON.parse((await cli('restore copy.db --force --json')).out) as { former: string };
    expect(existsSync(restored.former)).toBe(true);
    expect((await cli('sessions show first')).out).toContain('42');
  });

  it('refuse a file that is damaged or no database of Jackdaw', async () => {
    writeFileSync(join(folder, 'text.db'), 'no database'.repeat(1000));
    new Database(join(folder, 'other.db')).exec('CREATE TABLE other (id)');
    for (const name of ['text.db', 'other.db', 'missing.db']) {
      expect(await cli(`restore ${name}`)).toMatchObject({ code: 1, err: expect.stringContaining(name) });
    }
    expect(existsSync(join(folder, 'data/jackdaw.db'))).toBe(false);
  });

  it('name the program for a database server that is not installed, without the password', async () => {
    const env = { DATABASE_URL: 'postgres://ann:secret@127.0.0.1:1/jack', PATH: '/nowhere' };
    const { code, err } = await cli('backup copy.dump', { env });
    expect(code).toBe(1);
    expect(err).toContain('pg_dump --format=custom --file=copy.dump --host=127.0.0.1 --port=1 --username=ann jack');
    expect(err).not.toContain('secret');
    expect((await cli('restore copy.dump', { env })).err).toContain('pg_restore');
  });
});

describeDatabases('the command line on a database server', onServers, (database) => {
  it('migrates, checks, uses and dumps the database', async () => {
    const env = { DATABASE_URL: database().url, MIGRATE: 'off' };
    expect(databaseOf(await doctor(env))).toMatchObject({ status: 'error' });
    expect((await cli('migrate', { env })).code).toBe(0);
    const { code, checks } = await doctor(env);
    expect(checks.filter(({ status }) => status === 'ok').map(({ name }) => name)).toEqual(
      expect.arrayContaining(['agents', 'database', 'clock']),
    );
    expect(code).toBe(0);
    expect(await cli('chat 6*7', { env })).toMatchObject({ code: 0, out: '42\n' });
    expect((await cli('runs list', { env })).out).toContain('completed');
    const dumped = await cli('backup copy.dump --json', { env });
    expect([dumped.code, JSON.parse(dumped.out)]).toEqual([0, { file: 'copy.dump' }]);
    expect(readFileSync(join(folder, 'copy.dump'), 'latin1')).toContain(
      database().kind === 'postgres' ? 'PGDMP' : 'jackdaw_migration',
    );
    expect(statSync(join(folder, 'copy.dump')).mode & 0o77).toBe(0);
  });
});
