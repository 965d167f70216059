import { setTimeout as pause } from 'node:timers/promises';
import { AppError, messageOf } from '../common/index.js';
import type { DefinitionFolder } from './files/definition-folder.explorer.js';
import { FolderWatch } from './files/folder-watch.policy.js';
import type { FolderReading } from './files/folder.types.js';
import { isSameReading } from './folder-draft.loader.js';
import type { MistakeLog } from './mistake-log.policy.js';

/** What does not change in this time, in ms, is written to its end. */
const SETTLE_MS = 50;
const MAX_SETTLING = 40;

/** What is done with the files of a folder. */
export interface FolderUse<Found> {
  /** @param includes what they include, as far as it is known. @returns nothing where there is no such folder */
  read(includes: Iterable<string>): Promise<Found | null>;
  /** Makes what stands there what is used; what cannot be used stays as it was. */
  take(found: Found): void;
  /** Whether something of it is not used: it may be right later without having changed. */
  hasMistakes(): boolean;
}

/** Keeps up with a folder once it has been taken for the first time. */
export class FolderFollower<Found extends { readonly reading: FolderReading }> {
  private readonly watch = new FolderWatch(() => this.look());
  /** What was last taken. */
  private taken: Found | null = null;
  private readable = true;
  private isOver = false;

  /** @param stays what the log says of the folder as a whole when it cannot be read */
  constructor(
    readonly folder: DefinitionFolder,
    private readonly use: FolderUse<Found>,
    private readonly log: MistakeLog,
    private readonly stays: string,
  ) {}

  /** Whether the folder was there and could be read when it was last looked at. */
  get isReadable(): boolean {
    return this.readable;
  }

  /** @throws AppError when the folder cannot be read */
  read(): Promise<Found | null> {
    return this.use.read(this.taken?.reading.others.keys() ?? []);
  }

  /** @param taken what is used already; nothing where there is no folder yet */
  start(taken: Found | null): void {
    if (taken) this.accept(taken);
    if (!this.isOver) this.watch.start();
  }

  stop(): void {
    this.isOver = true;
    this.watch.stop();
  }

  private async look(): Promise<void> {
    const { folder } = this;
    try {
      do await this.reload();
      while (await this.watch.follow(folder.foldersOf(this.includes())));
    } catch (error) {
      if (this.isOver) return;
      this.readable = false;
      this.log.tell(folder.path, [messageOf(error)], this.stays);
    }
  }

  private async reload(): Promise<void> {
    const { folder, taken } = this;
    const reading = await folder.read(this.includes());
    if (!reading) return this.miss();
    const isSame = taken !== null && isSameReading(reading, taken.reading);
    if (!(isSame && !this.use.hasMistakes() && this.readable)) {
      const found = await this.readSettled();
      if (this.isOver) return;
      if (!found) return this.miss();
      this.use.take(found);
      this.accept(found);
    }
    this.readable = true;
    this.log.mend(folder.path);
  }

  private accept(found: Found): void {
    const { folder, log } = this;
    this.taken = found;
    log.reportUnread(
      found.reading.unread.map((name) => folder.titleOf(name)),
      folder.endings,
    );
  }

  /** Of a folder that was there nobody knows whether its files are deleted, or the disk that it is on is away. */
  private miss(): void {
    if (this.taken) throw new AppError('CONFIG_INVALID', `${this.folder.path} is not there any more`);
  }

  /** What stands there when nobody writes: several files may belong together. */
  private async readSettled(): Promise<Found | null> {
    let found = await this.read();
    for (let times = 0; found && !this.isOver && times < MAX_SETTLING; times++) {
      await pause(SETTLE_MS, undefined, { ref: false });
      const next = await this.read();
      if (next && isSameReading(next.reading, found.reading)) return next;
      found = next;
    }
    return found;
  }

  private includes(): Iterable<string> {
    return this.taken?.reading.others.keys() ?? [];
  }
}
