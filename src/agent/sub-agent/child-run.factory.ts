import { Injectable, type OnModuleInit } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { newId } from '../../kernel/index.js';
import { parseExactJson } from '../../kernel/json/index.js';
import type { OwnBudget } from '../../llm/chat/index.js';
import type { Statement } from '../../persistence/statement/index.js';
import { LOOP_VERSION } from '../../reasoning/index.js';
import {
  RunHandlerRegistry,
  type ChildRunMaker,
  type RunHead,
  type RunRecord,
  type StartRun,
} from '../../run/index.js';
import { type DataFact, factsOfRun } from '../../run/facts/index.js';
import type { ChildRunPlace, ChildRunRequest } from '../../run/tree/index.js';
import { SessionService } from '../../session/index.js';
import { budgetsOf, handedOn } from '../agent-memory.service.js';
import { parseStoredDefinition } from '../definition/agent-definition.schema.js';
import { AgentRequestService } from '../agent-request.service.js';
import { AgentRegistry, type RegisteredAgent } from '../definition/agent.registry.js';
import type { AgentRunInput } from '../agent.types.js';
import { AGENT_RUN, type SubAgentQuestion } from './sub-agent-tool.factory.js';

/** Session and input of a child run. */
interface Talk {
  readonly sessionId: string | null;
  readonly input: AgentRunInput;
  readonly statements: readonly Statement[];
}

/** Creates the child runs of agents. */
@Injectable()
export class ChildRunFactory implements ChildRunMaker, OnModuleInit {
  readonly kind = AGENT_RUN;

  constructor(
    private readonly handlers: RunHandlerRegistry,
    private readonly agents: AgentRegistry,
    private readonly sessions: SessionService,
    private readonly requests: AgentRequestService,
  ) {}

  onModuleInit(): void {
    this.handlers.registerMaker(this);
  }

  /** @throws AppError `AGENT_NOT_FOUND`, `INPUT_BLOCKED` when the agent's own guardrails refuse the question */
  async create(parent: RunRecord, request: ChildRunRequest, { id, isSeparate }: ChildRunPlace): Promise<StartRun> {
    const { definition, content, hash } = this.agentOf(request);
    const { input, ...talk } = request.isHandoff
      ? inherited(parent, request)
      : await this.conversationOf(parent, request, isSeparate);
    const heldTo = heldToBy(parent);
    const screened = {
      ...input,
      ...(definition.guardrails?.content && this.requests.screen(input, definition)),
      ...(heldTo.length > 0 && { heldTo }),
    };
    await this.requests.ready(definition);
    return {
      id,
      principal: parent.principal,
      kind: AGENT_RUN,
      agent: definition.name,
      loopVersion: LOOP_VERSION,
      definition: content,
      definitionHash: hash,
      timeoutMs: definition.limits.runTimeoutMs,
      ...talk,
      input: JSON.stringify(screened),
      question: screened.query,
    };
  }

  serves({ agent }: RunRecord): boolean {
    return this.agents.names().includes(agent);
  }

  current({ agent }: RunHead): Pick<RunRecord, 'definition' | 'definitionHash'> {
    const { content, hash } = this.agents.get(agent);
    return { definition: content, definitionHash: hash };
  }

  private agentOf({ name, input, isHandoff }: ChildRunRequest): RegisteredAgent {
    const { definition } = isHandoff ? {} : (input as Partial<SubAgentQuestion>);
    return definition ? this.agents.define(definition) : this.agents.get(name);
  }

  /** A question continues the session between the two agents, or starts a new session. */
  private async conversationOf(
    parent: RunRecord,
    { name, input, facts }: ChildRunRequest,
    isSeparate: boolean,
  ): Promise<Talk> {
    const { query, isStreaming = isStreamed(parent), definition, optionalParameters } = input as SubAgentQuestion;
    const between = isSeparate || parent.sessionId === null ? null : sessionBetween(parent.sessionId, name);
    const [isNewSession, sessionId] = [between === null, between ?? newId()];
    return {
      sessionId,
      input: {
        query,
        isStreaming,
        isNewSession,
        ...withFacts(parent, facts),
        ...(definition && optionalParameters && { optionalParameters }),
      },
      statements: await this.sessions.subSessionStatements(parent.principal, sessionId, parent.sessionId),
    };
  }
}

/**
 * After a handoff, the child run answers the parent's question, with the same history and format. It has no session,
 * because the turn belongs to the parent run.
 */
function inherited(parent: RunRecord, { facts }: ChildRunRequest): Talk {
  const { query, images, responseFormat = formatOf(parent), isNewSession, historyOf } = inputOf(parent);
  const past = historyOf ?? parent.sessionId;
  return {
    sessionId: null,
    input: {
      query,
      isStreaming: isStreamed(parent),
      isNewSession,
      ...withFacts(parent, facts),
      ...(images && { images }),
      ...(responseFormat !== undefined && { responseFormat }),
      ...(past !== null && { historyOf: past }),
    },
    statements: [],
  };
}

/** The child counts as its parent. */
function withFacts({ id }: RunRecord, facts: readonly DataFact[]): Pick<AgentRunInput, 'facts'> {
  return facts.length > 0 ? { facts: factsOfRun(facts, id) } : {};
}

/** Budgets of the parent runs, which also count the child's model calls. */
function heldToBy(parent: RunRecord): readonly OwnBudget[] {
  if (parent.kind !== AGENT_RUN) return [];
  return handedOn(budgetsOf(parent.id, parseStoredDefinition(parent.definition), inputOf(parent)));
}

/** Deterministic session id, derived from the parent session and the agent. */
function sessionBetween(parentSession: string, agent: string): string {
  return `sub-${createHash('sha256').update(`${parentSession}\n${agent}`).digest('base64url').slice(0, 27)}`;
}

function inputOf({ input }: RunRecord): AgentRunInput {
  return parseExactJson(input) as AgentRunInput;
}

function isStreamed(parent: RunRecord): boolean {
  return parent.kind === AGENT_RUN && inputOf(parent).isStreaming;
}

function formatOf({ definition }: RunRecord): AgentRunInput['responseFormat'] {
  return parseStoredDefinition(definition).responseFormat;
}
