import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  endTree,
  isRunning,
  killMarked,
  killMarkedSync,
  processPlace,
  startOf,
} from '../../kernel/platform/process-tree.js';

interface Entry {
  readonly place: string;
  readonly owner: number;
  /** Distinguishes a process from a later one with the same pid; empty without /proc. */
  readonly ownerStartedAt: string;
  /** Set once the program runs. */
  readonly pid?: number;
  readonly startedAt?: string;
}

/** Environment variable that identifies a program and its descendants. */
const MARK = 'JACKDAW_MCP_CHILD';
/** Maximum age of entries of other machines or containers, in ms. */
const STALE_MS = 30 * 24 * 3_600_000;

/** Leaders of the running process groups of all applications: Node warns of more than ten listeners. */
const LEADERS = new Set<number>();

/** Runs at exit, where nothing can be awaited; the next start ends remaining processes. */
function endAll(): void {
  for (const pid of LEADERS) endTree(pid, 'SIGKILL');
}

/**
 * Records the started programs in files. If this process is killed, the next start ends its programs and their
 * descendants. An entry is written before the program starts, because an unrecorded program would run forever. Without
 * /proc the next start only removes the entries, since a process id alone may belong to another program by then.
 */
export class ChildLedger {
  private readonly folder: string;
  private readonly homes: string;
  private readonly entry: Entry;
  private ended = new Set<string>();
  private sweep: Promise<void> = Promise.resolve();
  private nextSweep: Promise<void> | null = null;

  /** @param dataDir Jackdaw's data folder */
  constructor(dataDir: string) {
    this.folder = join(dataDir, 'mcp-children');
    this.homes = join(dataDir, 'mcp-homes');
    this.entry = { place: processPlace(), owner: process.pid, ownerStartedAt: startOf(process.pid) ?? '' };
  }

  /** Call before a program starts. @returns its ledger id, and variables for its environment */
  open(): { readonly id: string; readonly env: Readonly<Record<string, string>> } {
    const id = randomUUID();
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    writeFileSync(this.pathOf(id), JSON.stringify(this.entry));
    return { id, env: { [MARK]: id } };
  }

  /** An empty home folder of a program, which ends with it. @returns its absolute path */
  makeHome(id: string): string {
    mkdirSync(this.homeOf(id), { recursive: true });
    return this.homeOf(id);
  }

  /** @param pid process id of the program, which leads its own process group */
  started(id: string, pid: number): void {
    if (LEADERS.size === 0) process.on('exit', endAll);
    LEADERS.add(pid);
    const startedAt = startOf(pid);
    if (startedAt !== undefined) writeFileSync(this.pathOf(id), JSON.stringify({ ...this.entry, pid, startedAt }));
  }

  /** Call after the program has ended or failed to start; ends its descendants. */
  async close(id: string, pid: number | undefined): Promise<void> {
    if (pid !== undefined) {
      if (LEADERS.delete(pid) && LEADERS.size === 0) process.off('exit', endAll);
      await this.sweepUp(id);
    }
    await rm(this.homeOf(id), { recursive: true, force: true });
    rmSync(this.pathOf(id), { force: true });
  }

  /** Ends the programs of processes that no longer exist. @returns how many there were */
  reap(): number {
    const left = new Map<string, Entry>();
    for (const name of namesIn(this.folder)) {
      const path = join(this.folder, name);
      const entry = read(path);
      if (entry && this.isOwned(entry, path)) continue;
      if (entry?.place === this.entry.place) left.set(name.replace(/\.json$/, ''), entry);
      rmSync(path, { force: true });
    }
    const ended = left.size > 0 ? endLeft(left) : 0;
    for (const id of left.keys()) rmSync(this.homeOf(id), { recursive: true, force: true });
    return ended;
  }

  /** Whether the owner may still run. For another machine or container only the entry's age is known. */
  private isOwned({ place, owner, ownerStartedAt }: Entry, path: string): boolean {
    if (place !== this.entry.place) return ageOf(path) < STALE_MS;
    const startedAt = startOf(owner);
    if (startedAt === undefined || ownerStartedAt === '') return isRunning(owner);
    return startedAt === ownerStartedAt;
  }

  /** Batches the search for programs that end at the same time. */
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

  private homeOf(id: string): string {
    return resolve(this.homes, id);
  }

  private pathOf(id: string): string {
    return join(this.folder, `${id}.json`);
  }
}

/** Finds a group by its leader, while that lives, and each process by its mark. */
function endLeft(left: ReadonlyMap<string, Entry>): number {
  const marked = killMarkedSync(MARK, new Set(left.keys()));
  let groups = 0;
  for (const { pid, startedAt } of left.values()) {
    if (pid !== undefined && startedAt !== undefined && startOf(pid) === startedAt && endTree(pid, 'SIGKILL')) groups++;
  }
  return Math.max(marked, groups);
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
