import { Injectable } from '@nestjs/common';
import type { Statement } from '../persistence/index.js';
import { ToolStateAdminService, type StatesEnd } from '../tool/index.js';
import { SummaryStore } from './memory/summary.store.js';
import type { SessionKey } from './session.types.js';
import { TurnStore } from './turns/turn-store.js';

/** Deletes the content of sessions. */
@Injectable()
export class SessionContent {
  constructor(
    private readonly turns: TurnStore,
    private readonly summaries: SummaryStore,
    private readonly states: ToolStateAdminService,
  ) {}

  /** Deletes the turns up to a number, and all summaries. */
  withoutTurns(key: SessionKey, through: number): Statement[] {
    return [...this.turns.remove(key, through), this.summaries.remove(key)];
  }

  /** Deletes the tool states of the session. */
  withoutStates({ tenant, id }: SessionKey): Promise<StatesEnd> {
    return this.states.forgetting(tenant, id);
  }
}
