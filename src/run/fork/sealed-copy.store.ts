import { Injectable } from '@nestjs/common';
import { Database, insert, type Statement, inLists } from '../../persistence/index.js';
import { Cipher, PLAIN_CIPHER, type RowPlace } from '../../security/index.js';
import { eventPlace, stepPlace } from '../row-place.factory.js';

interface StepRow {
  readonly name: string;
  readonly tenant: string;
  readonly kind: string;
  readonly subject: string;
  readonly result: string;
  readonly created_at: number;
}

interface EventRow {
  readonly n: number;
  readonly tenant: string;
  readonly type: string;
  readonly data: string;
  readonly created_at: number;
}

/** The id of no run. */
const NO_RUN = '';

/** Copies what a run has recorded where it is encrypted: a row opens only in its own run, and is sealed anew for another. */
@Injectable()
export class SealedCopyStore {
  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher = PLAIN_CIPHER,
  ) {}

  /** As `RunForkStore.copySteps`. */
  async steps(from: string, to: string, names: readonly string[], modelSubject?: string): Promise<Statement[]> {
    const columns = 'name, tenant, kind, subject, result, created_at';
    const rows = await this.rows<StepRow>(`SELECT ${columns} FROM run_step WHERE run_id = ? AND name IN`, from, names);
    const copies = rows.map(({ name, tenant, kind, subject, result, created_at }) =>
      insert('run_step', {
        run_id: to,
        name,
        tenant,
        kind,
        subject: kind === 'model' ? (modelSubject ?? subject) : subject,
        result: this.again(result, stepPlace(tenant, from, name), stepPlace(tenant, to, name)),
        epoch: 0,
        created_at,
      }),
    );
    return [stillThere(from, rows.length === names.length), ...copies];
  }

  /** As `RunForkStore.copyEvents`. */
  async events(from: string, to: string, numbers: readonly number[], after: number): Promise<Statement[]> {
    const columns = 'n, tenant, type, data, created_at';
    const rows = await this.rows<EventRow>(`SELECT ${columns} FROM run_event WHERE run_id = ? AND n IN`, from, numbers);
    const copies = rows
      .toSorted((a, b) => a.n - b.n)
      .map(({ n, tenant, type, data, created_at }, i) => {
        const place = eventPlace(tenant, to, after + i + 1);
        const row = { tenant, type, data: this.again(data, eventPlace(tenant, from, n), place), created_at };
        return insert('run_event', { run_id: to, n: after + i + 1, ...row });
      });
    return [stillThere(from, rows.length === numbers.length), ...copies];
  }

  private again(stored: string, from: RowPlace, to: RowPlace): string {
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

/** Refuses the batch when the journal was pruned after it was read, or was not whole then. */
function stillThere(runId: string, isWhole: boolean): Statement {
  const sql = 'UPDATE run SET forked_from = forked_from WHERE id = ? AND pruned_at IS NULL';
  return { sql, params: [isWhole ? runId : NO_RUN], rows: 1 };
}
