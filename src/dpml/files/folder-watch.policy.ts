import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';

/** How soon after the system has told of a change it is looked for, in ms: most come several at once. */
const QUIET_MS = 100;
/** How often it is looked for all the same, in ms: of network mounts no system tells. */
export const POLL_MS = 10_000;

/** Has something looked at whenever folders may have changed; keeps no process alive. */
export class FolderWatch {
  private readonly watchers = new Map<string, FSWatcher>();
  private timer: NodeJS.Timeout | undefined;
  /** Whether it is looked soon, so that folders that never rest are looked at, too. */
  private isSoon = false;
  private isBusy = false;
  private isDue = false;
  private isOver = false;

  /** @param look never throws; not called again before it has ended, nor after `stop` */
  constructor(
    private readonly look: () => Promise<void>,
    private readonly pollMs = POLL_MS,
  ) {}

  /** From now on it is looked, for the first time soon. */
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
   * Which folders the system is asked to tell of; those that are not there, or that it cannot tell of, are left to the regular look.
   * @returns whether there are some that it was not asked for before: what has changed in them meanwhile, nobody has told
   */
  async follow(folders: Iterable<string>): Promise<boolean> {
    const wanted = new Map<string, string>();
    for (const folder of folders) {
      // Another one that bears the same name, or even the same number, is not watched by who watches the first.
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
