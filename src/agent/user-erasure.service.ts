import { Injectable } from '@nestjs/common';
import { withLongCalls } from '../persistence/index.js';
import { AppError, Log } from '../errors/index.js';
import { type Principal } from '../kernel/index.js';
import { RunEraseStore } from '../run/index.js';
import { FactMemory, SessionAdminService, TurnErasureService } from '../session/index.js';
import { ToolStateAdminService } from '../tool-state/index.js';
import { ErasureRemainsService, type Remainder } from './erasure-remains.service.js';

/** Numbers of deleted items. */
export interface Erasure {
  readonly sessions: number;
  readonly runs: number;
  /** Turns in sessions of other users. */
  readonly turns: number;
  /** Data of the user that remain. */
  readonly remaining: Remainder[];
}

/** Deletes further data of a user, and returns their number. */
export type UserEraser = (tenant: string, userId: string) => Promise<number>;

/** Maximum number of run ids in an error. */
const NAMED = 20;

/**
 * Erases a user's data: sessions that the user started, turns in sessions of others, runs, schedules, tool states and facts.
 */
@Injectable()
export class UserErasureService {
  private readonly logger = new Log(UserErasureService.name);
  private readonly others: UserEraser[] = [];

  constructor(
    private readonly runs: RunEraseStore,
    private readonly sessions: SessionAdminService,
    private readonly facts: FactMemory,
    private readonly turns: TurnErasureService,
    private readonly states: ToolStateAdminService,
    private readonly remains: ErasureRemainsService,
  ) {}

  /** Adds data of a module above this one. */
  also(erase: UserEraser): void {
    this.others.push(erase);
  }

  /**
   * @param principal the caller; only users of the same tenant can be erased
   * @param userId a principal's id
   * @throws AppError `NOT_FOUND` when the user has no data; `SESSION_BUSY` naming unfinished runs of the user, before
   *   anything is deleted; `SESSION_BUSY` with the number of sessions that runs of others still hold, after the rest is
   *   deleted
   */
  erase(principal: Principal, userId: string): Promise<Erasure> {
    return withLongCalls(() => this.eraseAll(principal, userId));
  }

  private async eraseAll(principal: Principal, userId: string): Promise<Erasure> {
    const { tenant } = principal;
    const { ended, open } = await this.runs.ofPrincipal(tenant, userId);
    if (open.length > 0) {
      throw new AppError(
        'SESSION_BUSY',
        `${open.length} runs of "${userId}" have not ended: cancel them, or wait for their end, and ask again.`,
        { isRetryable: true, details: { run_ids: open.slice(0, NAMED) } },
      );
    }
    let others = await this.runs.eraseGivenBy(tenant, userId);
    for (const erase of this.others) others += await erase(tenant, userId);
    const records = await this.remains.records(tenant, userId, ended);
    const hasFacts = await this.hasFacts(tenant, userId);
    await this.facts.eraseUser(tenant, userId);
    // Includes sessions that are active now.
    const { deleted: sessions, held } = await this.sessions.prune(principal, Number.MAX_SAFE_INTEGER, userId);
    const turns = await this.turns.eraseRuns(tenant, ended);
    const states = await this.states.eraseUser(tenant, userId, ended);
    // Runs are erased last: a repeated request finds the remaining data through them.
    const runs = await this.runs.erase(tenant, ended, this.remains.definitions());
    // Also purges without new deletions: after a crash, the files may still contain deleted data.
    await this.purge();
    const remaining = [...records, ...(await this.remains.copies())];
    if (held > 0) {
      throw new AppError(
        'SESSION_BUSY',
        `All data of "${userId}" are deleted except ${held} sessions, in which runs of other users have not ended: repeat the request when they have ended.`,
        { isRetryable: true, details: { sessions, runs, turns, held, remaining } },
      );
    }
    if (hasFacts || others + sessions + runs + states + records.length > 0) return { sessions, runs, turns, remaining };
    throw new AppError('NOT_FOUND', `There are no data of a user "${userId}".`);
  }

  /** An unreadable fact, such as one of a retired key, does not block the erasure. */
  private async hasFacts(tenant: string, user: string): Promise<boolean> {
    return this.facts.list({ tenant, user }, { limit: 1 }).then(
      ({ length }) => length > 0,
      (error: unknown) => {
        this.logger.warn(
          { tenant, user, error },
          'Reading the facts of a user failed; the erasure deletes them unread',
        );
        return true;
      },
    );
  }

  /** The journal's files are purged last, because they contain the pending work of the other stores. */
  private async purge(): Promise<void> {
    await this.turns.purge();
    await this.states.purge();
    await this.runs.purge();
  }
}
