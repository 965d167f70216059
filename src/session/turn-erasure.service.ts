import { Injectable } from '@nestjs/common';
import { Database, refusalOf } from '../persistence/index.js';
import { SummaryStore } from './memory/summary.store.js';
import { SessionStore, type SessionPlace } from './session-store.js';
import type { SessionKey } from './session.types.js';
import { TurnStore } from './turns/turn-store.js';

const PAGE = 100;

/** Takes turns out of sessions that stay: those of a user who is to be forgotten. */
@Injectable()
export class TurnErasureService {
  constructor(
    private readonly database: Database,
    private readonly sessions: SessionStore,
    private readonly turns: TurnStore,
    private readonly summaries: SummaryStore,
  ) {}

  /**
   * Removes what runs have said in whatever session of the tenant, branches and imported copies as well, and the
   * summaries that may tell of it.
   * @returns how many turns
   */
  async eraseRuns(tenant: string, runIds: readonly string[]): Promise<number> {
    if (runIds.length === 0) return 0;
    const gone = new Set(runIds);
    let erased = 0;
    for (const id of (await this.turns.sessionsOf(tenant, runIds)) ?? (await this.allOf(tenant)))
      erased += await this.eraseIn({ tenant, id }, gone);
    return erased;
  }

  /** Has nothing left of it in a store beside the journal's database, as far as that can be reached now. */
  purge(): Promise<void> {
    return this.turns.purge();
  }

  private async eraseIn(key: SessionKey, gone: ReadonlySet<string>): Promise<number> {
    const found: number[] = [];
    let messages = 0;
    for (let after = 0; ;) {
      const page = await this.turns.after(key, after, PAGE);
      for (const turn of page) {
        if (!gone.has(turn.runId)) continue;
        found.push(turn.turn);
        messages += turn.messages.length;
      }
      if (page.length < PAGE) break;
      after = page.at(-1)!.turn;
    }
    if (found.length === 0) return 0;
    try {
      const removed = [...this.turns.drop(key, found), this.summaries.remove(key)];
      await this.database.commit([this.sessions.shrink(key, messages), ...removed]);
      return found.length;
    } catch (error) {
      // Deleted meanwhile, with every turn.
      if (refusalOf(error) !== 'rows') throw error;
      return 0;
    }
  }

  private async allOf(tenant: string): Promise<string[]> {
    const all: string[] = [];
    for (let after: SessionPlace | undefined; ;) {
      const page = await this.sessions.list(tenant, PAGE, after);
      all.push(...page.map(({ id }) => id));
      if (page.length < PAGE) return all;
      after = page.at(-1)!;
    }
  }
}
