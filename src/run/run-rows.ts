import { type AppError, Log } from '../errors/index.js';
import { type Database, inLists, refusalOf } from '../persistence/index.js';
import { Cipher } from '../security/encryption/index.js';
import { FILE_STEP } from './files/run-file.mapper.js';
import { damagedEnd } from './run-failure.factory.js';
import { isOpen, SELECT_RUN, toRunRecord, withoutInput, type RunRow } from './run-record.mapper.js';
import type { RunHead, RunRecord } from './run.types.js';

/** Inputs that are read at once: their number, and their size in bytes. */
const MAX_READ = 100;
const MAX_READ_BYTES = 1_048_576;

/** Reads rows of runs, and ends open runs whose data are damaged. */
export class RunRows {
  private readonly logger = new Log(RunRows.name);

  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
  ) {}

  /** A run with damaged data ends: no process can execute it. */
  async toRecord(row: RunRow): Promise<RunRecord> {
    try {
      return toRunRecord(row, this.cipher);
    } catch (error) {
      if (Cipher.isDamage(error) && isOpen(row.status)) await this.failDamaged(row, error);
      throw error;
    }
  }

  /** Runs to execute, the oldest first. Never reads many inputs at once. */
  async unfinished(): Promise<RunHead[]> {
    const sizes = await this.database.query<{ readonly id: string; readonly size: number }>(
      `SELECT id, LENGTH(input) AS size FROM run WHERE status IN ('queued', 'running') ORDER BY created_at, id`,
    );
    const runs: RunHead[] = [];
    /** Equal definitions are one text. */
    const definitions = new Map<string, string>();
    for (const ids of groups(sizes)) {
      for (const run of await this.readable(ids)) {
        const definition = definitions.get(run.definition) ?? run.definition;
        definitions.set(definition, definition);
        runs.push({ ...run, definition });
      }
    }
    return runs;
  }

  /** In the order of their ids; an unreadable run must not block the others. */
  private async readable(ids: readonly string[]): Promise<RunHead[]> {
    const found = new Map<string, RunHead>();
    for (const { marks, params } of inLists(ids)) {
      const where = `WHERE run.id IN (${marks}) AND run.status IN ('queued', 'running')`;
      for (const row of await this.database.query<RunRow>(`${SELECT_RUN} ${where}`, params)) {
        for (const run of await this.toReadable(row)) found.set(row.id, withoutInput(run));
      }
    }
    return ids.flatMap((id) => found.get(id) ?? []);
  }

  /** Bytes that an execution reads: the input and the recorded steps. */
  async sizeOf({ id, epoch }: Pick<RunRecord, 'id' | 'epoch'>): Promise<number> {
    const steps = `(SELECT COALESCE(SUM(LENGTH(result)), 0) FROM run_step WHERE run_id = run.id AND kind <> ?)`;
    const [sql, params] = epoch === 0 ? ['0', []] : [steps, [FILE_STEP]];
    const [row] = await this.database.query<{ readonly size: number | string }>(
      `SELECT LENGTH(input) + ${sql} AS size FROM run WHERE id = ?`,
      [...params, id],
    );
    return Number(row?.size ?? 0);
  }

  private async toReadable(row: RunRow): Promise<[RunRecord] | []> {
    try {
      return [await this.toRecord(row)];
    } catch (err) {
      this.logger.error({ err, run_id: row.id }, 'Failed to read an unfinished run; it is not resumed');
      return [];
    }
  }

  private async failDamaged(row: RunRow, error: AppError): Promise<void> {
    const { id } = row;
    const sql = 'SELECT MAX(n) AS n FROM run_event WHERE run_id = ?';
    const [last] = await this.database.query<{ n: number | null }>(sql, [id]);
    const end = damagedEnd(row, (last?.n ?? 0) + 1, error, this.cipher);
    await this.database.commit(end).catch((refused: unknown) => {
      // The run changed meanwhile.
      if (!refusalOf(refused)) throw refused;
    });
    this.logger.error({ err: error, run_id: id }, 'Run failed: its stored data are damaged');
  }
}

function groups(runs: readonly { readonly id: string; readonly size: number }[]): string[][] {
  const all: string[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const { id, size } of runs) {
    bytes += size;
    const last = all.at(-1);
    if (last && last.length < MAX_READ && bytes <= MAX_READ_BYTES) last.push(id);
    else {
      all.push([id]);
      bytes = size;
    }
  }
  return all;
}
