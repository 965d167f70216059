import { text } from 'node:stream/consumers';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import type { DatabaseConfig } from '../config/namespaces/index.js';
import { CliError } from './cli.error.js';
import type { Call, Command } from './command.types.js';

/** A program that dumps a database server, without its password among the arguments. */
interface Dump {
  readonly program: string;
  readonly args: readonly string[];
  readonly secrets: Readonly<Record<string, string>>;
}

export const DATABASE_COMMANDS: readonly Command[] = [
  {
    name: 'backup',
    summary: 'Write a checked copy of the database into a new file, also while a server runs',
    arguments: [{ name: 'file', help: 'The new file' }],
    json: '{ file, bytes } for SQLite; { file } otherwise',
    run: backUp,
  },
  {
    name: 'restore',
    summary: 'Put a backup in place of the SQLite database of a stopped server; its open runs then wait for a release',
    arguments: [{ name: 'file', help: 'The backup' }],
    options: { force: { help: 'Replace an existing database; it gets another name' } },
    json: '{ file, former }',
    run: restore,
  },
  {
    name: 'migrate',
    summary: 'Apply the pending migrations of the database, as a step of its own (with MIGRATE=off for the servers)',
    json: '{ database, applied }',
    run: migrate,
  },
];

async function backUp(call: Call): Promise<void> {
  const file = call.args[0]!;
  const { config, session } = await load();
  switch (config.kind) {
    case 'sqlite': {
      const { backUpSqlite } = await import('../persistence/index.js');
      const bytes = await backUpSqlite(config, file);
      if (call.isJson) call.terminal.json({ file, bytes });
      else call.terminal.line(`Wrote ${file}: ${bytes} bytes, checked.`);
      break;
    }
    case 'postgres':
    case 'mariadb':
      await dump(call, config, file);
  }
  if (session.store.kind === 'file')
    call.terminal.note(`Not in the backup: the session files in ${config.dataDir}/sessions.`);
}

async function restore(call: Call): Promise<void> {
  const file = call.args[0]!;
  const { config } = await load();
  if (config.kind !== 'sqlite')
    throw new CliError('UNSUPPORTED', `Stop all servers, then run:\n${restoreCommand(config, file)}`);
  const { restoreSqlite } = await import('../persistence/index.js');
  const restored = await restoreSqlite(config, file, call.flag('force'));
  if (call.isJson) return call.terminal.json(restored);
  call.terminal.line(`Restored ${restored.file}.`);
  if (restored.former !== null) {
    call.terminal.note(`The former database is ${restored.former}; delete it when it is not needed any more.`);
  }
  call.terminal.note(
    'Runs that were open in the backup wait: jackdaw runs list --status waiting, jackdaw runs release.',
  );
}

async function migrate(call: Call): Promise<void> {
  const { config } = await load();
  const [{ databaseName, migrateDatabase }, { STORAGE }] = await Promise.all([
    import('../persistence/index.js'),
    import('../storage-modules.js'),
  ]);
  const applied = await migrateDatabase(config, STORAGE);
  const database = databaseName(config);
  if (call.isJson) return call.terminal.json({ database, applied });
  for (const name of applied) call.terminal.line(name);
  call.terminal.note(`${database}: ${applied.length} migrations applied.`);
}

async function load() {
  const { readConfig } = await import('../config/index.js');
  const { database, session } = readConfig().config;
  return { config: database, session };
}

async function dump(call: Call, config: DatabaseConfig, file: string): Promise<void> {
  if (existsSync(file))
    throw new CliError('CONFIG_INVALID', `The file ${file} exists: name another one, or remove it.`);
  const [{ spawnProgram }, { processVariables }] = await Promise.all([
    import('../kernel/platform/program.js'),
    import('../config/index.js'),
  ]);
  const { program, args, secrets } = dumpOf(config, file);
  // The program writes into it: for this user only.
  writeFileSync(file, '', { flag: 'wx', mode: 0o600 });
  const child = spawnProgram(program, args, { env: { ...processVariables(), ...secrets } });
  const stopped = () => void child.kill('SIGTERM');
  call.interrupt.signal.addEventListener('abort', stopped);
  const failed = new Promise<Error>((resolve) => child.once('error', resolve));
  const code = new Promise<number | null>((resolve) => child.once('close', resolve));
  const errors = text(child.stderr);
  const outcome = await Promise.race([failed, code]);
  if (outcome !== 0) rmSync(file, { force: true });
  call.interrupt.signal.throwIfAborted();
  if (outcome instanceof Error) {
    const command = [program, ...args].join(' ');
    throw new CliError(
      'UNSUPPORTED',
      `${program} cannot be started (${outcome.message}). Where it is installed, run:\n${command}`,
    );
  }
  if (outcome !== 0) throw new CliError('BACKUP_FAILED', `${program} failed: ${(await errors).trim()}`);
  if (call.isJson) call.terminal.json({ file });
  else call.terminal.line(`Wrote ${file} by ${program}.`);
}

function variable(name: string, value: string | null): Record<string, string> {
  return value ? { [name]: value } : {};
}

function dumpOf({ kind, url = '' }: DatabaseConfig, file: string): Dump {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const [user, database] = [decodeURIComponent(username), decodeURIComponent(pathname.slice(1))];
  const at = [
    `--host=${hostname}`,
    ...(port === '' ? [] : [`--port=${port}`]),
    ...(user === '' ? [] : [`--${kind === 'postgres' ? 'username' : 'user'}=${user}`]),
  ];
  const secret = decodeURIComponent(password);
  if (kind === 'postgres') {
    const secrets = {
      ...variable('PGPASSWORD', secret),
      ...variable('PGSSLMODE', searchParams.get('sslmode')),
      ...variable('PGSSLROOTCERT', searchParams.get('sslrootcert')),
    };
    return { program: 'pg_dump', args: ['--format=custom', `--file=${file}`, ...at, database], secrets };
  }
  const args = ['--single-transaction', `--result-file=${file}`, ...at, database];
  return { program: 'mariadb-dump', args, secrets: variable('MYSQL_PWD', secret) };
}

function restoreCommand({ kind }: DatabaseConfig, file: string): string {
  return kind === 'postgres'
    ? `createdb jackdaw_restored && pg_restore --no-owner --dbname=jackdaw_restored ${file}`
    : `mariadb -e 'CREATE DATABASE jackdaw_restored' && mariadb jackdaw_restored < ${file}`;
}
