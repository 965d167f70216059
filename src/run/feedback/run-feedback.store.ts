import { Injectable } from '@nestjs/common';
import type { Principal } from '../../kernel/index.js';
import { Database, inLists } from '../../persistence/index.js';
import type { SqlValue } from '../../persistence/statement/index.js';
import { Ownership } from '../../security/index.js';
import { Cipher, type RowPlace, type SealedTable, type StoredRow } from '../../security/encryption/index.js';

/** Feedback of one person on one run. */
export interface RunFeedback {
  readonly runId: string;
  readonly agent: string;
  /** Id of the principal who gave it. */
  readonly givenBy: string;
  /** 0 (bad) to 1 (good); `null` without a score. */
  readonly score: number | null;
  readonly comment: string | null;
  /** The answer that the run should have given. */
  readonly correction: string | null;
  /** Epoch ms. */
  readonly createdAt: number;
}

/** Filter of feedback; absent fields match everything. Times are epoch ms. */
export interface FeedbackFilter {
  readonly agent?: string;
  readonly from?: number;
  readonly to?: number;
  /** Only scores of at least this. */
  readonly minScore?: number;
  /** Only scores of at most this. */
  readonly maxScore?: number;
  /** Only feedback with a correction. */
  readonly isCorrected?: boolean;
}

/** The feedback on the runs of one agent. */
export interface FeedbackSummary {
  readonly agent: string;
  /** Feedback with or without a score. */
  readonly count: number;
  readonly scored: number;
  /** Mean score, 0 to 1; `null` without a score. */
  readonly meanScore: number | null;
  readonly comments: number;
  readonly corrections: number;
}

interface FeedbackRow {
  readonly run_id: string;
  readonly given_by: string;
  readonly tenant: string;
  readonly agent: string;
  readonly score: number | null;
  readonly comment: string | null;
  readonly correction: string | null;
  readonly created_at: number;
}

interface SummaryRow {
  readonly agent: string;
  readonly count: number | string;
  readonly scored: number | string;
  readonly mean: number | string | null;
  readonly comments: number | string;
  readonly corrections: number | string;
}

type SealedFeedbackColumn = 'comment' | 'correction';

const SCALE = 1000;

function placeOf(tenant: string, runId: string, givenBy: string, column: SealedFeedbackColumn): RowPlace {
  return { tenant, column: `run_feedback.${column}`, owner: runId, row: givenBy };
}

const sealedColumn = (name: SealedFeedbackColumn) => ({
  name,
  place: ({ tenant, run_id, given_by }: StoredRow) => placeOf(String(tenant), String(run_id), String(given_by), name),
});

/** The encrypted columns, for re-encryption. */
export const FEEDBACK_SEALED_TABLE: SealedTable = {
  name: 'run_feedback',
  key: ['run_id', 'given_by'],
  also: ['tenant'],
  columns: [sealedColumn('comment'), sealedColumn('correction')],
};

/** The table `run_feedback`: one row for each run and person. Its texts are encrypted if rows are. */
@Injectable()
export class RunFeedbackStore {
  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
    private readonly ownership: Ownership,
  ) {}

  /** Stores feedback; replaces that of the same person on the same run. @param owner of the run */
  async put(tenant: string, owner: string | null, feedback: RunFeedback): Promise<void> {
    const { runId, givenBy, agent, score, createdAt } = feedback;
    const seal = (column: SealedFeedbackColumn) => {
      const text = feedback[column];
      return text === null ? null : this.cipher.seal(JSON.stringify(text), placeOf(tenant, runId, givenBy, column));
    };
    await this.database.commit([
      { sql: 'DELETE FROM run_feedback WHERE run_id = ? AND given_by = ?', params: [runId, givenBy] },
      {
        sql: `INSERT INTO run_feedback
          (run_id, given_by, tenant, principal_id, agent, score, comment, correction, created_at)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        params: [
          runId,
          givenBy,
          tenant,
          owner,
          agent,
          score === null ? null : Math.round(score * SCALE),
          seal('comment'),
          seal('correction'),
          createdAt,
        ],
      },
    ]);
  }

  /** @returns whether there was feedback of this person */
  async remove(runId: string, givenBy: string): Promise<boolean> {
    const found = await this.database.query('SELECT run_id FROM run_feedback WHERE run_id = ? AND given_by = ?', [
      runId,
      givenBy,
    ]);
    await this.database.commit([
      { sql: 'DELETE FROM run_feedback WHERE run_id = ? AND given_by = ?', params: [runId, givenBy] },
    ]);
    return found.length > 0;
  }

  /** The feedback on runs, newest first. The caller must have checked access to the runs. */
  async of(runIds: readonly string[]): Promise<RunFeedback[]> {
    const pages = inLists(runIds).map(({ marks, params }) =>
      this.database.query<FeedbackRow>(`SELECT * FROM run_feedback WHERE run_id IN (${marks})`, params),
    );
    const rows = (await Promise.all(pages)).flat().toSorted((a, b) => b.created_at - a.created_at);
    return rows.map((row) => this.toFeedback(row));
  }

  /**
   * The feedback on runs that the principal may see, newest first.
   * @param after time and run of the last one of the previous page
   */
  async list(
    principal: Principal,
    filter: FeedbackFilter,
    limit: number,
    after?: { readonly at: number; readonly id: string },
  ): Promise<RunFeedback[]> {
    const { sql, params } = this.where(principal, filter);
    const [place, placed] = after
      ? [' AND (created_at < ? OR (created_at = ? AND run_id < ?))', [after.at, after.at, after.id]]
      : ['', []];
    const rows = await this.database.query<FeedbackRow>(
      `SELECT * FROM run_feedback WHERE ${sql}${place} ORDER BY created_at DESC, run_id DESC, given_by DESC LIMIT ?`,
      [...params, ...placed, limit],
    );
    return rows.map((row) => this.toFeedback(row));
  }

  /** Sums by agent, of runs that the principal may see. */
  async summary(principal: Principal, filter: FeedbackFilter): Promise<FeedbackSummary[]> {
    const { sql, params } = this.where(principal, filter);
    const rows = await this.database.query<SummaryRow>(
      `SELECT agent, COUNT(*) AS count, COUNT(score) AS scored, AVG(score) AS mean, COUNT(comment) AS comments,
          COUNT(correction) AS corrections FROM run_feedback WHERE ${sql} GROUP BY agent ORDER BY agent`,
      params,
    );
    return rows.map(({ agent, mean, ...counts }) => ({
      agent,
      count: Number(counts.count),
      scored: Number(counts.scored),
      meanScore: mean === null ? null : Math.round(Number(mean)) / SCALE,
      comments: Number(counts.comments),
      corrections: Number(counts.corrections),
    }));
  }

  private where(principal: Principal, filter: FeedbackFilter): { readonly sql: string; readonly params: SqlValue[] } {
    const visible = this.ownership.filter(principal, 'principal_id');
    const conditions: [string, SqlValue | undefined][] = [
      ['agent = ?', filter.agent],
      ['created_at >= ?', filter.from],
      ['created_at < ?', filter.to],
      ['score >= ?', scaled(filter.minScore)],
      ['score <= ?', scaled(filter.maxScore)],
    ];
    const given = conditions.filter(([, value]) => value !== undefined);
    const sql = [visible.sql, ...given.map(([one]) => one), ...(filter.isCorrected ? ['correction IS NOT NULL'] : [])];
    return { sql: sql.join(' AND '), params: [...visible.params, ...given.map(([, value]) => value!)] };
  }

  private toFeedback(row: FeedbackRow): RunFeedback {
    const { run_id: runId, given_by: givenBy, tenant, agent, score, created_at: createdAt } = row;
    const open = (column: SealedFeedbackColumn) => {
      const stored = row[column];
      return stored === null ? null : (this.cipher.openJson(stored, placeOf(tenant, runId, givenBy, column)) as string);
    };
    return {
      runId,
      agent,
      givenBy,
      score: score === null ? null : score / SCALE,
      comment: open('comment'),
      correction: open('correction'),
      createdAt,
    };
  }
}

function scaled(score: number | undefined): number | undefined {
  return score === undefined ? undefined : Math.round(score * SCALE);
}
