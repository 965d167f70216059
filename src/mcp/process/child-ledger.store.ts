import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { killGroup, killMarked, killMarkedSync, processPlace, startOf } from './process-table.accessor.js';

interface Entry {
  readonly place: string;
  readonly owner: number;
  /** Another process with the same number has another one. */
  readonly ownerStartedAt: string;
  /** Known as soon as it runs. */
  readonly pid?: number;
  readonly startedAt?: string;
}

/** The variable by which a program, and whatever it starts, is known again. */
const MARK = 'JACKDAW_MCP_CHILD';
/** What another machine or container has written, and left so long, is of no more use; in ms. */
const STALE_MS = 30 * 24 * 3_600_000;

/** The leaders of the process groups that run now, in all applications of this process. */
const RUNNING = new Set<number>();
let isWatching = false;

/**
 * Remembers in files which programs this process has started, so that those that outlive it, because it was killed, are
 * ended by the next start, with all that they have started. Written before a program is: one that nobody knows of stays
 * for ever. Works where the system shows its processes in /proc; elsewhere programs are ended by this process alone.
 */
export class ChildLedger {
  private readonly folder: string;
  private readonly entry: Entry;
  private ended = new Set<string>();
  private sweep: Promise<void> = Promise.resolve();
  private nextSweep: Promise<void> | null = null;

  /** @param dataDir the folder of everything Jackdaw keeps */
  constructor(dataDir: string) {
    this.folder = join(dataDir, 'mcp-children');
    this.entry = { place: processPlace(), owner: process.pid, ownerStartedAt: startOf(process.pid) ?? '' };
  }

  /** Before a program is started. Gives its id here, and what its environment is to have. */
  open(): { readonly id: string; readonly env: Readonly<Record<string, string>> } {
    const id = randomUUID();
    mkdirSync(this.folder, { recursive: true });
    writeFileSync(this.pathOf(id), JSON.stringify(this.entry));
    return { id, env: { [MARK]: id } };
  }

  /** @param pid of the program, which leads a process group of its own */
  started(id: string, pid: number): void {
    RUNNING.add(pid);
    if (!isWatching) process.on('exit', endAll);
    isWatching = true;
    const startedAt = startOf(pid);
    if (startedAt !== undefined) writeFileSync(this.pathOf(id), JSON.stringify({ ...this.entry, pid, startedAt }));
  }

  /** When the program has ended, or could not be started: ends what it has left. */
  async close(id: string, pid: number | undefined): Promise<void> {
    if (pid !== undefined) {
      RUNNING.delete(pid);
      await this.sweepUp(id);
    }
    rmSync(this.pathOf(id), { force: true });
  }

  /** Ends the programs of processes that are no more. Gives how many processes there were. */
  reap(): number {
    const left = new Map<string, Entry>();
    for (const name of namesIn(this.folder)) {
      const path = join(this.folder, name);
      const entry = read(path);
      if (entry && this.isOwned(entry, path)) continue;
      if (entry?.place === this.entry.place) left.set(name.replace(/\.json$/, ''), entry);
      rmSync(path, { force: true });
    }
    return left.size > 0 ? endLeft(left) : 0;
  }

  /** Whether whoever started it may still be there. Of another machine or container nobody here can tell. */
  private isOwned({ place, owner, ownerStartedAt }: Entry, path: string): boolean {
    if (place !== this.entry.place) return ageOf(path) < STALE_MS;
    return startOf(owner) === ownerStartedAt;
  }

  /** All that end at the same time are looked for at once. */
  private sweepUp(id: string): Promise<void> {
    this.ended.add(id);
    this.nextSweep ??= this.sweepAfter(this.sweep);
    return this.nextSweep;
  }

  private async sweepAfter(earlier: Promise<void>): Promise<void> {
    await earlier;
    const ids = this.ended;
    this.ended = new Set();
    this.sweep = this.nextSweep!;
    this.nextSweep = null;
    await killMarked(MARK, ids);
  }

  private pathOf(id: string): string {
    return join(this.folder, `${id}.json`);
  }
}

/** A group is known by its leader, as long as that lives; beside it, each process by its mark. */
function endLeft(left: ReadonlyMap<string, Entry>): number {
  const marked = killMarkedSync(MARK, new Set(left.keys()));
  let groups = 0;
  for (const { pid, startedAt } of left.values()) {
    if (pid !== undefined && startOf(pid) === startedAt && killGroup(pid, 'SIGKILL')) groups++;
  }
  return Math.max(marked, groups);
}

/** Nothing can be waited for any more; what is left of them, the next start finds. */
function endAll(): void {
  for (const pid of RUNNING) killGroup(pid, 'SIGKILL');
}

function ageOf(path: string): number {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return Infinity;
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
