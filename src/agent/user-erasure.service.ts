import { Injectable } from '@nestjs/common';
import { AppError, type Principal } from '../common/index.js';
import { RunEraseStore } from '../run/index.js';
import { FactMemory, SessionKeeper, TurnErasureService } from '../session/index.js';
import { ToolStateKeeper } from '../tool/index.js';
import { AgentRegistry } from './agent.registry.js';

/** How much was deleted. */
export interface Erasure {
  readonly sessions: number;
  readonly runs: number;
  /** In sessions that others began. */
  readonly turns: number;
}

/** Run ids that an error names at most. */
const NAMED = 20;

/** Forgets a user: the sessions that the user began, what the user said in those of others, all that the user's runs have recorded, and what agents kept in mind. */
@Injectable()
export class UserErasureService {
  constructor(
    private readonly runs: RunEraseStore,
    private readonly sessions: SessionKeeper,
    private readonly facts: FactMemory,
    private readonly turns: TurnErasureService,
    private readonly agents: AgentRegistry,
    private readonly states: ToolStateKeeper,
  ) {}

  /**
   * @param principal who asks; only users of the same tenant are there
   * @param userId a principal's id
   * @throws AppError `NOT_FOUND` when there is nothing of such a user, `SESSION_BUSY` naming runs of the user that have not ended, when nothing
   *   was deleted, or telling that sessions are left, which runs of others hold
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
    // Also those in which something happens at this moment.
    const { deleted: sessions, held } = await this.sessions.prune(principal, Number.MAX_SAFE_INTEGER, userId);
    const turns = await this.turns.eraseRuns(tenant, ended);
    const states = await this.states.eraseUser(tenant, userId, ended);
    // Last: whatever is left finds what else there is.
    const runs = await this.runs.erase(tenant, ended, this.agents.hashes());
    // Also where nothing was left: who asks again after a crash had something deleted that is still in the files.
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

  /** The journal's own files come last: what is still to be done elsewhere is in them until it is. */
  private async purge(): Promise<void> {
    await this.turns.purge();
    await this.states.purge();
    await this.runs.purge();
  }
}
