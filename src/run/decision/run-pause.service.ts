import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { databaseConfig, type DatabaseConfig, runConfig, type RunConfig } from '../../config/namespaces/index.js';
import { Log } from '../../errors/index.js';
import { isRefusedAtOnce, refusalOf } from '../../persistence/index.js';
import type { Statement } from '../../persistence/statement/index.js';
import { RunItem } from '../event/run-item.factory.js';
import { RunJournal } from '../run-journal.js';
import { insertEvents, sessionSlot, startedItem } from '../run-statement.factory.js';
import type { RunStatus } from '../run.types.js';
import type { WaitingRequest } from './waiting-request.types.js';
import { waitingEvent } from './waiting-time.policy.js';

const DISABLE_WEBHOOKS: Statement = {
  sql: `UPDATE webhook SET is_active = 0, disabled_reason = 'restored' WHERE is_active = 1 AND tenant <> ''`,
  params: [],
};

/** Runs that are paused at the same time. */
const PAGE = 100;

interface OpenRow {
  readonly id: string;
  readonly tenant: string;
  readonly epoch: number;
  readonly status: RunStatus;
  readonly agent: string;
  readonly session_id: string | null;
  readonly session_slot: string | null;
  readonly parent_run_id: string | null;
}

/**
 * Applies `RECOVERY` at the start, before any run resumes. With `pause`, which is the default on a copied database, all open
 * runs wait with the reason `restored`: the processes of the original may execute them, too. A person releases them.
 * Webhooks and schedules are disabled, until a person enables them.
 */
@Injectable()
export class RunPauseService implements OnApplicationBootstrap {
  private readonly logger = new Log(RunPauseService.name);
  /** Disables other work that the original of a copy does, too. */
  private readonly others: Statement[] = [DISABLE_WEBHOOKS];

  constructor(
    private readonly journal: RunJournal,
    @Inject(runConfig.KEY) private readonly config: RunConfig,
    @Inject(databaseConfig.KEY) private readonly place: DatabaseConfig,
  ) {}

  /** Adds a statement that disables other work on a copy; called before the start hooks. */
  alsoOnCopy(statement: Statement): void {
    this.others.push(statement);
  }

  async onApplicationBootstrap(): Promise<void> {
    const { database } = this.journal;
    // Once for all applications of this process that share the database.
    await database.onceOpen(() => database.shared(RunPauseService, () => this.apply()));
  }

  private async apply(): Promise<void> {
    const { origin } = this.journal.database;
    const { isCopy } = origin;
    const recovery = this.config.recovery ?? (isCopy ? 'pause' : 'resume');
    if (isCopy)
      this.logger.warn(`The database was copied or restored from a backup; its open runs ${EFFECT[recovery]}`);
    if (recovery === 'pause') await this.pauseWork();
    await origin.adopt();
  }

  private async pauseWork(): Promise<void> {
    const { origin } = this.journal.database;
    if (origin.isCopy) await this.disableOthers(origin.fence());
    else if (await this.isServed()) return;
    const count = await this.pauseAll(origin.isCopy ? [origin.fence()] : []);
    if (count === 0) return;
    this.logger.warn(
      `${count} open runs wait (restored) until a person releases them: POST /api/runs/release, or /api/runs/{id}/release`,
    );
  }

  private async disableOthers(fence: Statement): Promise<void> {
    try {
      await this.journal.commit([fence, ...this.others]);
    } catch (error) {
      // Another process has adopted the copy.
      if (refusalOf(error) === null) throw error;
    }
  }

  /** Whether other processes execute the runs of the database: one of them writes a heartbeat within a lease. */
  private async isServed(): Promise<boolean> {
    if (!this.place.isShared) return false;
    const before = await this.beats();
    if (before.size === 0) return false;
    await delay(this.config.cluster.leaseMs);
    const isAlive = [...(await this.beats())].some(([id, beat]) => before.get(id) !== beat);
    if (isAlive) this.logger.warn('RECOVERY=pause has no effect: other processes execute the runs of this database');
    return isAlive;
  }

  private async beats(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.journal.database.query<{ id: string; beat: number }>('SELECT id, beat FROM run_node');
    return new Map(rows.map(({ id, beat }) => [id, beat]));
  }

  /** @param fence refuses after another process has adopted the copy, whose runs may be new */
  private async pauseAll(fence: readonly Statement[]): Promise<number> {
    let count = 0;
    for (let after: string | undefined = ''; after !== undefined;) {
      const rows: readonly OpenRow[] = await this.open(after);
      const paused = await Promise.all(rows.map((row) => this.pause(row, fence)));
      count += paused.filter(Boolean).length;
      after = rows.at(-1)?.id;
    }
    return count;
  }

  /** A cancelled run only closes its turn. A waiting run without an expiry does nothing without a person. */
  private open(after: string): Promise<OpenRow[]> {
    return this.journal.database.query(
      `SELECT id, tenant, epoch, status, agent, session_id, session_slot, parent_run_id FROM run
        WHERE id > ? AND cancel_requested_at IS NULL
          AND (status IN ('queued', 'running') OR (status = 'waiting' AND expires_at IS NOT NULL))
        ORDER BY id LIMIT ${PAGE}`,
      [after],
    );
  }

  /** @returns whether the run waits now; another process may have been faster */
  private async pause(row: OpenRow, fence: readonly Statement[]): Promise<boolean> {
    const slot = sessionSlot({ tenant: row.tenant, sessionId: row.session_id });
    try {
      await this.commitPause(row, slot, fence);
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal === null) throw error;
      if (refusal !== 'unique') return false;
      // Another run holds the session; this one continues to queue behind it when it is released.
      if (row.session_slot !== slot) return this.pause({ ...row, session_id: null }, fence);
      return isRefusedAtOnce(error);
    }
    return true;
  }

  private async commitPause(row: OpenRow, slot: string | null, fence: readonly Statement[]): Promise<void> {
    const { id, tenant, epoch, status } = row;
    const now = Date.now();
    const items = await this.items(row, now);
    const sql = `UPDATE run SET status = 'waiting', epoch = epoch + 1, attempts = 0, expires_at = NULL, pending = 1,
        session_slot = COALESCE(session_slot, ?), changed_at = ?
      WHERE id = ? AND epoch = ? AND status = ?`;
    await this.journal.commit([
      ...fence,
      { sql, params: [slot, now, id, epoch, status], rows: 1, changedRun: id },
      ...insertEvents({ id, tenant, epoch: epoch + 1 }, items, this.journal.cipher),
    ]);
  }

  private async items(
    { id, epoch, agent, session_id: sessionId, parent_run_id: parent }: OpenRow,
    at: number,
  ): Promise<RunItem[]> {
    const lineage = parent === null ? null : { parentRunId: parent };
    const started = epoch === 0 ? [startedItem({ id, agent, sessionId, lineage }, at, [])] : [];
    const n = (await this.journal.lastEvent(id)) + started.length + 1;
    return [...started, new RunItem(n, at, waitingEvent(id, [restored(epoch + 1)]))];
  }
}

const EFFECT = { pause: 'wait, as the original may execute them too', resume: 'resume (RECOVERY=resume)' } as const;

/** A request about the run as a whole, not about a call. */
function restored(epoch: number): WaitingRequest {
  return {
    id: `restored:${epoch}`,
    kind: 'restored',
    step: '',
    call_id: '',
    tool: '',
    arguments: '{}',
    reason: 'the database was copied or restored; the original may execute the run, too',
    expires_at: null,
  };
}
