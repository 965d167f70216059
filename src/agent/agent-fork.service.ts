import { Injectable } from '@nestjs/common';
import { AppError } from '../errors/index.js';
import { fieldMistake, newId, type Principal } from '../kernel/index.js';
import { parseExactJson } from '../kernel/json/index.js';
import type { Statement } from '../persistence/statement/index.js';
import { LOOP_VERSION } from '../reasoning/index.js';
import { RunHandlerRegistry, type RunRecord, RunService, type StartRun } from '../run/index.js';
import { FIRST_STEP, type ForkEdits, type ForkPlan, RunForkService, type RunMarks } from '../run/fork/index.js';
import { SessionService } from '../session/index.js';
import type { MemoryPlace } from '../session/memory/index.js';
import { ToolStateForks } from '../tool-state/index.js';
import { succeededResult } from '../tool/result/index.js';
import type { ChangedState } from '../tool/stateful/index.js';
import { type AgentDefinition, parseStoredDefinition } from './definition/agent-definition.schema.js';
import type { ForkEdit, ForkRequest } from './agent-fork.types.js';
import { AgentModelFactory, withOverrides } from './agent-model.factory.js';
import type { AgentRunInput } from './agent.types.js';
import { ForkDefinitionFactory } from './fork-definition.factory.js';
import { assertSeen, readImages } from './given-image.policy.js';
import { AGENT_RUN } from './sub-agent/sub-agent-tool.factory.js';

/** Forks runs with `RunForkService`, and copies the tool state at the forked step. */
@Injectable()
export class ForkedRuns {
  constructor(
    private readonly forks: RunForkService,
    private readonly states: ToolStateForks,
  ) {}

  /** Plans a fork: the steps and events to copy. @throws AppError `VALIDATION_FAILED` naming the run's steps */
  plan(original: RunRecord, fromStep: string): Promise<ForkPlan> {
    return this.forks.plan(original, fromStep);
  }

  /** The recorded steps and events of a run. */
  marks(runId: string): Promise<RunMarks> {
    return this.forks.marks(runId);
  }

  /** A value that a run recorded (`RunContext.value`); `null` if it was not recorded. */
  value(runId: string, place: string): Promise<unknown> {
    return this.forks.value(runId, place);
  }

  /** @throws AppError `COMMIT_REFUSED` when the planned data no longer exists, `SHUTTING_DOWN` */
  async start(principal: Principal, plan: ForkPlan, start: StartRun, edits: ForkEdits): Promise<void> {
    const { original } = plan;
    const run = { runId: original.id, principal, sessionId: original.sessionId };
    const recorded = (await this.forks.calls(plan)).flatMap(stateIn);
    const earlier = async (tool: string) => (await this.forks.earlierCalls(original, tool)).flatMap(stateIn);
    const past = { run, createdAt: original.createdAt, recorded, earlier };
    const copy = await this.states.copy(past, { runId: start.id, principal, sessionId: start.sessionId });
    try {
      await this.forks.start(plan, { ...start, statements: [...(start.statements ?? []), ...copy.statements] }, edits);
    } catch (error) {
      copy.undone();
      throw error;
    }
    await copy.ended();
  }
}

function stateIn(result: unknown): ChangedState[] {
  const { state } = result as { state?: ChangedState };
  return state ? [state] : [];
}

/** Name of the step that records the part of the session that a run sees. */
const WINDOW_STEP = 'value:window';
/** Name of the step that records that masked content was reported. */
const INPUT_STEP = 'value:input';

/** Forks agent runs; handles the definition, message and session, of which the loop is unaware. */
@Injectable()
export class AgentForkService {
  constructor(
    private readonly runs: RunService,
    private readonly handlers: RunHandlerRegistry,
    private readonly forks: ForkedRuns,
    private readonly definitions: ForkDefinitionFactory,
    private readonly models: AgentModelFactory,
    private readonly sessions: SessionService,
  ) {}

  /**
   * Starts a run from a copy of another run's steps before a given step, in a branch of its session, with edits.
   * The new run is journaled when this resolves, and executes in the background.
   * @returns the new run's id
   * @throws AppError `RUN_NOT_FOUND`, `RUN_PRUNED`, `VALIDATION_FAILED`, `INPUT_BLOCKED`, `MODEL_NOT_ALLOWED`,
   *   `MODEL_CANNOT_SEE`, `MODEL_CANNOT_FORMAT`, `AGENT_NOT_FOUND`, `RUN_QUEUE_FULL`, `RUN_RATE_LIMITED`, `SESSION_EXISTS`, `SHUTTING_DOWN`; `RUN_VERSION_UNSUPPORTED` from any but
   *   the first step of a run that cannot be replayed
   */
  async fork(principal: Principal, runId: string, { id = newId(), ...request }: ForkRequest): Promise<string> {
    const original = await this.runs.get(principal, runId);
    if (original.kind !== AGENT_RUN) throw invalid('id', `run "${runId}" is not an agent's`, runId);
    assertFits(request.edit ?? {}, request.fromStep);
    const { edit, masked } = this.definitions.screened(original, request.edit ?? {});
    const planned = await this.plan(original, request.fromStep);
    const { definition, content, hash } = this.definitions.create(original, edit, planned.hasReplies);
    const {
      historyOf,
      heldTo: _heldTo,
      budgetTokens: _budgetTokens,
      ...input
    } = parseExactJson(original.input) as AgentRunInput;
    // A fork of a handed-over run gets its own session branch, because its turn no longer belongs to the parent run.
    const from = historyOf ?? original.sessionId;
    const sessionId = branchOf(from, request);
    const window = input.isNewSession ? 0 : await this.windowOf(principal, original.id, from);
    // Followers of the fork receive message deltas.
    const newInput = this.definitions.input(input, edit, definition, masked);
    const plan = withMasked(withMemoryOf(planned, definition), input, newInput);
    if (input.images)
      assertSeen(readImages(input.images, Infinity), this.models.create(withOverrides(definition, newInput)));
    const changes = { isNewSession: window === 0, isStreaming: true };
    await this.forks.start(
      principal,
      plan,
      {
        id,
        principal,
        kind: AGENT_RUN,
        agent: definition.name,
        sessionId,
        // Recorded replies are decoded by the loop version that recorded them.
        loopVersion: plan.hasReplies ? original.loopVersion : LOOP_VERSION,
        definition: content,
        definitionHash: hash,
        input: JSON.stringify({ ...newInput, ...changes } satisfies AgentRunInput),
        question: newInput.query,
        timeoutMs: definition.limits.runTimeoutMs,
        statements: await this.branch(principal, sessionId, from, window),
      },
      this.editsOf(edit, plan, withOverrides(definition, newInput)),
    );
    return id;
  }

  private async plan(original: RunRecord, fromStep: string): Promise<ForkPlan> {
    const isReplayable = this.handlers.get(AGENT_RUN).loopVersions.includes(original.loopVersion);
    if (!isReplayable && fromStep !== FIRST_STEP) {
      throw new AppError(
        'RUN_VERSION_UNSUPPORTED',
        `Run "${original.id}" was made by version ${original.loopVersion} of the loop, which cannot be replayed any more: fork it from "${FIRST_STEP}".`,
        { details: { run_id: original.id, loop_version: original.loopVersion } },
      );
    }
    const plan = await this.forks.plan(original, fromStep);
    return isReplayable ? plan : { ...plan, prefix: { steps: [], events: [] } };
  }

  private editsOf(edit: ForkEdit, { call, fromStep }: ForkPlan, definition: AgentDefinition): ForkEdits {
    if (edit.toolResult !== undefined && !call) {
      throw invalid('fromStep', 'the run has no recorded call at this step', fromStep);
    }
    const isOtherModel = edit.model !== undefined || edit.agent !== undefined;
    return {
      ...(isOtherModel && { modelSubject: this.models.create(definition).name }),
      ...(edit.toolResult !== undefined && {
        callOutcome: succeededResult(call!.name, edit.toolResult, definition.limits.maxResultBytes),
      }),
    };
  }

  /** Last session turn that the run saw; the current one if the run has not recorded its window. */
  private async windowOf(principal: Principal, runId: string, sessionId: string | null): Promise<number> {
    if (sessionId === null) return 0;
    const recorded = await this.forks.value(runId, 'window');
    if (typeof recorded === 'number') return recorded;
    if (recorded !== null && typeof recorded === 'object') return (recorded as MemoryPlace).lastTurn;
    return (await this.sessions.get(principal, sessionId)).lastTurn;
  }

  private async branch(
    principal: Principal,
    to: string | null,
    from: string | null,
    window: number,
  ): Promise<Statement[]> {
    return to === null ? [] : this.sessions.branchStatements(principal, to, from, window);
  }
}

/** The session of a fork: a branch of the original run's, if it has one. */
function branchOf(from: string | null, { sessionId }: Pick<ForkRequest, 'sessionId'>): string | null {
  return sessionId ?? (from === null ? null : newId());
}

/** With other memory rules, the fork drops the recorded window, because that follows the former rules. */
function withMemoryOf(plan: ForkPlan, { memory }: AgentDefinition): ForkPlan {
  const former = parseStoredDefinition(plan.original.definition).memory;
  if (JSON.stringify(former) === JSON.stringify(memory)) return plan;
  const { steps, events } = plan.prefix;
  return { ...plan, prefix: { steps: steps.filter((name) => name !== WINDOW_STEP), events } };
}

/** With further masked content, the fork drops the record that the masking was reported, and reports it again. */
function withMasked(plan: ForkPlan, { masked: former = [] }: AgentRunInput, { masked = [] }: AgentRunInput): ForkPlan {
  if (masked.every((kind) => former.includes(kind))) return plan;
  const { steps, events } = plan.prefix;
  return { ...plan, prefix: { steps: steps.filter((name) => name !== INPUT_STEP), events } };
}

function assertFits(edit: ForkEdit, fromStep: string): void {
  if (edit.message !== undefined && fromStep !== FIRST_STEP) {
    throw invalid(
      'edit.message',
      `the message can be edited only in a fork from "${FIRST_STEP}", before anything answered it`,
      edit.message,
    );
  }
  if (edit.toolResult !== undefined && !fromStep.startsWith('tool:')) {
    throw invalid(
      'edit.toolResult',
      'a result can be given only in a fork from a step of a tool, such as "tool:1:1"',
      edit.toolResult,
    );
  }
}

function invalid(field: string, message: string, value: unknown): AppError {
  return new AppError('VALIDATION_FAILED', `The run cannot be forked so: ${message}.`, {
    details: { errors: [fieldMistake(field, message, 'isOfStep', value)] },
  });
}
