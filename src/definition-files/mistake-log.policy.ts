import type { LoggerService } from '@nestjs/common';

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
