import { AppError } from '../../errors/index.js';
import { Semaphore } from '../../kernel/index.js';
import type { PublishedFile, RunFile } from './run-file.types.js';

/** The files of earlier runs to which the turns that a run sees refer. */
export interface EarlierFiles {
  /** The highest number. */
  readonly last: number;
  /** @throws AppError `TOOL_INVALID_ARGUMENTS` for a number that several files have */
  find(n: number): Promise<RunFile | undefined>;
}

/** The files of a run: their numbers and total size, and their content on request. */
export class FileLedger {
  /** One call at a time records files, so that no batch has the files of several calls. */
  readonly recording = new Semaphore(1);
  private last = 0;
  private total = 0;
  private earlier: EarlierFiles | undefined;

  /**
   * @param read reads a recorded file
   * @param recorded the files of earlier executions
   */
  constructor(
    private readonly read: (n: number) => Promise<RunFile | undefined>,
    recorded: readonly Pick<PublishedFile, 'n' | 'bytes'>[] = [],
  ) {
    for (const { n, bytes } of recorded) {
      this.last = Math.max(this.last, n);
      this.total += bytes;
    }
  }

  /** Size of all files, in bytes. */
  get bytes(): number {
    return this.total;
  }

  /** Continues the numbers of earlier files, so that the model sees each number once. */
  follow(earlier: EarlierFiles): void {
    this.earlier = earlier;
    this.last = Math.max(this.last, earlier.last);
  }

  /** A file that the model may name: of this run, or of an earlier one. @throws AppError as `EarlierFiles.find` */
  async find(n: number): Promise<RunFile | undefined> {
    return (await this.read(n)) ?? this.earlier?.find(n);
  }

  /** @returns the number of a new file */
  add(bytes: number): number {
    this.total += bytes;
    this.last += 1;
    return this.last;
  }

  /** A recorded file. @throws AppError `INTERNAL` if the run has no such file */
  async get(n: number): Promise<RunFile> {
    const file = await this.read(n);
    if (!file) throw new AppError('INTERNAL', `A recorded result refers to file ${n}, which is not recorded.`);
    return file;
  }
}
