import { Injectable } from '@nestjs/common';
import { AgentService, type GivenConversation } from '../agent/index.js';
import { AppError } from '../errors/index.js';
import type { Principal } from '../kernel/index.js';
import { RunService } from '../run/index.js';
import { isTerminal } from '../run/event/index.js';
import { type DataFact, factsOfEnd, mergeFacts } from '../run/facts/index.js';
import type { ClientMessage } from './client-conversation.js';

/** Runs of a history whose data facts are read; results of further runs count as results of unknown origin. */
const MAX_RUNS = 50;

/** Finds the origin of the results in a history: the runs that their calls name. */
@Injectable()
export class ClientOriginService {
  constructor(
    private readonly agents: AgentService,
    private readonly runs: RunService,
  ) {}

  /**
   * The facts of the data in the results that a history attributes to this server. A result that no ended run of the
   * caller has is foreign.
   * @param runOf the run that the id of a call names
   */
  async of(
    principal: Principal,
    messages: readonly ClientMessage[],
    runOf: (callId: string) => string | undefined,
  ): Promise<Pick<GivenConversation, 'facts' | 'hasForeignResults'>> {
    const results = messages.filter(({ role, isServer }) => role === 'tool' && isServer);
    const runIds = new Set(results.map(({ callId = '' }) => runOf(callId)));
    const foreign = { hasForeignResults: true } as const;
    if (runIds.size > MAX_RUNS) return foreign;
    let facts: readonly DataFact[] = [];
    for (const runId of runIds) {
      const found = runId === undefined ? undefined : await this.factsOf(principal, runId);
      if (!found) return foreign;
      facts = mergeFacts(facts, found);
    }
    return facts.length > 0 ? { facts } : {};
  }

  private async factsOf(principal: Principal, runId: string): Promise<readonly DataFact[] | undefined> {
    try {
      await this.runs.get(principal, runId);
    } catch (error) {
      if (error instanceof AppError && (error.code === 'RUN_NOT_FOUND' || error.code === 'RUN_PRUNED'))
        return undefined;
      throw error;
    }
    for await (const { event } of this.agents.recorded(runId)) if (isTerminal(event)) return factsOfEnd(event);
    return undefined;
  }
}
