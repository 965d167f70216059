import { Injectable } from '@nestjs/common';
import type { Statement } from '../persistence/statement/index.js';
import { withoutApprovals } from '../tool-policy/index.js';
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

  /** Deletes the turns up to a number, all summaries, imported files and approvals of later calls. */
  withoutTurns(key: SessionKey, through: number): Statement[] {
    return [
      ...this.turns.remove(key, through),
      this.summaries.remove(key),
      this.files.remove(key),
      withoutApprovals(key.tenant, key.id),
    ];
  }

  /** Deletes the tool states of the session. */
  withoutStates({ tenant, id }: SessionKey): Promise<StatesEnd> {
    return this.states.forgetting(tenant, id);
  }
}
