import { Injectable, Logger } from '@nestjs/common';
import type { Principal } from '../../common/index.js';
import { Database, inLists, type InList, type SqlValue } from '../../persistence/index.js';
import { Cipher } from '../../security/index.js';
import { runPlace } from '../row-place.factory.js';
import type { RunStatus } from '../run.types.js';
import { isOpen } from '../run-journal.js';

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

const COLUMNS = 'id, status, principal';
const PAGE = 500;
const RUNS_A_BATCH = 100;

/** Erases runs completely, unlike retention: for users who request erasure. */
@Injectable()
export class RunEraseStore {
  private readonly logger = new Logger(RunEraseStore.name);

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
      const runs = lists.flatMap(({ marks, params }) => [
        { sql: `DELETE FROM run_event WHERE run_id IN (${marks})`, params },
        { sql: `DELETE FROM run_step WHERE run_id IN (${marks})`, params },
        // Usage remains counted, without a session.
        { sql: `UPDATE run_usage SET session_id = '' WHERE run_id IN (${marks})`, params },
        { sql: `DELETE FROM idempotency_key WHERE run_id IN (${marks})`, params },
        { sql: `DELETE FROM run WHERE id IN (${marks})`, params },
      ]);
      const definitions = hashes.map((hash) => ({
        sql: `DELETE FROM run_definition WHERE tenant = ? AND hash = ?
          AND NOT EXISTS (SELECT 1 FROM run WHERE run.tenant = ? AND run.definition_hash = ?)`,
        params: [tenant, hash, tenant, hash],
      }));
      await this.database.commit([...runs, ...definitions]);
    }
    return runIds.length;
  }

  /** Removes deleted data from the database's files. */
  purge(): Promise<void> {
    return this.database.purge();
  }

  private async definitionsOf(lists: readonly InList[]): Promise<string[]> {
    const found = new Set<string>();
    for (const { marks, params } of lists) {
      const sql = `SELECT DISTINCT definition_hash AS hash FROM run WHERE forked_from IS NOT NULL AND id IN (${marks})`;
      for (const { hash } of await this.database.query<{ hash: string }>(sql, params)) found.add(hash);
    }
    return [...found];
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
