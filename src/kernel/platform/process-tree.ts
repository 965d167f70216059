import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';

type EndSignal = 'SIGTERM' | 'SIGKILL';

/** Maximum time of `taskkill`, in ms. */
const TASKKILL_MS = 2_000;

/** Sends a signal to a process, or to a group by its negative id. @returns whether there was a process */
export function sendSignal(pid: number, signal: EndSignal): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/**
 * Ends a program with its descendants: by its process group, or by `taskkill` on Windows, which has no signals and so
 * ends it at once. Where neither is possible it ends the program alone.
 * @param pid a program of `spawnProgram` that still runs: the system may reuse the id of an ended one
 * @returns whether there was a process
 */
export function endTree(pid: number, signal: EndSignal): boolean {
  const isEnded = process.platform === 'win32' ? taskkill(pid) : sendSignal(-pid, signal);
  return isEnded || sendSignal(pid, signal);
}

/** Ends the descendants of an ended program that are in its process group. On Windows they cannot be found. */
export function endGroup(leader: number): boolean {
  return process.platform !== 'win32' && sendSignal(-leader, 'SIGKILL');
}

function taskkill(pid: number): boolean {
  const options = { stdio: 'ignore', windowsHide: true, timeout: TASKKILL_MS } as const;
  return spawnSync('taskkill', ['/T', '/F', '/PID', String(pid)], options).status === 0;
}

/** Index of the start time in /proc/<pid>/stat, after the name in parentheses (proc_pid_stat(5), field 22). */
const START_TIME = 19;
const NUMBER = /^\d+$/;

/** Start time of a process, in the system's unit; undefined if the process does not exist or there is no /proc. */
export function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[START_TIME];
  } catch {
    return undefined;
  }
}

/** Whether a process has this id. It may be a later process than the one that is meant. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // The process exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Identifies the scope of process ids: this boot of the machine, and this container; without /proc, the machine. */
export function processPlace(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

/**
 * Kills every process that has one of these values in an environment variable, in any process group. Without /proc it
 * finds none.
 * @returns how many there were
 */
export function killMarkedSync(name: string, values: ReadonlySet<string>): number {
  return pidsSync().filter((pid) => {
    try {
      return isMarked(readFileSync(`/proc/${pid}/environ`), name, values) && sendSignal(Number(pid), 'SIGKILL');
    } catch {
      return false;
    }
  }).length;
}

/** As `killMarkedSync`, without blocking. */
export async function killMarked(name: string, values: ReadonlySet<string>): Promise<void> {
  const pids = await readdir('/proc').catch(() => []);
  for (const pid of pids.filter((entry) => NUMBER.test(entry))) {
    const environ = await readFile(`/proc/${pid}/environ`).catch(() => null);
    if (environ && isMarked(environ, name, values)) sendSignal(Number(pid), 'SIGKILL');
  }
}

function pidsSync(): string[] {
  try {
    return readdirSync('/proc').filter((entry) => NUMBER.test(entry));
  } catch {
    return [];
  }
}

/** @param environ in the system's format: `NAME=value`, each followed by a NUL */
function isMarked(environ: Buffer, name: string, values: ReadonlySet<string>): boolean {
  const mark = `${name}=`;
  let at = environ.indexOf(mark);
  while (at > 0 && environ[at - 1] !== 0) at = environ.indexOf(mark, at + 1);
  if (at === -1) return false;
  const end = environ.indexOf(0, at);
  return values.has(environ.toString('utf8', at + mark.length, end === -1 ? undefined : end));
}
