import { parseExactJson } from '../../kernel/index.js';
import { Injectable } from '@nestjs/common';
import { Database } from '../../persistence/index.js';
import { Cipher } from '../../security/index.js';
import { eventPlace } from '../row-place.factory.js';
import type { RunWaiting } from '../run-event.types.js';
import type { WaitingRequest } from './waiting-request.types.js';

const EXPIRY_PAGE = 100;
/** `expires_at` is the first request's expiry of a waiting run, and the deadline of a run that has not started. */
const EXPIRES = `(status = 'waiting' OR (status = 'queued' AND epoch = 0))`;

interface WaitingRow {
  readonly n: number;
  readonly tenant: string;
  readonly data: string;
}

/** Queries for waiting runs and their requests. */
@Injectable()
export class WaitingRunStore {
  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
  ) {}

  /** The open requests of a waiting run: those of its last `run.waiting`, as every answer ends the wait. */
  async requests(runId: string): Promise<readonly WaitingRequest[]> {
    const [row] = await this.database.query<WaitingRow>(
      `SELECT n, tenant, data FROM run_event WHERE run_id = ? AND type = 'run.waiting' ORDER BY n DESC LIMIT 1`,
      [runId],
    );
    return row ? this.requestsIn(runId, row) : [];
  }

  /** Requests of a run that expired without an answer, oldest first. */
  async expiredRequests(runId: string): Promise<readonly WaitingRequest[]> {
    const answers = await this.database.query<{ name: string }>(
      `SELECT name FROM run_step WHERE run_id = ? AND kind = 'answer' AND subject = 'expire'`,
      [runId],
    );
    if (answers.length === 0) return [];
    const rows = await this.database.query<WaitingRow>(
      `SELECT n, tenant, data FROM run_event WHERE run_id = ? AND type = 'run.waiting' ORDER BY n`,
      [runId],
    );
    const requests = rows.flatMap((row) => this.requestsIn(runId, row));
    const byId = new Map(requests.map((request) => [`answer:${request.id}`, request]));
    return answers.flatMap(({ name }) => byId.get(name) ?? []);
  }

  /** Waiting runs with an expired request, and queued runs past their deadline; the longest overdue first. */
  async expired(now: number): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(
      `SELECT id FROM run WHERE ${EXPIRES} AND expires_at <= ? ORDER BY expires_at LIMIT ${EXPIRY_PAGE}`,
      [now],
    );
    return rows.map(({ id }) => id);
  }

  /** Up to 100 waiting runs of a tenant, in the order of their ids, which is that of their starts. */
  async ofTenant(tenant: string, after: string): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(
      `SELECT id FROM run WHERE status = 'waiting' AND tenant = ? AND id > ? ORDER BY id LIMIT ${EXPIRY_PAGE}`,
      [tenant, after],
    );
    return rows.map(({ id }) => id);
  }

  private requestsIn(runId: string, { n, tenant, data }: WaitingRow): readonly WaitingRequest[] {
    const json = this.cipher.open(data, eventPlace(tenant, runId, n));
    // A run that waited before requests existed can only be cancelled.
    return (parseExactJson(json) as Partial<RunWaiting>).requests ?? [];
  }

  /** The next expiry after a time, in epoch ms. */
  async nextExpiry(after: number): Promise<number | null> {
    const [row] = await this.database.query<{ at: number | null }>(
      `SELECT MIN(expires_at) AS at FROM run WHERE ${EXPIRES} AND expires_at > ?`,
      [after],
    );
    return row?.at ?? null;
  }
}
