import { Database } from '../../persistence/index.js';
import type { RunRecord } from '../run.types.js';
import type { CrashedRun } from '../suspect-run.policy.js';
import type { RunRef } from './run-ref.types.js';

const SELECT_REF = 'SELECT r.id, r.epoch, r.kind, r.loop_version, r.priority, r.owner FROM run r';
const PAGE = 500;

interface RefRow {
  readonly id: string;
  readonly epoch: number;
  readonly kind: string;
  readonly loop_version: number;
  readonly priority: number;
  readonly owner: string | null;
}

interface CrashedRow extends Pick<CrashedRun, 'id' | 'epoch' | 'attempts' | 'suspicions'> {
  readonly recovered_at: number | null;
  readonly parent_run_id: string | null;
}

/** A run that is running, or was interrupted, and its owner. */
export interface OwnedRef extends RunRef {
  readonly owner: string | null;
}

/** The journal's queries for runs to start. */
export class OpenRunStore {
  constructor(private readonly database: Database) {}

  /** Whether runs are queued for the session. */
  async isAwaited({ tenant, sessionId }: Pick<RunRecord, 'tenant' | 'sessionId'>): Promise<boolean> {
    return sessionId !== null && (await this.nextOf({ tenant, sessionId })) !== null;
  }

  /** The session's next queued run: the one that holds the session, else the oldest. */
  async nextOf({ tenant, sessionId }: Pick<RunRecord, 'tenant' | 'sessionId'>): Promise<RunRef | null> {
    const rows = await this.database.query<RefRow>(
      `${SELECT_REF} WHERE r.tenant = ? AND r.session_id = ? AND r.status = 'queued'
        ORDER BY CASE WHEN r.epoch > 0 THEN 0 ELSE 1 END, r.created_at, r.id LIMIT 1`,
      [tenant, sessionId],
    );
    return rows[0] ? toRef(rows[0]) : null;
  }

  /** Running runs of processes other than these, the oldest first. */
  async orphans(live: readonly string[]): Promise<OwnedRef[]> {
    const rows = await this.database.query<RefRow>(
      `${SELECT_REF} WHERE r.status = 'running' AND (r.owner IS NULL OR r.owner NOT IN (${live.map(() => '?').join(', ')}))
        ORDER BY r.created_at LIMIT ${PAGE}`,
      [...live],
    );
    return rows.map((row) => ({ ...toRef(row), owner: row.owner }));
  }

  /** Running runs of a process. */
  async ownedBy(node: string): Promise<RunRef[]> {
    const rows = await this.database.query<RefRow>(`${SELECT_REF} WHERE r.status = 'running' AND r.owner = ?`, [node]);
    return rows.map(toRef);
  }

  /** The runs that a process executed when it crashed. */
  async inFlight(node: string): Promise<CrashedRun[]> {
    const rows = await this.database.query<CrashedRow>(
      `SELECT id, epoch, attempts, suspicions, recovered_at, parent_run_id FROM run
        WHERE status = 'running' AND owner = ? ORDER BY id`,
      [node],
    );
    return rows.map(({ recovered_at, parent_run_id, ...row }) => ({
      ...row,
      status: 'running',
      recoveredAt: recovered_at,
      lineage: parent_run_id === null ? null : { parentRunId: parent_run_id },
    }));
  }

  /** Whether a suspect with a later `recovered_at` (epoch ms) is queued: a likelier one of the same crash. */
  async hasSuspectAfter(recoveredAt: number): Promise<boolean> {
    const sql = `SELECT id FROM run WHERE status = 'queued' AND suspicions > 0 AND recovered_at > ? LIMIT 1`;
    return (await this.database.query(sql, [recoveredAt])).length > 0;
  }

  /** Due queued runs whose session no other run holds, the most urgent first. @param now epoch ms */
  async startable(now: number): Promise<RunRef[]> {
    const rows = await this.database.query<RefRow>(
      `${SELECT_REF} WHERE r.status = 'queued' AND (r.session_id IS NULL OR NOT EXISTS (
          SELECT 1 FROM run h WHERE h.tenant = r.tenant AND h.session_id = r.session_id
            AND h.session_slot IS NOT NULL AND h.id <> r.id))
          AND (r.not_before IS NULL OR r.not_before <= ? OR r.cancel_requested_at IS NOT NULL)
        ORDER BY r.priority DESC, r.created_at LIMIT ${PAGE}`,
      [now],
    );
    return rows.map(toRef);
  }

  /** Makes a postponed run due. */
  async release(runId: string): Promise<void> {
    const sql = `UPDATE run SET not_before = NULL WHERE id = ? AND status = 'queued'`;
    await this.database.commit([{ sql, params: [runId] }]);
  }
}

function toRef({ id, epoch, kind, loop_version, priority }: RefRow): RunRef {
  return { id, epoch, kind, loopVersion: loop_version, priority };
}
