import { Injectable } from '@nestjs/common';
import type { Principal } from '../kernel/index.js';
import { Database } from '../persistence/index.js';
import { Ownership } from '../security/index.js';
import type { ContextKey } from './tool-state.types.js';

/** The session of a context without a session is its run. */
const OF_RUN = 'run:';

/**
 * Owners of tool states: a state belongs to the owner of its session, or of its run. Both are in the journal's database,
 * wherever the states are.
 */
@Injectable()
export class ContextOwners {
  constructor(
    private readonly database: Database,
    private readonly ownership: Ownership,
  ) {}

  /** Whether the principal may see the states of this session or run. */
  async isVisible(principal: Principal, key: Pick<ContextKey, 'tenant' | 'session'>): Promise<boolean> {
    if (key.tenant !== principal.tenant) return false;
    const limit = this.ownership.limitOf(principal);
    return limit === null || (await this.ownerOf(key)) === limit;
  }

  /** Whether the session exists and the principal may see it. */
  async isOwnSession(principal: Principal, session: string): Promise<boolean> {
    const { tenant } = principal;
    const limit = this.ownership.limitOf(principal);
    const owner = await this.ownerOf({ tenant, session });
    return owner !== null && (limit === null || owner === limit);
  }

  /** Whether the session is one of another owner, so that the principal may not use it; false if it does not exist. */
  async isOfOther(principal: Principal, session: string): Promise<boolean> {
    const limit = this.ownership.limitOf(principal);
    const owner = limit === null ? null : await this.ownerOf({ tenant: principal.tenant, session });
    return owner !== null && owner !== limit;
  }

  /** All sessions and unfinished runs whose states the principal may see; `null` if it sees those of all. */
  async sessionsOf(principal: Principal): Promise<string[] | null> {
    if (this.ownership.limitOf(principal) === null) return null;
    const own = this.ownership.filter(principal, 'owner');
    const started = this.ownership.filter(principal, 'principal_id');
    const [sessions, runs] = await Promise.all([
      this.database.query<{ id: string }>(`SELECT id FROM session WHERE ${own.sql}`, own.params),
      this.database.query<{ id: string }>(
        `SELECT id FROM run WHERE ${started.sql} AND session_id IS NULL AND finished_at IS NULL`,
        started.params,
      ),
    ]);
    return [...sessions.map(({ id }) => id), ...runs.map(({ id }) => OF_RUN + id)];
  }

  private async ownerOf({ tenant, session }: Pick<ContextKey, 'tenant' | 'session'>): Promise<string | null> {
    const isOfRun = session.startsWith(OF_RUN);
    const from = isOfRun ? 'principal_id AS owner FROM run' : 'owner FROM session';
    const sql = `SELECT ${from} WHERE tenant = ? AND id = ?`;
    const id = isOfRun ? session.slice(OF_RUN.length) : session;
    const [row] = await this.database.query<{ owner: string | null }>(sql, [tenant, id]);
    return row?.owner ?? null;
  }
}
