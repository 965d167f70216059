import { Injectable } from '@nestjs/common';
import { Database, inLists } from '../../persistence/index.js';
import { Cipher } from '../../security/encryption/index.js';
import { compareStepNames } from '../fork/step-name.parser.js';
import { FILE_STEP, toFileMark } from '../files/run-file.mapper.js';
import { eventPlace, stepPlace } from '../run-record.mapper.js';

/** A step with its position in the run. Times are epoch ms. */
export interface AuditedStep {
  /** Counted from 1, in the order of the loop. */
  readonly position: number;
  readonly name: string;
  readonly kind: string;
  readonly subject: string;
  /** JSON text; of a file only its metadata. */
  readonly result: string;
  /** The execution (epoch) that recorded the step; 0 for a copy from another run. */
  readonly epoch: number;
  readonly createdAt: number;
  /** `null` for a step without an action, and for steps of earlier versions; as the next two. */
  readonly startedAt: number | null;
  /** Time to the first text of a streamed reply, in ms. */
  readonly firstTokenMs: number | null;
  /** Requests to providers for a reply, with retries and fallbacks. */
  readonly attempts: number | null;
}

/** An event with its number. Times are epoch ms. */
export interface AuditedEvent {
  readonly n: number;
  readonly type: string;
  /** JSON text. */
  readonly data: string;
  readonly createdAt: number;
}

type TimeName = 'createdAt' | 'startedAt' | 'firstTokenMs';

interface StepRow extends Omit<AuditedStep, 'position' | TimeName> {
  readonly tenant: string;
  readonly created_at: number;
  readonly started_at: number | null;
  readonly first_token_ms: number | null;
}

interface EventRow extends Omit<AuditedEvent, 'createdAt'> {
  readonly tenant: string;
  readonly created_at: number;
}

/** Reads a journal page by page, as stored. */
@Injectable()
export class RunAuditStore {
  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
  ) {}

  /** Up to `limit` steps after the position `after`, in the order of the loop. */
  async steps(runId: string, after: number, limit: number): Promise<AuditedStep[]> {
    const all = await this.database.query<{ name: string }>('SELECT name FROM run_step WHERE run_id = ?', [runId]);
    const names = all
      .map(({ name }) => name)
      .toSorted(compareStepNames)
      .slice(after, after + limit);
    const rows = await this.stepRows(runId, names);
    return names.flatMap((name, i) => {
      const row = rows.get(name);
      if (!row) return [];
      const { created_at, started_at, first_token_ms, tenant, ...step } = row;
      const result =
        step.kind === FILE_STEP
          ? JSON.stringify(toFileMark(step.subject))
          : this.cipher.open(step.result, stepPlace(tenant, runId, name));
      const times = { createdAt: created_at, startedAt: started_at, firstTokenMs: first_token_ms };
      return [{ position: after + i + 1, ...step, result, ...times }];
    });
  }

  /** The recorded result of a step, as JSON text; undefined if the step is not recorded. */
  async result(runId: string, name: string): Promise<string | undefined> {
    const row = (await this.stepRows(runId, [name])).get(name);
    return row && this.cipher.open(row.result, stepPlace(row.tenant, runId, name));
  }

  /** Up to `limit` events after the number `after`, in order. */
  async events(runId: string, after: number, limit: number): Promise<AuditedEvent[]> {
    const rows = await this.database.query<EventRow>(
      'SELECT n, tenant, type, data, created_at FROM run_event WHERE run_id = ? AND n > ? ORDER BY n LIMIT ?',
      [runId, after, limit],
    );
    return rows.map(({ n, tenant, type, data, created_at }) => ({
      n,
      type,
      data: this.cipher.open(data, eventPlace(tenant, runId, n)),
      createdAt: created_at,
    }));
  }

  private async stepRows(runId: string, names: readonly string[]): Promise<ReadonlyMap<string, StepRow>> {
    const pages = inLists(names).map(({ marks, params }) =>
      this.database.query<StepRow>(
        `SELECT name, tenant, kind, subject, CASE WHEN kind = ? THEN '' ELSE result END AS result, epoch,
            created_at, started_at, first_token_ms, attempts
          FROM run_step WHERE run_id = ? AND name IN (${marks})`,
        [FILE_STEP, runId, ...params],
      ),
    );
    return new Map((await Promise.all(pages)).flat().map((row) => [row.name, row]));
  }
}
