import { Injectable } from '@nestjs/common';
import { Database, inLists } from '../../persistence/index.js';
import type { Statement } from '../../persistence/statement/index.js';
import type { Cipher } from '../../security/encryption/index.js';
import { stepPlace, toSubject } from '../run-record.mapper.js';
import type { RunEvent, ToolStarted } from '../event/run-event.types.js';
import type { RunItem } from '../event/run-item.factory.js';
import type { RunRecord } from '../run.types.js';
import { RunJournal } from '../run-journal.js';
import { SealedCopyStore } from './sealed-copy.store.js';
import type { CallMark, EventMark, RunMarks } from './run-fork.types.js';

/**
 * Reads a run's records and writes copies, byte-exact. Rows are copied within the database; rows encrypted for their
 * run are decrypted and encrypted again in this process.
 */
@Injectable()
export class RunForkStore {
  constructor(
    private readonly database: Database,
    private readonly journal: RunJournal,
    private readonly sealed: SealedCopyStore,
  ) {}

  get cipher(): Cipher {
    return this.journal.cipher;
  }

  /**
   * Steps and events of a run. Reads the steps first: each step in the result then has its events, even if the run
   * continues meanwhile.
   */
  async marks(runId: string): Promise<RunMarks> {
    const sql = 'SELECT name, created_at AS at FROM run_step WHERE run_id = ?';
    const steps = await this.database.query<{ name: string; at: number }>(sql, [runId]);
    return { steps, events: await this.eventMarks(runId) };
  }

  /** The JSON text of a step's result; `null` if it is not recorded. */
  async result(runId: string, step: string): Promise<string | null> {
    const sql = 'SELECT tenant, result FROM run_step WHERE run_id = ? AND name = ?';
    const [row] = await this.database.query<{ tenant: string; result: string }>(sql, [runId, step]);
    return row ? this.cipher.open(row.result, stepPlace(row.tenant, runId, step)) : null;
  }

  /** Results of a tool's calls in earlier runs of a run's session, the last first; as JSON text. */
  async earlierCalls({ tenant, sessionId, createdAt }: RunRecord, tool: string, limit: number): Promise<string[]> {
    const rows = await this.database.query<{ run_id: string; name: string; result: string }>(
      `SELECT run_step.run_id, run_step.name, run_step.result FROM run JOIN run_step ON run_step.run_id = run.id
        WHERE run.tenant = ? AND run.session_id = ? AND run.created_at < ?
          AND run_step.kind = 'tool' AND run_step.subject = ?
        ORDER BY run_step.created_at DESC LIMIT ?`,
      [tenant, sessionId, createdAt, toSubject(tool), limit],
    );
    return rows.map(({ run_id, name, result }) => this.cipher.open(result, stepPlace(tenant, run_id, name)));
  }

  /**
   * Copies steps into another run of the same tenant; refused when one of them no longer exists.
   * @param modelSubject new subject of the copied model steps; default: unchanged
   */
  async copySteps(from: string, to: string, names: readonly string[], modelSubject?: string): Promise<Statement[]> {
    if (this.cipher.head !== null) return this.sealed.steps(from, to, names, modelSubject);
    const subject = modelSubject === undefined ? 'subject' : `CASE WHEN kind = 'model' THEN ? ELSE subject END`;
    const subjects = modelSubject === undefined ? [] : [modelSubject];
    return inLists(names).map(({ marks, params, size }) => ({
      sql: `INSERT INTO run_step (run_id, name, tenant, kind, subject, result, epoch, created_at, started_at, first_token_ms, attempts, request_hash)
        SELECT ?, name, tenant, kind, ${subject}, result, 0, created_at, started_at, first_token_ms, attempts, request_hash FROM run_step
        WHERE run_id = ? AND name IN (${marks})`,
      params: [to, ...subjects, from, ...params],
      rows: size,
    }));
  }

  /** Copies events into another run, numbered from `after` + 1; refused when one of them no longer exists. */
  async copyEvents(from: string, to: string, numbers: readonly number[], after: number): Promise<Statement[]> {
    if (this.cipher.head !== null) return this.sealed.events(from, to, numbers, after);
    let last = after;
    return inLists(numbers).map(({ marks, params, size }) => {
      const offset = last;
      last += size;
      return {
        sql: `INSERT INTO run_event (run_id, n, tenant, type, data, created_at)
          SELECT ?, ? + ROW_NUMBER() OVER (ORDER BY n), tenant, type, data, created_at FROM run_event
          WHERE run_id = ? AND n IN (${marks})`,
        params: [to, offset, from, ...params],
        rows: size,
      };
    });
  }

  private async eventMarks(runId: string): Promise<EventMark[]> {
    const marks: EventMark[] = [];
    for (let page = await this.journal.events(runId, 0); page.length > 0;) {
      marks.push(...page.map(toMark));
      page = await this.journal.events(runId, page.at(-1)!.place.n);
    }
    return marks;
  }
}

function toMark({ place, at, event }: RunItem): EventMark {
  const { iteration, call_id, tool_calls } = event as Partial<Extract<RunEvent, { type: 'message.completed' }>> & {
    readonly call_id?: string;
  };
  return {
    n: place.n,
    at,
    type: event.type,
    iteration: iteration ?? null,
    callId: call_id ?? null,
    calls: event.type === 'message.completed' ? (tool_calls ?? []) : null,
    started: event.type === 'tool.started' ? startedCall(event) : null,
  };
}

function startedCall({ call_id: id, tool: name, arguments: args }: ToolStarted): CallMark {
  return { id, name, arguments: args };
}
