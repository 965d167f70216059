import { Injectable } from '@nestjs/common';
import { Observable } from 'rxjs';
import { AppError } from '../errors/index.js';
import { newId, type Principal } from '../kernel/index.js';
import { LOOP_VERSION } from '../reasoning/index.js';
import { RunService, type RunHandle, type RunRecord, type StartRun, type SubmittedWith } from '../run/index.js';
import { queuedState } from '../run/context/index.js';
import { isTerminal, START, type RunEvent, type RunItem } from '../run/event/index.js';
import { RunFollowService, type RunListener } from '../run/follow/index.js';
import { assertSessionId, SessionService } from '../session/index.js';
import { AgentRegistry } from './definition/agent.registry.js';
import { AgentRequestService } from './agent-request.service.js';
import type { AgentRequest, BackgroundRequest } from './agent.types.js';
import type { AnsweredNode, RunAnswer } from './answer/run-answer.types.js';
import { RunHistoryService, type RunPosition } from './history/run-history.service.js';
import { RunAnswerFold } from './answer/run-answer.mapper.js';
import { shownAnswer } from './answer/shown-answer.mapper.js';
import { AGENT_RUN } from './sub-agent/sub-agent-tool.factory.js';

/** A run with its event stream. */
export interface StreamedChat extends RunHandle {
  /** All items of the run, up to the event that ends its stream. */
  readonly items: AsyncGenerator<RunItem, void>;
  /** Whether the answer has a format; replies of another format are rejected. */
  readonly isStructured: boolean;
}

/** A run event as a message of server-sent events. */
export interface RunMessage {
  /** The position after it, for `Last-Event-ID`; absent for events that are not journaled. */
  readonly id?: string;
  readonly type: RunEvent['type'];
  /** The event as JSON. */
  readonly data: string;
}

/** Entry point to agents: starts runs and reads their answers. */
@Injectable()
export class AgentService {
  constructor(
    private readonly agents: AgentRegistry,
    private readonly requests: AgentRequestService,
    private readonly sessions: SessionService,
    private readonly runs: RunService,
    private readonly follower: RunFollowService,
    private readonly history: RunHistoryService,
  ) {}

  /**
   * Asks an agent and waits for the answer. Failed, cancelled and waiting runs return an answer too; so does a run that
   * stays queued because the earlier run of its session waits for a person.
   * @param onStart called with the run when it is journaled
   * @param onItem called with every item that this process emits for the run
   * @throws AppError `VALIDATION_FAILED`, `INPUT_BLOCKED`, `AGENT_NOT_FOUND`, `SESSION_BUSY`, `RUN_QUEUE_FULL`,
   *   `TENANT_QUEUE_FULL`, `RUN_RATE_LIMITED`, `IDEMPOTENCY_KEY_REUSED`; `SHUTTING_DOWN`, also when the run was handed
   *   over
   */
  async chat(
    principal: Principal,
    request: AgentRequest,
    onStart?: (run: RunHandle) => void,
    onItem?: RunListener,
  ): Promise<RunAnswer> {
    const fold = new RunAnswerFold();
    let closedBy: string | null = null;
    const held = Promise.withResolvers<never>();
    // It may be rejected before the run is awaited.
    held.promise.catch(() => undefined);
    const run = await this.runs.start(await this.toStart(principal, request), (item) => {
      fold.apply(item);
      onItem?.(item);
      if (item.event.type !== 'stream.closed') return;
      closedBy = item.event.code;
      if (closedBy === 'STORAGE_UNAVAILABLE') held.reject(heldRun(item.event.run_id));
    });
    onStart?.(run);
    const status = await Promise.race([run.done, held.promise]);
    if (status === 'queued' && closedBy !== 'SESSION_BUSY') {
      throw new AppError(
        'SHUTTING_DOWN',
        `The server is shutting down; run "${run.id}" is stored and resumes in another process or at the next start: follow it at GET /api/runs/${run.id}.`,
        { isRetryable: false, details: { run_id: run.id } },
      );
    }
    // If another process executed the run, this fold is incomplete.
    return run.kind === 'started' ? { ...fold.toAnswer(), status } : this.answer(principal, run.id);
  }

  /**
   * Starts an agent's run in the background. The run is journaled when this resolves; it executes later.
   * @param also the id of the run, and further statements of its batch
   * @throws AppError as `chat`, except `SESSION_BUSY`
   */
  async submit(
    principal: Principal,
    request: BackgroundRequest,
    also: SubmittedWith = {},
  ): Promise<Pick<RunHandle, 'id' | 'kind'>> {
    const { priority } = request;
    const start = await this.toStart(principal, request, also.id);
    return this.runs.submit({
      ...start,
      ...(priority !== undefined && { priority }),
      ...(also.statements && { statements: [...(start.statements ?? []), ...also.statements] }),
    });
  }

  /** Checks a request without starting a run. @throws AppError as `submit`, except those of a full queue */
  async check(principal: Principal, request: BackgroundRequest): Promise<void> {
    const { check } = await this.toStart(principal, request);
    await check?.();
  }

  /**
   * Asks an agent and streams the run's items, including message deltas.
   * @param signal ends the stream, not the run
   * @throws AppError as `chat`
   */
  async stream(principal: Principal, request: AgentRequest, signal: AbortSignal): Promise<StreamedChat> {
    const runId = newId();
    const following = this.follower.open(runId);
    try {
      const run = await this.runs.start(await this.toStart(principal, { ...request, isStreaming: true }, runId));
      const { responseFormat = this.agents.get(request.agent).definition.responseFormat } = request;
      const isStructured = responseFormat !== undefined;
      if (run.kind !== 'replayed') return { ...run, isStructured, items: following.items(START, signal) };
      following.close();
      return { ...run, isStructured, items: this.follow(run.id, 0, signal) };
    } catch (error) {
      following.close();
      throw error;
    }
  }

  /**
   * Run events as the messages of a method with `@Sse`: of a new run, or of one from a position. Unsubscribing does not cancel the
   * run. The observable completes after the event that ends the run, or `run.waiting`; it emits as fast as the run does.
   * @throws AppError as an error of the observable: as `chat`, for a position as `RunHistoryService.follow`
   */
  events(principal: Principal, request: AgentRequest | RunPosition): Observable<RunMessage> {
    return new Observable((subscriber) => {
      const controller = new AbortController();
      const emit = async () => {
        for await (const message of this.messages(principal, request, controller.signal)) subscriber.next(message);
      };
      emit().then(
        () => subscriber.complete(),
        (error: unknown) => subscriber.error(error),
      );
      return () => controller.abort();
    });
  }

  /** As `events`, at the pace of the reader. @param signal ends the iteration, not the run */
  async *messages(
    principal: Principal,
    request: AgentRequest | RunPosition,
    signal: AbortSignal = new AbortController().signal,
  ): AsyncGenerator<RunMessage, void> {
    const { items } =
      'runId' in request
        ? await this.history.follow(principal, request, signal)
        : await this.stream(principal, request, signal);
    for await (const { id, event, data } of items) yield { ...(id !== null && { id }), type: event.type, data };
  }

  /**
   * Streams the items of a run after a journaled event. The caller must have checked access to the run.
   * @param n the event's number; 0 for all events
   * @param signal ends the stream, not the run
   */
  follow(runId: string, n: number, signal: AbortSignal): AsyncGenerator<RunItem, void> {
    return this.follower.open(runId).items({ ...START, n }, signal);
  }

  /** The journaled events of a run so far. The caller must have checked access to the run. */
  recorded(runId: string): AsyncGenerator<RunItem, void> {
    return this.follower.recorded(runId, 0);
  }

  /** Current answer of a run, folded from its journal. @throws AppError `RUN_NOT_FOUND` */
  async answer(principal: Principal, runId: string): Promise<RunAnswer> {
    const run = await this.runs.get(principal, runId);
    const fold = new RunAnswerFold();
    for await (const item of this.follower.recorded(runId, 0)) fold.apply(item);
    const { waiting, ...answer } = fold.toAnswer();
    return { ...answer, ...identityOf(run), ...(run.status === 'waiting' && waiting && { waiting }) };
  }

  /** Current answer for a client: each value once, large values as links. @throws AppError `RUN_NOT_FOUND` */
  async shown(principal: Principal, runId: string): Promise<RunAnswer> {
    return this.show(await this.answer(principal, runId));
  }

  /** The client form of an answer. */
  show(answer: RunAnswer): RunAnswer {
    return shownAnswer(answer);
  }

  /** One node of a workflow run, with its complete output. @throws AppError `RUN_NOT_FOUND`, `NOT_FOUND` */
  async node(principal: Principal, runId: string, name: string): Promise<AnsweredNode> {
    const { nodes = [] } = await this.answer(principal, runId);
    const found = nodes.find(({ node }) => node === name);
    if (found) return found;
    throw new AppError(
      'NOT_FOUND',
      `Run "${runId}" has no node "${name}" so far; its answer lists those that have started.`,
    );
  }

  /** Waits until a run has ended or waits for a person. @throws AppError `RUN_NOT_FOUND` */
  async outcome(principal: Principal, runId: string): Promise<RunAnswer> {
    await this.runs.get(principal, runId);
    const items = this.follow(runId, 0, new AbortController().signal);
    for await (const { event } of items) if (isTerminal(event)) break;
    return this.answer(principal, runId);
  }

  private joining(principal: Principal, sessionId: string, isNew: boolean): Pick<StartRun, 'statements' | 'check'> {
    if (!isNew) return this.sessions.joining(principal, sessionId);
    return { statements: [this.sessions.beginStatement(principal, sessionId)] };
  }

  private async toStart(principal: Principal, request: AgentRequest, id = newId()): Promise<StartRun> {
    const { definition, content, hash } = this.agents.get(request.agent);
    if (request.toolChoice !== undefined) await this.requests.arrived(definition, request);
    const sessionId = sessionOf(request);
    if (sessionId !== null) assertSessionId(sessionId, 'sessionId');
    const isNewSession = request.sessionId === undefined;
    const input = this.requests.input(principal, definition, request);
    await this.requests.ready(definition);
    return {
      id,
      principal,
      kind: AGENT_RUN,
      agent: definition.name,
      sessionId,
      loopVersion: LOOP_VERSION,
      definition: content,
      definitionHash: hash,
      input: JSON.stringify(input),
      question: input.query,
      timeoutMs: definition.limits.runTimeoutMs,
      isFirstOfSession: isNewSession,
      isPublishedWhole: !input.isStreaming,
      isEarly: true,
      ...(request.idempotency && { idempotency: request.idempotency }),
      ...limitsOf(request),
      ...(sessionId !== null && this.joining(principal, sessionId, isNewSession)),
    };
  }
}

/** `null` for a request with its own history. */
function sessionOf({ sessionId, conversation }: AgentRequest): string | null {
  return sessionId ?? (conversation?.history ? null : newId());
}

function limitsOf({ deadlineMs, wait }: AgentRequest): Pick<StartRun, 'deadlineAt' | 'wait'> {
  return {
    ...(deadlineMs !== undefined && { deadlineAt: Date.now() + deadlineMs }),
    ...(wait && { wait: { ...wait, deadlineMs } }),
  };
}

function identityOf(
  run: RunRecord,
): Pick<
  RunAnswer,
  'run_id' | 'session_id' | 'agent' | 'status' | 'forked_from' | 'parent_run_id' | 'queued_reason' | 'next_attempt_at'
> {
  const { id, sessionId, agent, status, forkedFrom, lineage } = run;
  return {
    run_id: id,
    session_id: sessionId,
    agent,
    status,
    ...(forkedFrom !== null && { forked_from: forkedFrom }),
    ...(lineage && { parent_run_id: lineage.parentRunId }),
    ...queuedState(run),
  };
}

/** The error of a chat whose run waits for the database: its process keeps the results and continues it. */
function heldRun(runId: string): AppError {
  return new AppError(
    'STORAGE_UNAVAILABLE',
    `The database is unavailable; run "${runId}" continues when it answers: follow it at GET /api/runs/${runId}.`,
    { details: { run_id: runId, is_retryable: false } },
  );
}
