import { Injectable } from '@nestjs/common';
import { Database, refusalOf } from '../persistence/index.js';
import { withoutApprovalsOf } from '../tool-policy/index.js';
import { SummaryStore } from './memory/summary.store.js';
import { SessionStore, type SessionPlace } from './session-store.js';
import { SessionFiles } from './files/session-files.service.js';
import type { SessionKey } from './session.types.js';
import { TurnStore } from './turns/turn-store.js';

const PAGE = 100;

/** Removes the turns of an erased user from sessions that remain. */
@Injectable()
export class TurnErasureService {
  constructor(
    private readonly database: Database,
    private readonly sessions: SessionStore,
    private readonly turns: TurnStore,
    private readonly summaries: SummaryStore,
    private readonly files: SessionFiles,
  ) {}

  /**
   * Removes the turns of these runs from all sessions of the tenant, including branches and imported copies. Also
   * removes summaries that may contain them, and approvals of later calls in these runs.
   * @returns the number of removed turns
   */
  async eraseRuns(tenant: string, runIds: readonly string[]): Promise<number> {
    if (runIds.length === 0) return 0;
    await this.database.commit(withoutApprovalsOf(tenant, runIds));
    const gone = new Set(runIds);
    let erased = 0;
    for (const id of (await this.turns.sessionsOf(tenant, runIds)) ?? (await this.allOf(tenant)))
      erased += await this.eraseIn({ tenant, id }, gone);
    return erased;
  }

  /** Purges removed turns from a separate store, as far as it is reachable now. */
  purge(): Promise<void> {
    return this.turns.purge();
  }

  private async eraseIn(key: SessionKey, gone: ReadonlySet<string>): Promise<number> {
    const found: number[] = [];
    const goneHere = new Set<string>();
    let messages = 0;
    for (let after = 0; ;) {
      const page = await this.turns.after(key, after, PAGE);
      for (const turn of page) {
        if (!gone.has(turn.runId)) continue;
        found.push(turn.turn);
        goneHere.add(turn.runId);
        messages += turn.messages.length;
      }
      if (page.length < PAGE) break;
      after = page.at(-1)!.turn;
    }
    if (found.length === 0) return 0;
    try {
      const files = [...goneHere].map((runId) => this.files.remove(key, runId));
      const removed = [...this.turns.drop(key, found), this.summaries.remove(key), ...files];
      await this.database.commit([this.sessions.shrink(key, messages), ...removed]);
      return found.length;
    } catch (error) {
      // The session was deleted meanwhile, with all its turns.
      if (refusalOf(error) !== 'rows') throw error;
      return 0;
    }
  }

  private async allOf(tenant: string): Promise<string[]> {
    const all: string[] = [];
    for (let after: SessionPlace | undefined; ;) {
      const page = await this.sessions.listAll(tenant, PAGE, after);
      all.push(...page.map(({ id }) => id));
      if (page.length < PAGE) return all;
      after = page.at(-1)!;
    }
  }
}
