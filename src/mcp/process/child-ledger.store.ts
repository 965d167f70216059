import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Entry {
  readonly pid: number;
  /** When the process started, as the system counts; another process with the same number has another one. */
  readonly startedAt: string;
  readonly owner: number;
  readonly ownerStartedAt: string;
}

/** Where in /proc/<pid>/stat, after the name in parentheses, the start time stands (proc_pid_stat(5), field 22). */
const START_TIME = 19;

/**
 * Remembers in files which programs this process has started, so that those that outlive it, because it was killed, are
 * ended by the next start. Written at once: a program that nobody knows of stays for ever.
 */
export class ChildLedger {
  private readonly folder: string;

  /** @param dataDir the folder of everything Jackdaw keeps */
  constructor(dataDir: string) {
    this.folder = join(dataDir, 'mcp-children');
  }

  /** @param pid of a program that leads a process group of its own */
  add(pid: number): void {
    const startedAt = startOf(pid);
    if (startedAt === undefined) return;
    mkdirSync(this.folder, { recursive: true });
    const entry: Entry = { pid, startedAt, owner: process.pid, ownerStartedAt: startOf(process.pid) ?? '' };
    writeFileSync(this.pathOf(pid), JSON.stringify(entry));
  }

  remove(pid: number): void {
    rmSync(this.pathOf(pid), { force: true });
  }

  /** Ends the programs of processes that are no more. Gives how many there were. */
  reap(): number {
    let ended = 0;
    for (const name of namesIn(this.folder)) {
      const path = join(this.folder, name);
      const entry = read(path);
      if (entry && startOf(entry.owner) === entry.ownerStartedAt) continue;
      if (entry && startOf(entry.pid) === entry.startedAt && killGroup(entry.pid, 'SIGKILL')) ended++;
      rmSync(path, { force: true });
    }
    return ended;
  }

  private pathOf(pid: number): string {
    return join(this.folder, `${process.pid}-${pid}.json`);
  }
}

/** Sends a signal to a program and to all that it has started. Gives whether there was anybody. */
export function killGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): boolean {
  try {
    return process.kill(-pid, signal);
  } catch {
    return false;
  }
}

/** Undefined where there is no such process, or the system does not tell. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[START_TIME];
  } catch {
    return undefined;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function read(path: string): Entry | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Entry;
  } catch {
    return undefined;
  }
}
