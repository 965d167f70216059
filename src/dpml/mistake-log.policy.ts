import type { LoggerService } from '@nestjs/common';

/** Logs what is wrong with files: once, until it is something else, or mended. */
export class MistakeLog {
  private readonly told = new Map<string, string>();
  private unread: ReadonlySet<string> = new Set();

  constructor(private readonly logger: LoggerService) {}

  /** @param outcome what is the case as long as it is wrong */
  tell(file: string, mistakes: readonly string[], outcome: string): void {
    const lines = mistakes.join('\n  ');
    if (this.told.get(file) === lines) return;
    this.told.set(file, lines);
    this.logger.warn(`${file} is not taken, ${outcome}:\n  ${lines}`);
  }

  mend(file: string): void {
    if (this.told.delete(file)) this.logger.log(`${file} is taken again`);
  }

  /** Reports files whose ending is not read, each once as long as it is there. @param why the end of the sentence */
  reportUnread(files: readonly string[], why: string): void {
    for (const file of files) if (!this.unread.has(file)) this.logger.warn(`${file} is not read: ${why}`);
    this.unread = new Set(files);
  }

  /** Of files that are gone, nothing is remembered. */
  forget(isThere: (file: string) => boolean): void {
    for (const file of this.told.keys()) if (!isThere(file)) this.told.delete(file);
  }
}
