import { setTimeout as pause } from 'node:timers/promises';
import type { LoggerService } from '@nestjs/common';
import { AppError, messageOf } from '../errors/index.js';
import type { DefinitionFolder } from './files/definition-folder.explorer.js';
import { FolderWatch } from './files/folder-watch.policy.js';
import type { FolderReading } from './files/folder.types.js';
import { isSameReading } from './folder-draft.loader.js';

/** Logs the mistakes of files once, until they change or are fixed. */
export class MistakeLog {
  private readonly logged = new Map<string, string>();
  private unread: ReadonlySet<string> = new Set();

  constructor(private readonly logger: LoggerService) {}

  /** @param outcome consequence while the file is invalid */
  logNew(file: string, mistakes: readonly string[], outcome: string): void {
    const lines = mistakes.join('\n  ');
    if (this.logged.get(file) === lines) return;
    this.logged.set(file, lines);
    this.logger.warn(`${file} is invalid; ${outcome}:\n  ${lines}`);
  }

  mend(file: string): void {
    if (this.logged.delete(file)) this.logger.log(`${file} is valid again`);
  }

  /** Logs files with an unsupported extension, once as long as they exist. @param why the end of the sentence */
  reportUnread(files: readonly string[], why: string): void {
    for (const file of files) if (!this.unread.has(file)) this.logger.warn(`${file} is not read: ${why}`);
    this.unread = new Set(files);
  }

  /** Removes the records of deleted files. */
  forget(isThere: (file: string) => boolean): void {
    for (const file of this.logged.keys()) if (!isThere(file)) this.logged.delete(file);
  }
}

/** A file unchanged for this time, in ms, is considered completely written. */
const SETTLE_MS = 50;
const MAX_SETTLING = 40;

/** The use of a folder's files. */
export interface FolderUse<Found> {
  /** @param includes included files, as far as known @returns null if the folder does not exist */
  read(includes: Iterable<string>): Promise<Found | null>;
  /** Applies the content; invalid definitions leave the former ones in use. */
  take(found: Found): void;
  /** Whether a definition is invalid: it may become valid without a change of its file. */
  hasMistakes(): boolean;
}

/** Follows the changes of a folder after its first load. */
export class FolderFollower<Found extends { readonly reading: FolderReading }> {
  private readonly watch = new FolderWatch(() => this.look());
  /** The content last applied. */
  private taken: Found | null = null;
  private readable = true;
  private isOver = false;

  /** @param stays log text for an unreadable folder: what stays in use */
  constructor(
    readonly folder: DefinitionFolder,
    private readonly use: FolderUse<Found>,
    private readonly log: MistakeLog,
    private readonly stays: string,
  ) {}

  /** Whether the folder was readable at the last check. */
  get isReadable(): boolean {
    return this.readable;
  }

  /** @throws AppError if the folder cannot be read */
  read(): Promise<Found | null> {
    return this.use.read(this.taken?.reading.others.keys() ?? []);
  }

  /** @param taken content already applied; null if the folder does not exist */
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
      this.log.logNew(folder.path, [messageOf(error)], this.stays);
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

  /** A folder that has disappeared may be deleted or on an unmounted disk: keeps the former content. */
  private miss(): void {
    if (this.taken) throw new AppError('CONFIG_INVALID', `${this.folder.path} is not there any more`);
  }

  /** Reads until two successive readings are equal, since related files may still be changing. */
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
