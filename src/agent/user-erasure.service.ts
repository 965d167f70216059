import { Injectable } from '@nestjs/common';
import { AppError, type Principal } from '../common/index.js';
import { RunEraseStore } from '../run/index.js';
import { FactMemory, SessionAdminService, TurnErasureService } from '../session/index.js';
import { ToolStateAdminService } from '../tool/index.js';
import { AgentRegistry } from './agent.registry.js';

/** Numbers of deleted items. */
export interface Erasure {
  readonly sessions: number;
  readonly runs: number;
  /** Turns in sessions of other users. */
  readonly turns: number;
}

/** Maximum number of run ids in an error. */
const NAMED = 20;

/**
 * Erases a user's data: sessions that the user started, turns in sessions of others, runs, tool states and facts.
 */
@Injectable()
export class UserErasureService {
  constructor(
    private readonly runs: RunEraseStore,
    private readonly sessions: SessionAdminService,
    private readonly facts: FactMemory,
    private readonly turns: TurnErasureService,
    private readonly agents: AgentRegistry,
    private readonly states: ToolStateAdminService,
  ) {}

  /**
   * @param principal the caller; only users of the same tenant can be erased
   * @param userId a principal's id
   * @throws AppError `NOT_FOUND` when the user has no data; `SESSION_BUSY` naming unfinished runs of the user, before
   *   anything is deleted; `SESSION_BUSY` with the number of sessions that runs of others still hold, after the rest is
   *   deleted
   */
  async erase(principal: Principal, userId: string): Promise<Erasure> {
    const { tenant } = principal;
    const { ended, open } = await this.runs.ofPrincipal(tenant, userId);
    if (open.length > 0) {
      throw new AppError(
        'SESSION_BUSY',
        `${open.length} runs of "${userId}" have not ended: cancel them, or wait for their end, and ask again.`,
        { isRetryable: true, details: { run_ids: open.slice(0, NAMED) } },
      );
    }
    const remembered = await this.facts.list({ tenant, user: userId }, { limit: 1 });
    await this.facts.eraseUser(tenant, userId);
    // Includes sessions that are active now.
    const { deleted: sessions, held } = await this.sessions.prune(principal, Number.MAX_SAFE_INTEGER, userId);
    const turns = await this.turns.eraseRuns(tenant, ended);
    const states = await this.states.eraseUser(tenant, userId, ended);
    // Runs are erased last: a repeated request finds the remaining data through them.
    const runs = await this.runs.erase(tenant, ended, this.agents.hashes());
    // Also purges without new deletions: after a crash, the files may still contain deleted data.
    await this.purge();
    if (held > 0) {
      throw new AppError(
        'SESSION_BUSY',
        `All of "${userId}" is deleted but ${held} sessions, in which runs of others have not ended: ask again when they have.`,
        { isRetryable: true, details: { sessions, runs, turns, held } },
      );
    }
    if (sessions + runs + states + remembered.length > 0) return { sessions, runs, turns };
    throw new AppError('NOT_FOUND', `There is nothing of a user "${userId}".`);
  }

  /** The journal's files are purged last, because they contain the pending work of the other stores. */
  private async purge(): Promise<void> {
    await this.turns.purge();
    await this.states.purge();
    await this.runs.purge();
  }
}
