import { Injectable } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import type { Principal } from '../../kernel/index.js';
import { RunJournal } from '../run-journal.js';
import { RunService } from '../run.service.js';
import { RunFileStore } from './run-file.store.js';
import type { EarlierFiles } from '../context/run-context.js';
import type { RunFile } from './run-file.types.js';

/** Reads the files of runs, and of runs of imported sessions. */
@Injectable()
export class RunFileService {
  constructor(
    private readonly runs: RunService,
    private readonly journal: RunJournal,
    private readonly store: RunFileStore,
  ) {}

  /** A file of a run, by its number. @throws AppError `RUN_NOT_FOUND`, `RUN_PRUNED`, `NOT_FOUND` */
  async get(principal: Principal, runId: string, n: number): Promise<RunFile> {
    const run = await this.journal.findOf(principal, runId);
    const imported = run ? undefined : await this.store.imported(principal, runId, n);
    if (imported) return imported;
    await this.runs.get(principal, runId);
    const file = await this.journal.file(runId, n);
    if (!file) throw new AppError('NOT_FOUND', `Run "${runId}" has no file ${n}.`);
    return file;
  }

  /** Files of a principal's runs and imported turns. Files of other principals' runs only take part in the numbering. */
  async earlier(principal: Principal, runIds: readonly string[]): Promise<EarlierFiles> {
    const found = await this.store.numbers(principal.tenant, runIds);
    const last = found.reduce((most, { n }) => Math.max(most, n), 0);
    const find = async (n: number): Promise<RunFile | undefined> => {
      const [runId, other] = new Set(found.filter((one) => one.n === n).map((one) => one.runId));
      if (runId === undefined) return undefined;
      if (other !== undefined) {
        throw new AppError('TOOL_INVALID_ARGUMENTS', `Several earlier results have a file ${n}: create it again.`);
      }
      const run = await this.journal.findOf(principal, runId);
      const isOwn = run?.principal.id === principal.id;
      return isOwn ? this.journal.file(runId, n) : this.store.imported(principal, runId, n);
    };
    return { last, find };
  }
}
