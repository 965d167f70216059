import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const PM2 = resolve('test/environments/node_modules/pm2/bin/pm2');
const POLL_MS = 100;
/** Longest wait for pm2 and for its processes, in ms. */
const LIMIT_MS = 60_000;

/** A process in the list of pm2. */
export interface ManagedProcess {
  readonly pid: number;
  readonly pm2_env: {
    readonly status: string;
    readonly restart_time: number;
    readonly exit_code?: number;
    readonly pm_err_log_path: string;
  };
}

/** The settings of docs/platforms.md, as a reader would store them in `ecosystem.config.cjs`. */
function documentedSettings(): string {
  const [, settings] = /^```js\n(module\.exports = .*?)^```$/ms.exec(readFileSync('docs/platforms.md', 'utf8')) ?? [];
  if (settings === undefined) throw new Error('docs/platforms.md has no settings for pm2');
  return settings;
}

/** A daemon of pm2 with a folder of its own, which starts the documented application in a project. */
export class Pm2 {
  readonly home = mkdtempSync(join(tmpdir(), 'jackdaw-pm2-'));

  /** @param project a folder with `node_modules/jackdaw` @param env variables of pm2 and of the application */
  constructor(
    private readonly project: string,
    private readonly env: Readonly<Record<string, string>>,
  ) {
    writeFileSync(join(project, 'ecosystem.config.cjs'), documentedSettings());
  }

  /** @returns its output @throws if pm2 ends with another exit code than 0 */
  async call(...args: string[]): Promise<string> {
    const { HOME = '' } = process.env;
    // pm2 starts the first `node` of the path.
    const PATH = `${dirname(process.execPath)}:${process.env['PATH']}`;
    const { stdout } = await run(process.execPath, [PM2, ...args], {
      cwd: this.project,
      env: { PATH, HOME, PM2_HOME: this.home, LOG_LEVEL: 'warn', LLM_PROVIDER: 'offline', ...this.env },
      maxBuffer: Infinity,
      timeout: LIMIT_MS,
    });
    return stdout;
  }

  async list(): Promise<readonly ManagedProcess[]> {
    // The start of a daemon prints lines before the list.
    const lines = (await this.call('jlist')).trim().split('\n');
    return JSON.parse(lines.at(-1)!) as ManagedProcess[];
  }

  /** Waits until the processes are in this state. @throws with their state and the logs after a minute */
  async until(isReached: (processes: readonly ManagedProcess[]) => boolean): Promise<readonly ManagedProcess[]> {
    for (const end = Date.now() + LIMIT_MS; ; await delay(POLL_MS)) {
      const processes = await this.list();
      if (isReached(processes)) return processes;
      if (Date.now() > end) {
        const states = processes.map(({ pid, pm2_env }) => ({ pid, ...pick(pm2_env), log: errorsOf({ pm2_env }) }));
        throw new Error(`The processes of pm2 did not get there: ${JSON.stringify(states, null, 2)}`);
      }
    }
  }

  /** Ends the daemon and its processes. */
  async end(): Promise<void> {
    await this.call('kill');
    rmSync(this.home, { recursive: true, force: true });
  }
}

function pick({ status, restart_time, exit_code }: ManagedProcess['pm2_env']) {
  return { status, restart_time, exit_code };
}

/** The text that a process has written to stderr. */
export function errorsOf({ pm2_env }: Pick<ManagedProcess, 'pm2_env'>): string {
  return readFileSync(pm2_env.pm_err_log_path, 'utf8');
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
