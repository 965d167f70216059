import type { Principal } from '../../kernel/index.js';
import { Injectable } from '@nestjs/common';
import { Database } from '../../persistence/index.js';
import type { SqlValue } from '../../persistence/statement/index.js';
import { Ownership } from '../../security/index.js';
import { Cipher } from '../../security/encryption/index.js';
import { eventPlace } from '../run-record.mapper.js';
import type { RunWaiting } from '../event/run-event.types.js';
import type { WaitingRequest } from './waiting-request.types.js';

const EXPIRY_PAGE = 100;
/** `expires_at` is the first request's expiry of a waiting run, and the deadline of a run that has not started. */
const EXPIRES = `(status = 'waiting' OR (status = 'queued' AND epoch = 0))`;

interface WaitingRow {
  readonly n: number;
  readonly tenant: string;
  readonly data: string;
}

/** A waiting run in a list. Times are epoch ms. */
export interface ListedWait {
  readonly id: string;
  readonly agent: string;
  readonly sessionId: string | null;
  /** Id of the principal that started the run; `null` for a run without an owner. */
  readonly owner: string | null;
  readonly createdAt: number;
  readonly since: number;
  readonly requests: readonly WaitingRequest[];
}

interface WaitRow extends WaitingRow {
  readonly id: string;
  readonly agent: string;
  readonly session_id: string | null;
  readonly principal_id: string | null;
  readonly created_at: number;
  readonly since: number;
}

/** Queries for waiting runs and their requests. */
@Injectable()
export class WaitingRunStore {
  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
    private readonly ownership: Ownership,
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

  /** Up to 100 waiting runs of all tenants, in the order of their ids. */
  async ofAll(after: string): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(
      `SELECT id FROM run WHERE status = 'waiting' AND id > ? ORDER BY id LIMIT ${EXPIRY_PAGE}`,
      [after],
    );
    return rows.map(({ id }) => id);
  }

  /** Waiting runs that a principal may see, with their open requests, in the order of their starts. */
  async list(
    principal: Principal,
    { agent, after = '' }: { readonly agent?: string | undefined; readonly after?: string | undefined },
    limit: number,
  ): Promise<readonly ListedWait[]> {
    // `COALESCE` keeps SQLite, which has no statistics, from reading all runs of the owner or of the agent.
    const visible = this.ownership.filter(principal, "COALESCE(principal_id, '')");
    const params: SqlValue[] = [...visible.params, after];
    if (agent !== undefined) params.push(agent);
    const rows = await this.database.query<WaitRow>(
      `SELECT r.id AS id, r.agent AS agent, r.session_id AS session_id, r.principal_id AS principal_id,
          r.created_at AS created_at, e.created_at AS since, e.n AS n, e.tenant AS tenant, e.data AS data
        FROM (SELECT id, agent, session_id, principal_id, created_at FROM run
          WHERE status = 'waiting' AND ${visible.sql} AND id > ?${agent === undefined ? '' : " AND COALESCE(agent, '') = ?"}
          ORDER BY id LIMIT ?) r
        JOIN run_event e ON e.run_id = r.id
          AND e.n = (SELECT MAX(w.n) FROM run_event w WHERE w.run_id = r.id AND w.type = 'run.waiting')
        ORDER BY r.id`,
      [...params, limit],
    );
    return rows.map((row) => ({
      id: row.id,
      agent: row.agent,
      sessionId: row.session_id,
      owner: row.principal_id,
      createdAt: row.created_at,
      since: row.since,
      requests: this.readableRequests(row),
    }));
  }

  /** Damaged requests do not hide those of other runs: the page of the run reports the damage. */
  private readableRequests(row: WaitRow): readonly WaitingRequest[] {
    try {
      return this.requestsIn(row.id, row);
    } catch (error) {
      if (!Cipher.isDamage(error)) throw error;
      return [];
    }
  }

  private requestsIn(runId: string, { n, tenant, data }: WaitingRow): readonly WaitingRequest[] {
    const event = this.cipher.openJson(data, eventPlace(tenant, runId, n)) as Partial<RunWaiting>;
    // A run that waited before requests existed can only be cancelled.
    return event.requests ?? [];
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
