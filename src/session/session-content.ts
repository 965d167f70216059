import { Injectable } from '@nestjs/common';
import type { Statement } from '../persistence/index.js';
import { type StatesEnd, ToolStateAdminService } from '../tool-state/index.js';
import { SummaryStore } from './memory/summary.store.js';
import { SessionFiles } from './files/session-files.service.js';
import type { SessionKey } from './session.types.js';
import { TurnStore } from './turns/turn-store.js';

/** Deletes the content of sessions. */
@Injectable()
export class SessionContent {
  constructor(
    private readonly turns: TurnStore,
    private readonly summaries: SummaryStore,
    private readonly states: ToolStateAdminService,
    readonly files: SessionFiles,
  ) {}

  /** Deletes the turns up to a number, all summaries and imported files. */
  withoutTurns(key: SessionKey, through: number): Statement[] {
    return [...this.turns.remove(key, through), this.summaries.remove(key), this.files.remove(key)];
  }

  /** Deletes the tool states of the session. */
  withoutStates({ tenant, id }: SessionKey): Promise<StatesEnd> {
    return this.states.forgetting(tenant, id);
  }
}
