import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './free-port.js';

/** A server of a single test, which may crash it. */
export interface PrivateServer {
  readonly url: string;
  /** Kills it without a shutdown, and starts it again. */
  crash(): Promise<void>;
  stop(): Promise<void>;
}

export interface PrivateRedis extends PrivateServer {
  /** Deletes all data. */
  flush(): Promise<void>;
}

const REDIS_PROGRAM = 'redis-server';

/** Whether the programs are installed; in CI they must be. */
export function canStart(...programs: readonly ('redis-server' | 'initdb')[]): boolean {
  const isThere = (program: string) => !spawnSync(postgresProgram(program), ['--version']).error;
  return programs.every(isThere) || process.env['CI'] !== undefined;
}

/** In the PATH, or in the folder of Debian's packages. */
function postgresProgram(name: string): string {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : [];
  const found = versions
    .map((version) => `/usr/lib/postgresql/${version}/bin/${name}`)
    .filter((path) => existsSync(path));
  return found.at(-1) ?? name;
}

/** PostgreSQL refuses to run as root. */
function postgresUser(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string) => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout);
  return { uid: idOf('-u'), gid: idOf('-g') };
}

function run(program: string, args: readonly string[]): void {
  const { status, error } = spawnSync(postgresProgram(program), args, {
    ...postgresUser(),
    cwd: tmpdir(),
    stdio: 'ignore',
  });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}`, { cause: error });
}

export async function startPrivatePostgres(): Promise<PrivateServer> {
  const folder = mkdtempSync(join(tmpdir(), 'jackdaw-postgres-'));
  const { uid, gid } = postgresUser();
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
  const data = join(folder, 'data');
  const port = await freePort();
  run('initdb', ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync']);
  const options = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1`;
  run('pg_ctl', ['-D', data, '-w', '-l', join(folder, 'log'), '-o', options, 'start']);
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    crash: async () => run('pg_ctl', ['-D', data, '-w', '-m', 'immediate', '-l', join(folder, 'log'), 'restart']),
    stop: async () => {
      run('pg_ctl', ['-D', data, '-w', '-m', 'immediate', 'stop']);
      rmSync(folder, { recursive: true });
    },
  };
}

export async function startPrivateRedis(): Promise<PrivateRedis> {
  const port = await freePort();
  let server = await openRedis(port);
  const end = async () => {
    server.kill('SIGKILL');
    await once(server, 'exit');
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    flush: async () => {
      const client = new Redis(port, '127.0.0.1');
      await client.flushall();
      client.disconnect();
    },
    // This Redis stores nothing on disk: it restarts empty.
    crash: async () => {
      await end();
      server = await openRedis(port);
    },
    stop: end,
  };
}

async function openRedis(port: number): Promise<ChildProcess> {
  const server = spawn(REDIS_PROGRAM, ['--port', String(port), '--bind', '127.0.0.1', '--save', ''], {
    stdio: 'pipe',
  });
  for await (const text of server.stdout) if (String(text).includes('Ready to accept connections')) break;
  await once(connect(port, '127.0.0.1'), 'connect').then(() => undefined);
  return server;
}
