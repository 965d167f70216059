import { Injectable } from '@nestjs/common';
import { countMessages, TokenCounterRegistry, type ChatModel } from '../llm/index.js';
import type { Statement } from '../persistence/index.js';
import type { RunContext, RunRecord } from '../run/index.js';
import {
  SessionMemory,
  SessionService,
  countTurn,
  type MemoryPlace,
  type Recollection,
  type SessionMessage,
  type Turn,
} from '../session/index.js';
import type { AgentDefinition } from './agent-definition.schema.js';
import type { AgentRunInput } from './agent.types.js';
import { summariser } from './summariser.factory.js';

const NOTHING: MemoryPlace = { lastTurn: 0, messageCount: 0 };

/** What a run sees of its session's past, and what it leaves to it. */
@Injectable()
export class AgentMemory {
  constructor(
    private readonly memory: SessionMemory,
    private readonly sessions: SessionService,
    private readonly counters: TokenCounterRegistry,
  ) {}

  /** @throws what the model throws when it is to sum up the past */
  async look(
    run: RunRecord,
    context: RunContext,
    input: AgentRunInput,
    { rules, model }: { rules: AgentDefinition['memory']; model: ChatModel },
  ): Promise<Recollection> {
    if (run.sessionId === null || input.isNewSession) return nothingFrom(rules);
    const key = { tenant: run.tenant, id: run.sessionId };
    let looked: Recollection | undefined;
    const recorded = await context.value<MemoryPlace | number>('window', async () => {
      const counter = this.counters.atHand(model.name);
      const countTokens = (messages: readonly SessionMessage[]) => countMessages(counter, messages);
      looked = await this.memory.look(key, rules, summariser({ model, context, countTokens }));
      const { repaired } = looked;
      if (repaired.length > 0) context.emit({ type: 'history.repaired', session_id: key.id, turns: repaired });
      return looked.place;
    });
    return looked ?? this.memory.lookAgain(key, rules, placeOf(recorded));
  }

  /** What adds the run's turn to its session, in the batch that ends it. */
  turnStatements(
    run: RunRecord,
    input: AgentRunInput,
    { place }: Recollection,
    { model, ...turn }: Pick<Turn, 'status' | 'messages'> & { readonly model: string },
  ): Statement[] {
    if (run.sessionId === null) return [];
    const counter = this.counters.atHand(model);
    const messages = withOrigin(turn.messages, run, input);
    const stored = { ...turn, ...countTurn(counter, messages), messages, runId: run.id };
    const marks = (input.references ?? []).filter((one) => one <= place.lastTurn);
    return [
      ...this.sessions.turnStatements(run.principal, run.sessionId, place.lastTurn, stored),
      ...this.sessions.referenceStatements(run.principal, run.sessionId, marks, place.lastTurn + 1),
      ...(place.summary ? this.sessions.summaryStatements(run.principal, run.sessionId, place.summary) : []),
    ];
  }
}

/** A run that was begun before policies were there has recorded the last turn alone. */
function placeOf(recorded: MemoryPlace | number): MemoryPlace {
  return typeof recorded === 'number' ? { ...NOTHING, lastTurn: recorded } : recorded;
}

function nothingFrom({ enabled, policy }: AgentDefinition['memory']): Recollection {
  const state = { message_count: 0, context_tokens: 0, dropped: 0, policy: enabled ? policy : 'none' };
  return { place: NOTHING, messages: [], state, repaired: [] };
}

/** The question with its time and what the users keep with it. */
function withOrigin(
  [question, ...rest]: readonly SessionMessage[],
  { createdAt }: RunRecord,
  { metadata }: AgentRunInput,
): SessionMessage[] {
  if (!question) return [];
  return [{ ...question, at: createdAt, ...(metadata && { metadata }) }, ...rest];
}
