import { Injectable } from '@nestjs/common';
import type { Statement } from '../persistence/index.js';
import { ToolStateKeeper, type StatesEnd } from '../tool/index.js';
import { SummaryStore } from './memory/summary.store.js';
import type { SessionKey } from './session.types.js';
import { TurnStore } from './turns/turn-store.js';

/** All that is in a session, as far as it is to be forgotten. */
@Injectable()
export class SessionContent {
  constructor(
    private readonly turns: TurnStore,
    private readonly summaries: SummaryStore,
    private readonly states: ToolStateKeeper,
  ) {}

  /** Forgets what was said up to a turn. */
  withoutTurns(key: SessionKey, through: number): Statement[] {
    return [...this.turns.remove(key, through), this.summaries.remove(key)];
  }

  /** Forgets what tools keep for it. */
  withoutStates({ tenant, id }: SessionKey): Promise<StatesEnd> {
    return this.states.forgetting(tenant, id);
  }
}
