import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';

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

/** Identifies the scope of process ids: this boot of the machine, and this container. */
export function processPlace(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return '';
  }
}

/** Sends a signal to a process group. @returns whether the group existed */
export function killGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): boolean {
  return kill(-pid, signal);
}

/**
 * Kills every process that has one of these values in an environment variable, in any process group.
 * @returns how many there were
 */
export function killMarkedSync(name: string, values: ReadonlySet<string>): number {
  const pids = readdirSync('/proc').filter((entry) => NUMBER.test(entry));
  return pids.filter((pid) => {
    try {
      return isMarked(readFileSync(`/proc/${pid}/environ`), name, values) && kill(Number(pid), 'SIGKILL');
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
    if (environ && isMarked(environ, name, values)) kill(Number(pid), 'SIGKILL');
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

function kill(pid: number, signal: 'SIGTERM' | 'SIGKILL'): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
