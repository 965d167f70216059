import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AppError, toAppError } from '../common/index.js';
import type { ChatModel, Message } from '../llm/index.js';
import { LOOP_VERSION, ReasoningEngine, type ReasoningOutcome } from '../reasoning/index.js';
import {
  NO_USAGE,
  journalUnavailable,
  RunFollowService,
  RunHandlerRegistry,
  type RunContext,
  type RunEvent,
  type RunHandler,
  type RunOutcome,
  type RunRecord,
  type TerminalEvent,
} from '../run/index.js';
import { SessionService, type SessionWindow, type TurnStatus } from '../session/index.js';
import { ToolRegistry } from '../tool/index.js';
import { waitingRulesSchema, type AgentDefinition } from './agent-definition.schema.js';
import { AgentModelFactory } from './agent-model.factory.js';
import { outdatedTurn } from './outdated-turn.factory.js';
import { UnavailableModel } from './unavailable.model.js';

export const AGENT_RUN = 'agent';

/** The input of an agent's run, as the journal holds it. */
export interface AgentRunInput {
  readonly query: string;
  readonly isStreaming: boolean;
  /** Whether the run begins its session, so that there is nothing to load. */
  readonly isNewSession: boolean;
}

type Ended = Extract<ReasoningOutcome, { kind: 'ended' }>;

/** Executes agents' runs: loads what the session remembers, reasons, ends the run with its turn. */
@Injectable()
export class AgentHandler implements RunHandler, OnModuleInit {
  readonly kind = AGENT_RUN;
  readonly loopVersions = [LOOP_VERSION];
  /** Parsed definitions by their hash. */
  private readonly definitions = new Map<string, AgentDefinition>();

  constructor(
    private readonly handlers: RunHandlerRegistry,
    private readonly engine: ReasoningEngine,
    private readonly sessions: SessionService,
    private readonly tools: ToolRegistry,
    private readonly models: AgentModelFactory,
    private readonly follower: RunFollowService,
  ) {}

  onModuleInit(): void {
    this.handlers.register(this);
  }

  async execute(run: RunRecord, context: RunContext): Promise<RunOutcome> {
    const input = JSON.parse(run.input) as AgentRunInput;
    const window = await this.window(run, context, input);
    const outcome =
      run.loopVersion === LOOP_VERSION
        ? await this.reason(run, context, input, window)
        : await this.closeOutdated(run, context, input);
    if (outcome.kind === 'waiting') return outcome;
    return { kind: 'finished', event: toEvent(run, outcome), statements: this.turn(run, window, outcome) };
  }

  private reason(
    run: RunRecord,
    context: RunContext,
    input: AgentRunInput,
    window: SessionWindow,
  ): Promise<ReasoningOutcome> {
    const definition = this.definition(run);
    return this.engine.run(
      {
        instructions: definition.instructions,
        history: window.messages,
        input: { role: 'user', content: input.query },
        model: this.model(definition),
        parameters: definition.model.parameters,
        protocol: definition.protocol,
        // A call to a tool that is gone by now is answered with an error.
        tools: this.tools.available(definition.tools),
        limits: definition.limits,
        waiting: definition.waiting,
        isStreaming: input.isStreaming,
      },
      context,
    );
  }

  private model(definition: AgentDefinition): ChatModel {
    try {
      return this.models.create(definition);
    } catch (error) {
      return new UnavailableModel(definition.model, toAppError(error));
    }
  }

  /** The loop has changed since: the run cannot be replayed, so it ends, with what it told in its session. */
  private async closeOutdated(run: RunRecord, context: RunContext, input: AgentRunInput): Promise<Ended> {
    const told: RunEvent[] = [];
    for await (const { event } of this.follower.recorded(run.id, 0)) told.push(event);
    const { messages, closing } = outdatedTurn(input.query, told);
    for (const event of closing) context.emit(event);
    return unsupported(run, messages);
  }

  /** @throws AppError `JOURNAL_UNAVAILABLE` when the session cannot be read now */
  private async window(run: RunRecord, context: RunContext, input: AgentRunInput): Promise<SessionWindow> {
    try {
      return await this.load(run, context, input);
    } catch (error) {
      throw error instanceof AppError ? error : journalUnavailable(run.id, error);
    }
  }

  private async load(run: RunRecord, context: RunContext, input: AgentRunInput): Promise<SessionWindow> {
    if (run.sessionId === null || input.isNewSession) return { lastTurn: 0, messages: [] };
    const { turns } = this.definition(run).memory;
    const load = (through?: number) => this.sessions.window(run.principal, run.sessionId!, turns, through);
    let loaded: SessionWindow | undefined;
    const lastTurn = await context.value('window', async () => (loaded = await load()).lastTurn);
    return loaded ?? load(lastTurn);
  }

  private turn(run: RunRecord, window: SessionWindow, { messages, finishReason }: Ended) {
    if (run.sessionId === null) return [];
    const turn = { runId: run.id, status: turnStatus(finishReason), messages };
    return this.sessions.turnStatements(run.principal, run.sessionId, window.lastTurn, turn);
  }

  private definition(run: RunRecord): AgentDefinition {
    let definition = this.definitions.get(run.definitionHash);
    if (!definition) {
      const stored = JSON.parse(run.definition) as AgentDefinition;
      // One that was stored before there were rules has the defaults.
      definition = { ...stored, waiting: waitingRulesSchema.parse(stored.waiting ?? {}) };
      this.definitions.set(run.definitionHash, definition);
    }
    return definition;
  }
}

function turnStatus(reason: Ended['finishReason']): TurnStatus {
  if (reason === 'cancelled') return 'cancelled';
  return reason === 'timeout' || reason === 'error' ? 'failed' : 'completed';
}

function toEvent(run: RunRecord, ended: Ended): TerminalEvent {
  const { text, finishReason, iterations, usage, model, failure } = ended;
  const result = {
    run_id: run.id,
    result: text,
    finish_reason: finishReason,
    is_complete: finishReason === 'stop',
    iterations,
    usage,
    model,
  };
  if (finishReason === 'cancelled') return { type: 'run.cancelled', ...result };
  return failure ? { type: 'run.failed', ...result, error: failure } : { type: 'run.completed', ...result };
}

function unsupported(run: RunRecord, messages: readonly Message[]): Ended {
  const error = new AppError(
    'RUN_VERSION_UNSUPPORTED',
    `The run was begun by version ${run.loopVersion} of the loop; this server runs version ${LOOP_VERSION}. Ask again.`,
  );
  return {
    kind: 'ended',
    finishReason: 'error',
    text: '',
    iterations: 0,
    usage: NO_USAGE,
    model: '',
    messages,
    failure: { code: error.code, message: error.message, is_retryable: false },
  };
}
