import type { LoggerService } from '@nestjs/common';

/** Logs what is wrong with files: once, until it is something else, or mended. */
export class MistakeLog {
  private readonly told = new Map<string, string>();

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

  /** Of files that are gone, nothing is remembered. */
  forget(isThere: (file: string) => boolean): void {
    for (const file of this.told.keys()) if (!isThere(file)) this.told.delete(file);
  }
}
