import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';

/** Where in /proc/<pid>/stat, after the name in parentheses, the start time stands (proc_pid_stat(5), field 22). */
const START_TIME = 19;
const NUMBER = /^\d+$/;

/** When a process started, as the system counts; undefined where there is no such process, or the system does not tell. */
export function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[START_TIME];
  } catch {
    return undefined;
  }
}

/** Where process numbers mean what they mean here: this machine, since it was started, and this container. */
export function processPlace(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return '';
  }
}

/** Sends a signal to the leader of a process group and to all of its group. Gives whether there was anybody. */
export function killGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): boolean {
  return kill(-pid, signal);
}

/**
 * Ends every process that was started with one of these values of an environment variable, whatever group it is in.
 * Gives how many there were.
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

/** The same without holding anybody up. */
export async function killMarked(name: string, values: ReadonlySet<string>): Promise<void> {
  const pids = await readdir('/proc').catch(() => []);
  for (const pid of pids.filter((entry) => NUMBER.test(entry))) {
    const environ = await readFile(`/proc/${pid}/environ`).catch(() => null);
    if (environ && isMarked(environ, name, values)) kill(Number(pid), 'SIGKILL');
  }
}

/** @param environ as the system keeps it: `NAME=value`, each with a NUL behind it */
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
