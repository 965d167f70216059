import { Injectable } from '@nestjs/common';
import { Database, inLists } from '../../persistence/index.js';
import { insert, type Statement } from '../../persistence/statement/index.js';
import { Cipher, type RowPlace } from '../../security/encryption/index.js';
import { eventPlace, stepPlace } from '../run-record.mapper.js';

interface StepRow {
  readonly name: string;
  readonly tenant: string;
  readonly kind: string;
  readonly subject: string;
  readonly result: string;
  readonly created_at: number;
  readonly started_at: number | null;
  readonly first_token_ms: number | null;
  readonly attempts: number | null;
  readonly request_hash: string | null;
}

interface EventRow {
  readonly n: number;
  readonly tenant: string;
  readonly type: string;
  readonly data: string;
  readonly created_at: number;
}

/** An id that no run has. */
const NO_RUN = '';

/** Copies encrypted records: a row decrypts only in its own run, so it is encrypted again for the other. */
@Injectable()
export class SealedCopyStore {
  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
  ) {}

  /** As `RunForkStore.copySteps`. */
  async steps(from: string, to: string, names: readonly string[], modelSubject?: string): Promise<Statement[]> {
    const columns =
      'name, tenant, kind, subject, result, created_at, started_at, first_token_ms, attempts, request_hash';
    const rows = await this.rows<StepRow>(`SELECT ${columns} FROM run_step WHERE run_id = ? AND name IN`, from, names);
    const copies = rows.map(({ name, tenant, kind, subject, result, ...facts }) =>
      insert('run_step', {
        run_id: to,
        name,
        tenant,
        kind,
        subject: kind === 'model' ? (modelSubject ?? subject) : subject,
        result: this.reseal(result, stepPlace(tenant, from, name), stepPlace(tenant, to, name)),
        epoch: 0,
        ...facts,
      }),
    );
    return [checkComplete(from, rows.length === names.length), ...copies];
  }

  /** As `RunForkStore.copyEvents`. */
  async events(from: string, to: string, numbers: readonly number[], after: number): Promise<Statement[]> {
    const columns = 'n, tenant, type, data, created_at';
    const rows = await this.rows<EventRow>(`SELECT ${columns} FROM run_event WHERE run_id = ? AND n IN`, from, numbers);
    const copies = rows
      .toSorted((a, b) => a.n - b.n)
      .map(({ n, tenant, type, data, created_at }, i) => {
        const place = eventPlace(tenant, to, after + i + 1);
        const row = { tenant, type, data: this.reseal(data, eventPlace(tenant, from, n), place), created_at };
        return insert('run_event', { run_id: to, n: after + i + 1, ...row });
      });
    return [checkComplete(from, rows.length === numbers.length), ...copies];
  }

  private reseal(stored: string, from: RowPlace, to: RowPlace): string {
    return this.cipher.seal(this.cipher.open(stored, from), to);
  }

  private async rows<Row>(sql: string, runId: string, values: readonly (string | number)[]): Promise<Row[]> {
    const rows: Row[] = [];
    for (const { marks, params } of inLists(values)) {
      rows.push(...(await this.database.query<Row>(`${sql} (${marks})`, [runId, ...params])));
    }
    return rows;
  }
}

/** Refuses the batch if the journal of the source run was incomplete when it was read, or was pruned afterwards. */
function checkComplete(runId: string, isComplete: boolean): Statement {
  const sql = 'UPDATE run SET forked_from = forked_from WHERE id = ? AND pruned_at IS NULL';
  return { sql, params: [isComplete ? runId : NO_RUN], rows: 1 };
}
