import { Injectable } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import type { Principal } from '../../kernel/index.js';
import { Database } from '../../persistence/index.js';
import { insert, type SqlValue } from '../../persistence/statement/index.js';
import { Ownership } from '../../security/index.js';
import { Cipher } from '../../security/encryption/index.js';
import { evalPlace, type SealedEvalColumn } from '../run-record.mapper.js';
import { parseReport, type StoredReport } from './eval-report.schema.js';

/** An eval with its report. */
export interface StoredEval<Report = StoredReport> {
  readonly id: string;
  /** Id of the principal who stored it. */
  readonly createdBy: string;
  /** Epoch ms. */
  readonly createdAt: number;
  readonly report: Report;
}

/** An eval in a list: without the results of its lines. */
export type ListedEval = StoredEval<Omit<StoredReport, 'results'>>;

interface EvalRow {
  readonly id: string;
  readonly tenant: string;
  readonly principal_id: string;
  readonly created_at: number;
  readonly figures: string;
}

const COLUMNS = 'id, tenant, principal_id, created_at, figures';

/** The table `eval_report`. Its texts are encrypted if rows are. */
@Injectable()
export class EvalReportStore {
  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
    private readonly ownership: Ownership,
  ) {}

  /** @param given a report in the format of `jackdaw eval --report` @throws AppError `VALIDATION_FAILED` naming the fields */
  async add({ id: owner, tenant }: Principal, id: string, given: unknown): Promise<ListedEval> {
    const { results, ...figures } = parseReport(given);
    const createdAt = Date.now();
    const seal = (column: SealedEvalColumn, value: unknown) =>
      this.cipher.seal(JSON.stringify(value), evalPlace(tenant, id, column));
    const row = { id, tenant, principal_id: owner, name: figures.name, created_at: createdAt };
    const texts = { figures: seal('figures', figures), results: seal('results', results) };
    await this.database.commit([insert('eval_report', { ...row, ...texts })]);
    return { id, createdBy: owner, createdAt, report: figures };
  }

  /** The evals that the principal may see, newest first. @param after of the last one of the previous page */
  async list(
    principal: Principal,
    name: string | undefined,
    limit: number,
    after?: { readonly at: number; readonly id: string },
  ): Promise<ListedEval[]> {
    const visible = this.ownership.filter(principal, 'principal_id');
    const conditions: [string, SqlValue[]][] = [[visible.sql, [...visible.params]]];
    if (name !== undefined) conditions.push(['name = ?', [name]]);
    if (after) conditions.push(['(created_at < ? OR (created_at = ? AND id < ?))', [after.at, after.at, after.id]]);
    const rows = await this.database.query<EvalRow>(
      `SELECT ${COLUMNS} FROM eval_report WHERE ${conditions.map(([sql]) => sql).join(' AND ')}
        ORDER BY created_at DESC, id DESC LIMIT ?`,
      [...conditions.flatMap(([, params]) => params), limit],
    );
    return rows.map((row) => this.toEval(row));
  }

  /** An eval without its results. @throws AppError as `get` */
  async figures(principal: Principal, id: string): Promise<ListedEval> {
    return this.toEval(await this.find<EvalRow>(principal, id, COLUMNS));
  }

  /** @throws AppError `NOT_FOUND`, also for an eval that the principal may not see */
  async get(principal: Principal, id: string): Promise<StoredEval> {
    const row = await this.find<EvalRow & { readonly results: string }>(principal, id, `${COLUMNS}, results`);
    const stored = this.toEval(row);
    return {
      ...stored,
      report: { ...stored.report, results: this.open(row, 'results', row.results) as StoredReport['results'] },
    };
  }

  /** @throws AppError `NOT_FOUND` */
  async remove(principal: Principal, id: string): Promise<void> {
    await this.find(principal, id, 'id');
    await this.database.commit([{ sql: 'DELETE FROM eval_report WHERE id = ?', params: [id] }]);
  }

  private async find<Row>(principal: Principal, id: string, columns: string): Promise<Row> {
    const { sql, params } = this.ownership.filter(principal, 'principal_id');
    const query = `SELECT ${columns} FROM eval_report WHERE id = ? AND ${sql}`;
    const [row] = await this.database.query<Row>(query, [id, ...params]);
    if (row) return row;
    throw new AppError('NOT_FOUND', `There is no eval "${id}".`);
  }

  private toEval(row: EvalRow): ListedEval {
    const { id, principal_id: createdBy, created_at: createdAt } = row;
    return { id, createdBy, createdAt, report: this.open(row, 'figures', row.figures) as ListedEval['report'] };
  }

  private open({ tenant, id }: EvalRow, column: SealedEvalColumn, stored: string): unknown {
    return this.cipher.openJson(stored, evalPlace(tenant, id, column));
  }
}
