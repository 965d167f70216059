import { Injectable } from '@nestjs/common';
import { Log } from '../../errors/index.js';
import type { Principal } from '../../kernel/index.js';
import { Database, inLists, type InList } from '../../persistence/index.js';
import type { SqlValue } from '../../persistence/statement/index.js';
import { Cipher } from '../../security/encryption/index.js';
import type { Decision } from '../decision/decision.types.js';
import { isOpen, runPlace, stepPlace } from '../run-record.mapper.js';
import type { RunStatus } from '../run.types.js';

/** The fields of a run that its removal needs. */
interface ErasableRun {
  readonly id: string;
  readonly status: RunStatus;
  readonly principal: string;
}

/** Runs to erase, and runs that must end first. */
export interface Erasable {
  readonly ended: readonly string[];
  readonly open: readonly string[];
}

interface AnswerRow {
  readonly run_id: string;
  readonly name: string;
  readonly result: string;
}

interface SessionStart {
  readonly session_id: string;
  /** Epoch ms. */
  readonly since: number;
}

/** Kind of the steps that record decisions. */
const ANSWER_STEP = 'answer';
const COLUMNS = 'id, status, principal';
const PAGE = 500;
const RUNS_A_BATCH = 100;

/** Erases runs completely, unlike retention: for users who request erasure. */
@Injectable()
export class RunEraseStore {
  private readonly logger = new Log(RunEraseStore.name);

  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
  ) {}

  /** The tenant's runs that a principal started; scans all runs of the tenant. */
  async ofPrincipal(tenant: string, principalId: string): Promise<Erasable> {
    const found: ErasableRun[] = [];
    for (let after = ''; ;) {
      const page = await this.select('tenant = ? AND id > ? ORDER BY id LIMIT ?', [tenant, after, PAGE]);
      found.push(...page.filter((run) => this.principalOf(tenant, run) === principalId));
      if (page.length < PAGE) return toErasable(found);
      after = page.at(-1)!.id;
    }
  }

  /**
   * Deletes runs with all their records, in small batches. Also deletes definitions that only they used, as a fork may
   * have its own.
   * @param inUse hashes of definitions that remain in any case
   * @returns the number of runs
   */
  async erase(tenant: string, runIds: readonly string[], inUse: ReadonlySet<string>): Promise<number> {
    for (let at = 0; at < runIds.length; at += RUNS_A_BATCH) {
      const lists = inLists(runIds.slice(at, at + RUNS_A_BATCH));
      const hashes = (await this.definitionsOf(lists)).filter((hash) => !inUse.has(hash));
      const sums = (await this.usersOf(lists)).map((id) => ({
        sql: 'DELETE FROM usage_day WHERE principal_id = ? AND tenant = ?',
        params: [id, tenant],
      }));
      const runs = lists.flatMap(({ marks, params }) => [
        { sql: `DELETE FROM run_event WHERE run_id IN (${marks})`, params },
        { sql: `DELETE FROM webhook_delivery WHERE run_id IN (${marks})`, params },
        { sql: `DELETE FROM run_feedback WHERE run_id IN (${marks})`, params },
        { sql: `DELETE FROM run_step WHERE run_id IN (${marks})`, params },
        // Usage remains counted, without a session and a principal.
        { sql: `UPDATE run_usage SET session_id = '', principal_id = NULL WHERE run_id IN (${marks})`, params },
        { sql: `DELETE FROM idempotency_key WHERE run_id IN (${marks})`, params },
        { sql: `DELETE FROM run WHERE id IN (${marks})`, params },
      ]);
      const definitions = hashes.map((hash) => ({
        sql: `DELETE FROM run_definition WHERE tenant = ? AND hash = ?
          AND NOT EXISTS (SELECT 1 FROM run WHERE run.tenant = ? AND run.definition_hash = ?)`,
        params: [tenant, hash, tenant, hash],
      }));
      // After their calls: a process that adds these to sums takes the rows in the same order.
      await this.database.commit([...runs, ...sums, ...definitions]);
    }
    return runIds.length;
  }

  /** Runs of others that were forked from these runs, also by several forks in a row. */
  async forksOf(tenant: string, runIds: ReadonlySet<string>): Promise<string[]> {
    const found = new Set<string>();
    for (let sources = [...runIds]; sources.length > 0;) {
      const forks = await this.idsOf('tenant = ? AND forked_from', tenant, sources);
      sources = forks.filter((id) => !runIds.has(id) && !found.has(id));
      for (const id of sources) found.add(id);
    }
    return [...found];
  }

  /** Other runs in the sessions of these runs, from the first of these runs on. */
  async afterIn(tenant: string, runIds: ReadonlySet<string>): Promise<string[]> {
    const since = new Map<string, number>();
    for (const { marks, params } of inLists([...runIds])) {
      const sql = `SELECT session_id, MIN(created_at) AS since FROM run
        WHERE session_id IS NOT NULL AND id IN (${marks}) GROUP BY session_id`;
      for (const { session_id: id, since: at } of await this.database.query<SessionStart>(sql, params))
        since.set(id, Math.min(at, since.get(id) ?? at));
    }
    const found: string[] = [];
    for (const { marks, params } of inLists([...since.keys()])) {
      const sql = `SELECT id, session_id, created_at AS since FROM run WHERE tenant = ? AND session_id IN (${marks})`;
      const rows = await this.database.query<SessionStart & { id: string }>(sql, [tenant, ...params]);
      const later = rows.filter((row) => !runIds.has(row.id) && row.since >= since.get(row.session_id)!);
      found.push(...later.map(({ id }) => id));
    }
    return found;
  }

  /** Other runs with decisions of this principal; scans all steps of the tenant. */
  async answeredBy(tenant: string, principalId: string, runIds: ReadonlySet<string>): Promise<string[]> {
    const found = new Set<string>();
    for (let [run, name] = ['', '']; ;) {
      const page = await this.database.query<AnswerRow>(
        `SELECT run_id, name, result FROM run_step WHERE tenant = ? AND kind = ?
          AND (run_id > ? OR (run_id = ? AND name > ?)) ORDER BY run_id, name LIMIT ?`,
        [tenant, ANSWER_STEP, run, run, name, PAGE],
      );
      for (const row of page)
        if (!runIds.has(row.run_id) && this.deciderOf(tenant, row) === principalId) found.add(row.run_id);
      if (page.length < PAGE) return [...found];
      ({ run_id: run, name } = page.at(-1)!);
    }
  }

  /** Deletes the feedback and the reports of evals that a user gave. @returns their number */
  async eraseGivenBy(tenant: string, userId: string): Promise<number> {
    const feedback = await this.eraseRows('run_feedback', 'tenant = ? AND given_by = ?', [tenant, userId]);
    return feedback + (await this.eraseRows('eval_report', 'tenant = ? AND principal_id = ?', [tenant, userId]));
  }

  /** Removes deleted data from the database's files. */
  purge(): Promise<void> {
    return this.database.purge();
  }

  private async eraseRows(table: string, where: string, params: readonly SqlValue[]): Promise<number> {
    const found = await this.database.query(`SELECT tenant FROM ${table} WHERE ${where}`, params);
    if (found.length > 0) await this.database.commit([{ sql: `DELETE FROM ${table} WHERE ${where}`, params }]);
    return found.length;
  }

  /** The principals whose usage is counted with these runs. */
  private async usersOf(lists: readonly InList[]): Promise<string[]> {
    const found = new Set<string>();
    for (const { marks, params } of lists) {
      const sql = `SELECT DISTINCT principal_id AS id FROM run_usage WHERE principal_id IS NOT NULL AND run_id IN (${marks})`;
      for (const { id } of await this.database.query<{ id: string }>(sql, params)) found.add(id);
    }
    return [...found];
  }

  private async definitionsOf(lists: readonly InList[]): Promise<string[]> {
    const found = new Set<string>();
    for (const { marks, params } of lists) {
      const sql = `SELECT DISTINCT definition_hash AS hash FROM run WHERE forked_from IS NOT NULL AND id IN (${marks})`;
      for (const { hash } of await this.database.query<{ hash: string }>(sql, params)) found.add(hash);
    }
    return [...found];
  }

  private async idsOf(where: string, tenant: string, values: readonly string[]): Promise<string[]> {
    const pages = inLists(values).map(({ marks, params }) =>
      this.database.query<{ id: string }>(`SELECT id FROM run WHERE ${where} IN (${marks})`, [tenant, ...params]),
    );
    return (await Promise.all(pages)).flat().map(({ id }) => id);
  }

  private deciderOf(tenant: string, { run_id, name, result }: AnswerRow): string | null {
    try {
      return (JSON.parse(this.cipher.open(result, stepPlace(tenant, run_id, name))) as Decision).by;
    } catch (err) {
      this.logger.error({ err, run_id }, 'Failed to read a decision; it is not listed with its user');
      return null;
    }
  }

  private principalOf(tenant: string, { id, principal }: ErasableRun): string | null {
    try {
      return (JSON.parse(this.cipher.open(principal, runPlace(tenant, id, 'principal'))) as Principal).id;
    } catch (err) {
      // One unreadable row must not block the erasure of other users.
      this.logger.error(
        { err, run_id: id },
        'Failed to read the principal of a run; the run is not erased with its user',
      );
      return null;
    }
  }

  private select(where: string, params: readonly SqlValue[]): Promise<ErasableRun[]> {
    return this.database.query<ErasableRun>(`SELECT ${COLUMNS} FROM run WHERE ${where}`, params);
  }
}

function toErasable(runs: readonly ErasableRun[]): Erasable {
  const ids = (of: readonly ErasableRun[]) => of.map(({ id }) => id);
  return {
    ended: ids(runs.filter(({ status }) => !isOpen(status))),
    open: ids(runs.filter(({ status }) => isOpen(status))),
  };
}
