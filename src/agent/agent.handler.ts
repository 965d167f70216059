import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AppError, toAppError } from '../errors/index.js';
import { parseExactJson } from '../kernel/json/index.js';
import { ChatApiModel } from '../llm/index.js';
import type { ChatModel, Message } from '../llm/chat/index.js';
import { LOOP_VERSIONS, ReasoningEngine, type ReasoningOutcome, type ReasoningRequest } from '../reasoning/index.js';
import { type RunEnding, type RunHandler, RunHandlerRegistry, type RunOutcome, type RunRecord } from '../run/index.js';
import { journalUnavailable, type RunContext } from '../run/context/index.js';
import { NO_USAGE, type RunEvent, type TerminalEvent } from '../run/event/index.js';
import { type DataFact, mergeFacts, toEndedFacts, UNKNOWN_FACTS } from '../run/facts/index.js';
import { RunFollowService } from '../run/follow/index.js';
import { addUsage } from '../run/usage/index.js';
import type { TurnStatus } from '../session/index.js';
import { factsOfPlace, type Recollection } from '../session/memory/index.js';
import type { Tool } from '../tool/method/index.js';
import { agentRules } from '../tool-policy/index.js';
import { AgentMemory, budgetsOf, toQuestion } from './agent-memory.service.js';
import { type AgentDefinition, parseStoredDefinition } from './definition/agent-definition.schema.js';
import { AgentModelFactory, withDefaults, withOverrides } from './agent-model.factory.js';
import type { AgentRunInput } from './agent.types.js';
import { clientTool, OfferedTools, type PartedTools } from './offered-tools.service.js';
import { outdatedTurn } from './outdated-turn.factory.js';
import { READ_SKILL } from './skills/skill-tool.factory.js';
import { withSkills } from './skills/skill.registry.js';
import { AGENT_RUN } from './sub-agent/sub-agent-tool.factory.js';
import { UnavailableModel } from './unavailable.model.js';

/**
 * Emits an event that content of the run's input was masked; at most once for each run.
 * @param found kinds of masked content, if any
 */
export async function publishMasked(context: RunContext, found: readonly string[] | undefined): Promise<void> {
  if (!found) return;
  const reason = `it holds ${found.join(', ')}`;
  const about = { policy: 'content', on: 'input', decision: 'masked', iteration: 0, reason, found } as const;
  await context.value('input', () => context.emit({ type: 'policy.decided', ...about }));
}

/** Facts of results that a client sends. */
const FOREIGN: readonly DataFact[] = [
  { fact: 'untrusted', step: 'input' },
  { fact: 'private', step: 'input' },
];

type Ended = Extract<ReasoningOutcome, { kind: 'ended' }>;

interface TurnRequest {
  readonly definition: AgentDefinition;
  readonly model: ChatModel;
}

/** Executes agent runs: loads the session history, runs the loop, ends the run with its turn. */
@Injectable()
export class AgentHandler implements RunHandler, OnModuleInit {
  readonly kind = AGENT_RUN;
  readonly loopVersions = LOOP_VERSIONS;
  /** Parsed definitions, by hash. */
  private readonly definitions = new Map<string, AgentDefinition>();

  constructor(
    private readonly handlers: RunHandlerRegistry,
    private readonly engine: ReasoningEngine,
    private readonly memory: AgentMemory,
    private readonly tools: OfferedTools,
    private readonly models: AgentModelFactory,
    private readonly follower: RunFollowService,
  ) {}

  onModuleInit(): void {
    this.handlers.register(this);
  }

  async execute(run: RunRecord, context: RunContext): Promise<RunOutcome> {
    const input = parseExactJson(run.input) as AgentRunInput;
    const definition = withOverrides(this.definition(run), input);
    const model = this.model(definition, input);
    await publishMasked(context, input.masked);
    const past = await this.look(run, context, input, { definition, model });
    const outcome = LOOP_VERSIONS.includes(run.loopVersion)
      ? await this.reason(context, input, past, { definition, model, loopVersion: run.loopVersion })
      : await this.closeOutdated(run, context, input, definition.limits);
    if (outcome.kind !== 'ended') return outcome;
    const { finishReason, messages, facts } = outcome;
    const turn = { status: turnStatus(finishReason), messages, facts, model: model.name };
    const end = await this.tools.ending(run, context, outcome.stateful);
    const statements = [...this.memory.turnStatements(run, input, past, turn), ...end.statements];
    return { kind: 'finished', event: toEvent(run, outcome, past), statements, ended: end.ended };
  }

  missing(run: RunRecord): readonly string[] {
    return this.tools.missing(this.definition(run)).map(({ source }) => source);
  }

  ending(run: RunRecord): Promise<RunEnding> {
    return this.tools.endingOf(run);
  }

  private async reason(
    context: RunContext,
    input: AgentRunInput,
    past: Recollection,
    { definition, model, loopVersion }: TurnRequest & { readonly loopVersion: number },
  ): Promise<ReasoningOutcome> {
    const responseFormat = input.responseFormat ?? definition.responseFormat;
    const { allowed, denied } = withClientTools(await this.tools.of(definition, context), input);
    const absent = this.absent(context, definition);
    return this.engine.run(
      {
        agent: definition.name,
        rules: agentRules(definition),
        instructions: instructionsOf(definition, input),
        ...talkOf(input, past),
        model: absent ? new UnavailableModel(definition.model, absent) : model,
        ...withDefaults(definition.model.parameters, model, input.optionalParameters),
        protocol: definition.protocol,
        // The loop answers a call to a removed tool with an error.
        tools: input.toolChoice === 'none' ? [] : allowed,
        namedTools: [...namesIn(definition), ...(input.clientTools ?? []).map(({ name }) => name)],
        deniedTools: denied,
        facts: mergeFacts(factsOfPlace(past.place), givenFacts(input)),
        ...(input.toolChoice !== undefined && { toolChoice: input.toolChoice }),
        ...(responseFormat !== undefined && { responseFormat }),
        ...(definition.codeMode && { isCodeMode: true }),
        limits: definition.limits,
        contextTokens: this.models.contextTokens(definition),
        budgets: budgetsOf(context.runId, definition, input),
        // Without its client, a run does not continue after the expiry of a call.
        waiting: input.clientTools ? { ...definition.waiting, onExpired: 'end' } : definition.waiting,
        isStreaming: input.isStreaming,
        loopVersion,
      },
      context,
    );
  }

  /** Why the run must not start; undefined if it may, or has started. */
  private absent(context: RunContext, definition: AgentDefinition): AppError | undefined {
    if (context.isRecorded({ kind: 'model', place: '1' })) return undefined;
    const absent = this.tools.missing(definition).filter(({ isRequired }) => isRequired);
    if (absent.length === 0) return undefined;
    const reasons = absent.map(
      ({ source, reason }) => `MCP server "${source}" is required, and is not connected: ${reason()}`,
    );
    return new AppError('NETWORK_ERROR', reasons.join('; '), {
      details: { servers: absent.map(({ source }) => source) },
    });
  }

  private model(definition: AgentDefinition, { optionalParameters }: AgentRunInput): ChatModel {
    try {
      const model = this.models.create(definition);
      // Only llm nodes of workflows have optional parameters: they use Chat Completions, whose parameters they have.
      return optionalParameters === undefined ? model : new ChatApiModel(model);
    } catch (error) {
      return new UnavailableModel(definition.model, toAppError(error));
    }
  }

  /** A run of an unsupported loop version cannot be replayed: it ends with the turn that its events contain. */
  private async closeOutdated(
    run: RunRecord,
    context: RunContext,
    input: AgentRunInput,
    { maxResultBytes }: AgentDefinition['limits'],
  ): Promise<Ended> {
    const published: RunEvent[] = [];
    for await (const { event } of this.follower.recorded(run.id, 0)) published.push(event);
    const { messages, closing } = outdatedTurn(toQuestion(input), published, maxResultBytes);
    for (const event of closing) context.emitWithEnd(event);
    return unsupported(run, messages);
  }

  /** @throws AppError `JOURNAL_UNAVAILABLE` when the session cannot be read */
  private async look(
    run: RunRecord,
    context: RunContext,
    input: AgentRunInput,
    { definition, model }: TurnRequest,
  ): Promise<Recollection> {
    try {
      return await this.memory.look(run, context, input, { definition, model });
    } catch (error) {
      throw error instanceof AppError ? error : journalUnavailable(run.id, error);
    }
  }

  private definition(run: RunRecord): AgentDefinition {
    let definition = this.definitions.get(run.definitionHash);
    if (!definition) {
      definition = parseStoredDefinition(run.definition);
      this.definitions.set(run.definitionHash, definition);
    }
    return definition;
  }
}

/** The tools that the definition names, without patterns, and that for its skills. */
function namesIn({ tools }: AgentDefinition): readonly string[] {
  const named = tools === '*' ? [] : tools.filter((name) => !/[*!]/.test(name));
  return [...named, READ_SKILL];
}

function instructionsOf({ instructions, offeredSkills }: AgentDefinition, { conversation }: AgentRunInput): string {
  const own = offeredSkills ? withSkills(instructions, offeredSkills) : instructions;
  return [own, conversation?.instructions ?? ''].filter((text) => text !== '').join('\n\n');
}

/** The earlier messages, and the message to answer: the question, or the last result of a client's tool. */
function talkOf(input: AgentRunInput, past: Recollection): Pick<ReasoningRequest, 'history' | 'input'> {
  const { history = past.messages, isContinued = false } = input.conversation ?? {};
  const last = history.at(-1);
  return isContinued && last ? { history: history.slice(0, -1), input: last } : { history, input: toQuestion(input) };
}

/** The client's tools take precedence: the client does not know the names of the agent's. */
function withClientTools({ allowed, denied }: PartedTools, { clientTools }: AgentRunInput): PartedTools {
  if (!clientTools) return { allowed, denied };
  const names = new Set(clientTools.map(({ name }) => name));
  const isOther = (tool: Tool) => !names.has(tool.definition.name);
  return { allowed: [...allowed.filter(isOther), ...clientTools.map(clientTool)], denied: denied.filter(isOther) };
}

/** The user's own question is neither untrusted nor private. */
function givenFacts({ isTainted, facts, conversation }: AgentRunInput): readonly DataFact[] {
  if (conversation) {
    const foreign = conversation.hasForeignResults ? FOREIGN : [];
    return mergeFacts(mergeFacts(facts ?? [], conversation.facts ?? []), foreign);
  }
  // Earlier versions stored the mark of a calling run only.
  return facts ?? (isTainted ? [{ fact: 'untrusted', step: 'input' }] : []);
}

function turnStatus(reason: Ended['finishReason']): TurnStatus {
  if (reason === 'cancelled') return 'cancelled';
  return reason === 'timeout' || reason === 'error' ? 'failed' : 'completed';
}

function toEvent(run: RunRecord, ended: Ended, past: Recollection): TerminalEvent {
  const { text, finishReason, iterations, model, failure, facts, childrenUsage, answeredBy, compacted } = ended;
  const result = {
    run_id: run.id,
    result: text,
    ...('output' in ended && { output: ended.output }),
    finish_reason: finishReason,
    is_complete: finishReason === 'stop',
    iterations,
    // The usage of the summary call belongs to the run.
    usage: addUsage(ended.usage, past.place.usage ?? NO_USAGE),
    model,
    ...toEndedFacts(facts),
    ...(childrenUsage && { children_usage: childrenUsage }),
    ...(answeredBy && { answered_by: answeredBy }),
    memory_state: compacted ? { ...past.state, compacted } : past.state,
  };
  if (finishReason === 'cancelled') return { type: 'run.cancelled', ...result };
  return failure ? { type: 'run.failed', ...result, error: failure } : { type: 'run.completed', ...result };
}

function unsupported(run: RunRecord, messages: readonly Message[]): Ended {
  const error = new AppError(
    'RUN_VERSION_UNSUPPORTED',
    `The run was started by version ${run.loopVersion} of the loop; this server runs ${LOOP_VERSIONS.join(' and ')}. Ask again.`,
  );
  return {
    kind: 'ended',
    finishReason: 'error',
    text: '',
    iterations: 0,
    usage: NO_USAGE,
    model: '',
    messages,
    stateful: [],
    // The source of the tool results is unknown.
    facts: messages.some(({ role }) => role === 'tool') ? UNKNOWN_FACTS : [],
    failure: { code: error.code, message: error.message, is_retryable: false },
  };
}
