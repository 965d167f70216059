import { describe, expect, it } from 'vitest';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describeDatabases, testServers, type TestDatabase } from './test-databases.js';
import { freePort } from './free-port.js';

/** pgbouncer as Debian, other distributions and Homebrew install it; `PGBOUNCER_PATH` names another. */
const PATHS = [
  process.env['PGBOUNCER_PATH'] ?? '',
  '/usr/sbin/pgbouncer',
  '/usr/bin/pgbouncer',
  '/usr/local/bin/pgbouncer',
  '/opt/homebrew/bin/pgbouncer',
];

export type PoolMode = 'session' | 'transaction' | 'statement';

/** A pgbouncer in front of a PostgreSQL, in a process of its own. */
export class Pgbouncer {
  private constructor(
    private readonly child: ChildProcess,
    private readonly port: number,
    private readonly folder: string,
  ) {}

  /** @param settings further settings; the others have their defaults */
  static async start(path: string, database: string, mode: PoolMode, settings: Readonly<Record<string, string>> = {}) {
    const folder = mkdtempSync(join(tmpdir(), 'jackdaw-pgbouncer-'));
    const port = await freePort();
    const file = join(folder, 'pgbouncer.ini');
    const all = {
      listen_addr: '127.0.0.1',
      listen_port: String(port),
      unix_socket_dir: '',
      auth_type: 'any',
      pool_mode: mode,
    };
    const lines = Object.entries({ ...all, ...settings }).map(([name, value]) => `${name} = ${value}`);
    writeFileSync(file, ['[databases]', `* = ${targetOf(new URL(database))}`, '[pgbouncer]', ...lines, ''].join('\n'));
    chmodSync(folder, 0o755);
    // It does not run as root.
    const user = process.getuid?.() === 0 ? ['-u', 'daemon'] : [];
    const child = spawn(path, [...user, file], { stdio: ['ignore', 'ignore', 'pipe'] });
    await isUp(child);
    return new Pgbouncer(child, port, folder);
  }

  /** The URL of a database through this pgbouncer. */
  through(url: string): string {
    const changed = new URL(url);
    changed.host = `127.0.0.1:${this.port}`;
    return changed.href;
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'close');
    this.child.kill('SIGKILL');
    await ended;
    rmSync(this.folder, { recursive: true });
  }
}

/** Tests with pgbouncer before PostgreSQL. Without it they are skipped by name; with `CI=true` they fail. */
export async function describePgbouncer(
  title: string,
  define: (
    database: () => TestDatabase,
    start: (mode: PoolMode, settings?: Readonly<Record<string, string>>) => Promise<Pgbouncer>,
  ) => void,
): Promise<void> {
  const path = PATHS.find((each) => each !== '' && existsSync(each));
  if (path === undefined) {
    (process.env['CI'] ? describe : describe.skip)(title, () => {
      it('has a pgbouncer to be tested with: install it, or set PGBOUNCER_PATH', () => expect(path).toBeDefined());
    });
    return;
  }
  const servers = (await testServers()).filter(({ kind }) => kind === 'postgres');
  describeDatabases(title, servers, (database) => {
    define(database, (mode, settings) => Pgbouncer.start(path, database().url, mode, settings));
  });
}

/** The connection of pgbouncer itself, whatever user its client names. */
function targetOf({ hostname, port, username, password }: URL): string {
  const quoted = (value: string) => `'${decodeURIComponent(value).replaceAll("'", "''")}'`;
  const secret = password === '' ? '' : ` password=${quoted(password)}`;
  return `host=${hostname} port=${port || '5432'} user=${quoted(username)}${secret}`;
}

async function isUp(child: ChildProcess): Promise<void> {
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stderr! })) {
    lines.push(line);
    if (line.includes('process up')) {
      child.stderr!.resume();
      return;
    }
  }
  throw new Error(`pgbouncer did not start:\n${lines.join('\n')}`);
}
