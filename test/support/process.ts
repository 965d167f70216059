import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { JackdawClient } from './jackdaw-client.js';
import { inTime } from './patience.js';

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

type Env = Readonly<Record<string, string>>;
type Lock = new (path: string, options: { timeout: number }) => { exec(sql: string): void; close(): void };

const BUILD_TIMEOUT_MS = 600_000;
/** Compiled code, for all processes of all specs: it shortens their start by a seventh. */
export const CODE_CACHE = join(tmpdir(), 'jackdaw-code');
/** A slow machine must not refuse a chat that waits for capacity. */
export const RUN_QUEUE_WAIT_MS = '120000';
const running = new Set<ServerProcess>();
process.on('exit', () => {
  for (const server of running) void server.kill();
});

/** In CI sources do not change during the tests: a worker compares them once for all of its files. */
let isBuilt = false;

/** Compiles `src` if it has changed; of several test files at once, one builds and the others wait for it. */
export function buildIfStale(): void {
  if (isBuilt && process.env['CI']) return;
  const Sqlite = createRequire(import.meta.url)('better-sqlite3-v13') as Lock;
  const lock = new Sqlite('node_modules/.jackdaw-build.lock', { timeout: BUILD_TIMEOUT_MS });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    const { status, stdout } = spawnSync(process.execPath, ['scripts/build.mjs', '--if-stale'], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`The build failed:\n${stdout}`);
    execFileSync(process.execPath, ['test/support/bundle-programs.mjs']);
    isBuilt = true;
  } finally {
    lock.close();
  }
}

/** The file of a server for tests, `test/support/<name>.mjs`, bundled by `buildIfStale`. */
export function program(name: string): string {
  return join(process.cwd(), 'dist/programs', `${name}.js`);
}

/** A server in a process of its own, and its client. */
export class ServerProcess extends JackdawClient {
  readonly lines: string[] = [];
  stderr = '';
  readonly ended: Promise<ProcessEnd>;
  private hasEnded = false;
  private readonly waiters = new Set<() => void>();

  private constructor(private readonly child: ChildProcess) {
    super();
    running.add(this);
    child.stderr!.setEncoding('utf8').on('data', (text: string) => this.change(() => (this.stderr += text)));
    createInterface({ input: child.stdout! }).on('line', (line) => this.change(() => this.lines.push(line)));
    this.ended = new Promise((resolve) => {
      child.once('close', (code, signal) => {
        running.delete(this);
        this.change(() => (this.hasEnded = true));
        resolve({ code, signal });
      });
    });
  }

  /** Starts a script with these variables and no other of ours. @param cwd its working directory, by default ours. @param input `pipe` for `write` */
  static start(
    script: string,
    env: Env,
    args: readonly string[] = [],
    cwd?: string,
    input: 'ignore' | 'pipe' = 'ignore',
  ): ServerProcess {
    const { PATH = '', HOME = '' } = process.env;
    return new ServerProcess(
      spawn(process.execPath, [script, ...args], {
        env: { PATH, HOME, NODE_COMPILE_CACHE: CODE_CACHE, LOG_LEVEL: 'silent', RUN_QUEUE_WAIT_MS, ...env },
        ...(cwd !== undefined && { cwd }),
        stdio: [input, 'pipe', 'pipe'],
      }),
    );
  }

  /** Starts the server of `crash-app.mjs` and waits until it answers. */
  static async serve(env: Env): Promise<ServerProcess> {
    const server = ServerProcess.start(program('crash-app'), env);
    await server.waitForLine('ready ');
    return server;
  }

  get pid(): number {
    return this.child.pid!;
  }

  get url(): string {
    return this.lines.find((line) => line.startsWith('ready '))!.slice('ready '.length);
  }

  get output(): string {
    return `${this.lines.join('\n')}\n${this.stderr}`;
  }

  /** Waits for a line that starts so. Throws when the process ends without it, or after `PATIENCE_MS`. */
  waitForLine(start: string): Promise<void> {
    return this.waitUntil(() => this.lines.some((line) => line.startsWith(start)), start);
  }

  /** Waits for this text in either output. Throws as `waitForLine`. */
  waitForOutput(text: RegExp): Promise<void> {
    return this.waitUntil(() => text.test(this.output), String(text));
  }

  private async waitUntil(isThere: () => boolean, expected: string): Promise<void> {
    const arrived = new Promise<void>((resolve) => {
      const check = () => {
        if (!isThere() && !this.hasEnded) return;
        this.waiters.delete(check);
        resolve();
      };
      this.waiters.add(check);
      check();
    });
    await inTime(arrived, () => `"${expected}" in the output:\n${this.output}`);
    if (!isThere()) throw new Error(`The process ended without "${expected}":\n${this.output}`);
  }

  /** Sends a signal, by default SIGKILL, and waits for the end. */
  kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<ProcessEnd> {
    this.child.kill(signal);
    return this.ended;
  }

  /** Writes to its standard input, which must be a pipe. */
  write(text: string): void {
    this.child.stdin!.write(text);
  }

  /** Sends a signal that does not end the process. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.child.kill(signal);
  }

  private change(happen: () => void): void {
    happen();
    for (const check of this.waiters) check();
  }
}

/** Kills all processes that a test has left running. */
export async function killAll(): Promise<void> {
  await Promise.all([...running].map((server) => server.kill()));
}
