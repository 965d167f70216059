import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';

/** Delay between a system notification and the check, in ms: notifications come in bursts. */
const QUIET_MS = 100;
/** Fallback polling interval (ms), for file systems without notifications such as network mounts. */
export const POLL_MS = 10_000;

/** Checks folders after each possible change. Its timers and watchers do not keep the process alive. */
export class FolderWatch {
  private readonly watchers = new Map<string, FSWatcher>();
  private timer: NodeJS.Timeout | undefined;
  /** Whether a check after `QUIET_MS` is scheduled. A further notification does not postpone it. */
  private isSoon = false;
  private isBusy = false;
  private isDue = false;
  private isOver = false;

  /** @param look must not throw; calls never overlap and end with `stop` */
  constructor(
    private readonly look: () => Promise<void>,
    private readonly pollMs = POLL_MS,
  ) {}

  /** Starts the checks; the first one follows soon. */
  start(): void {
    this.touch();
  }

  stop(): void {
    this.isOver = true;
    clearTimeout(this.timer);
    for (const watcher of this.watchers.values()) watcher.close();
    this.watchers.clear();
  }

  /**
   * Sets the watched folders; absent or unsupported folders rely on polling.
   * @returns whether a watch was added: changes before it were not reported
   */
  async follow(folders: Iterable<string>): Promise<boolean> {
    const wanted = new Map<string, string>();
    for (const folder of folders) {
      // A folder recreated with the same name, or even the same inode, needs a new watcher.
      const found = await stat(folder, { bigint: true }).catch(() => null);
      if (found) wanted.set(`${found.dev}:${found.ino}:${found.birthtimeNs}`, folder);
    }
    if (this.isOver) return false;
    for (const [key, watcher] of this.watchers) {
      if (wanted.has(key)) continue;
      watcher.close();
      this.watchers.delete(key);
    }
    return [...wanted].map(([key, folder]) => this.open(key, folder)).includes(true);
  }

  private open(key: string, folder: string): boolean {
    if (this.watchers.has(key)) return false;
    try {
      const watcher = watch(folder, { persistent: false }, () => this.touch());
      watcher.on('error', () => {
        watcher.close();
        this.watchers.delete(key);
      });
      this.watchers.set(key, watcher);
      return true;
    } catch {
      return false;
    }
  }

  private touch(): void {
    if (this.isBusy) this.isDue = true;
    else if (!this.isSoon) this.schedule(QUIET_MS);
  }

  private schedule(ms: number): void {
    if (this.isOver) return;
    clearTimeout(this.timer);
    this.isSoon = ms === QUIET_MS;
    this.timer = setTimeout(() => void this.turn(), ms);
    this.timer.unref();
  }

  private async turn(): Promise<void> {
    this.isBusy = true;
    this.isDue = this.isSoon = false;
    await this.look();
    this.isBusy = false;
    this.schedule(this.isDue ? QUIET_MS : this.pollMs);
  }
}
