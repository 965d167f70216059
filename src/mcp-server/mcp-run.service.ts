import type { InputRequiredResult } from '@modelcontextprotocol/server';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { AgentDecisionService } from '../agent/decision/index.js';
import { AppError, Log } from '../errors/index.js';
import { newId } from '../kernel/index.js';
import { type RunHandle, type RunRecord, RunService, type RunStatus } from '../run/index.js';
import type { WaitingRequest } from '../run/decision/index.js';
import { type RunItem, START } from '../run/event/index.js';
import { RunFollowService } from '../run/follow/index.js';
import { ToolRegistry } from '../tool/index.js';
import { type InputQuestion, toInputQuestion } from './input-question.mapper.js';
import type { McpCall } from './mcp-call.types.js';
import { McpClients } from './mcp-client.registry.js';
import type { McpClientCapabilities, McpRequest, McpRequests } from './mcp-protocol.types.js';
import { parseRequestState, toRequestState } from './request-state.parser.js';
import { toWireRequests } from './wire-request.mapper.js';

/** Whether a client declares the capabilities for all of these requests. */
function canAnswer(capabilities: McpClientCapabilities, requests: McpRequests): boolean {
  return Object.values(requests).every((request) => covers(capabilities, request));
}

function covers({ elicitation, sampling, roots }: McpClientCapabilities, request: McpRequest): boolean {
  switch (request.method) {
    case 'elicitation/create':
      // A client that names no mode supports forms.
      return elicitation !== undefined && (request.params.mode !== 'url' || elicitation.url !== undefined);
    case 'sampling/createMessage':
      return sampling !== undefined;
    case 'roots/list':
      return roots !== undefined;
  }
}

/** Status of a run: the common part of the answers of agents and of direct calls. */
export interface RunView {
  readonly run_id: string;
  readonly status: RunStatus;
  readonly waiting?: WaitingRequest[];
}

/** Observer of a run from its start. */
export interface TaskWatch {
  readonly runId: string;
  readonly onStart: (run: RunHandle) => void;
  readonly onItem: (item: RunItem) => void;
}

/** The run behind a client's call, and its conversion to a result. */
export interface McpTask<S extends RunView, R> {
  /** Identifies the runs of the task: their `agent`. */
  readonly subject: string;
  /** Starts the run; resolves when it ends or waits. */
  start(watch: TaskWatch): Promise<S>;
  read(runId: string): Promise<S>;
  /** Receives the run's events. */
  onItem(item: RunItem): void;
  /** Converts a run that has ended or waits. */
  toResult(view: S): R;
}

/** Runs started by MCP clients. The client's requests follow, answer and cancel them. */
@Injectable()
export class McpRuns implements OnModuleDestroy {
  private readonly logger = new Log('McpServer');
  private isStopping = false;

  constructor(
    private readonly runs: RunService,
    private readonly follower: RunFollowService,
    private readonly decisions: AgentDecisionService,
    private readonly tools: ToolRegistry,
    private readonly clients: McpClients,
  ) {}

  onModuleDestroy(): void {
    this.handOver();
  }

  /** From now on a disconnected client cancels no run: unfinished runs resume at the next start. */
  handOver(): void {
    this.isStopping = true;
  }

  /**
   * Starts the run, or continues the run of the client's `state`, until it has a result or a question.
   * @throws AppError of a failed start; `VALIDATION_FAILED` for a state that does not belong to this client
   */
  async perform<S extends RunView, R>(call: McpCall, task: McpTask<S, R>): Promise<R | InputRequiredResult> {
    const resumed = call.state === undefined ? undefined : await this.resumed(call, call.state, task.subject);
    const binding = new RunBinding(call, this.clients, (runId) => this.cancel(call, runId));
    try {
      const view = resumed ? await this.view(resumed, task, binding) : await this.started(task, binding);
      return await this.settled(call, task, view);
    } finally {
      binding.release();
    }
  }

  private started<S extends RunView, R>(task: McpTask<S, R>, binding: RunBinding): Promise<S> {
    const runId = newId();
    binding.bind(runId);
    return task.start({ runId, onStart: (run) => binding.bind(run.id), onItem: (item) => task.onItem(item) });
  }

  private async view<S extends RunView, R>(run: RunRecord, task: McpTask<S, R>, binding: RunBinding): Promise<S> {
    binding.bind(run.id);
    const isActive = run.status === 'queued' || run.status === 'running';
    return isActive ? this.after(run.id, task, () => Promise.resolve()) : task.read(run.id);
  }

  /**
   * Answers the run's questions as long as the client's inputs suffice, then returns the result or the next question.
   */
  private async settled<S extends RunView, R>(
    call: McpCall,
    task: McpTask<S, R>,
    first: S,
  ): Promise<R | InputRequiredResult> {
    let inputs = call.inputs;
    for (let view = first; ;) {
      const question = this.firstQuestion(view);
      if (!question) return task.toResult(view);
      const answered = question.answer(inputs);
      if (answered.kind === 'open') return this.unanswered(call, task, view, question);
      inputs = Object.fromEntries(Object.entries(inputs).filter(([key]) => !(key in question.requests)));
      const { run_id: runId } = view;
      const { call_id: callId } = question.request;
      try {
        view = await this.after(runId, task, async () => {
          if (answered.kind === 'declined') await this.runs.cancel(call.principal, runId);
          else await this.decisions.input(call.principal, runId, { callId, value: answered.value });
        });
      } catch (error) {
        // Ask again after an input that does not match the schema.
        if (!(error instanceof AppError && error.code === 'VALIDATION_FAILED')) throw error;
        return this.unanswered(call, task, view, question);
      }
    }
  }

  /** The first question for a client. Approvals are excluded: a client must not decide about its own call. */
  private firstQuestion({ status, waiting = [] }: RunView): InputQuestion | undefined {
    const request = status === 'waiting' ? waiting.find(({ kind }) => kind === 'input') : undefined;
    if (!request) return undefined;
    const isForeign =
      this.tools.has(request.tool) && this.tools.get(request.tool).metadata.untrustedDefinition === true;
    return toInputQuestion(request, isForeign);
  }

  private async unanswered<S extends RunView, R>(
    { principal, client }: McpCall,
    task: McpTask<S, R>,
    view: S,
    { requests, request, isForClient }: InputQuestion,
  ): Promise<R | InputRequiredResult> {
    const isAble = canAnswer(client.capabilities, requests);
    if (!isAble && !isForClient) return task.toResult(view);
    // Only this client could answer: the run ends, and the SDK rejects the call, naming the missing capability.
    if (!isAble) await this.runs.cancel(principal, view.run_id);
    return {
      resultType: 'input_required',
      inputRequests: toWireRequests(requests),
      requestState: toRequestState({ runId: view.run_id, requestId: request.id }),
    };
  }

  /** Resumes the run, and returns its status after it has stopped again. */
  private async after<S extends RunView, R>(
    runId: string,
    task: McpTask<S, R>,
    resume: () => Promise<void>,
  ): Promise<S> {
    const following = this.follower.open(runId);
    try {
      await resume();
      const { signal } = new AbortController();
      for await (const item of following.items(START, signal)) task.onItem(item);
      return await task.read(runId);
    } finally {
      following.close();
    }
  }

  private async resumed({ principal }: McpCall, state: string, subject: string): Promise<RunRecord> {
    const place = parseRequestState(state);
    const run = place && (await this.runs.get(principal, place.runId).catch(unlessUnknown));
    if (run && run.principal.id === principal.id && run.agent === subject) return run;
    throw new AppError(
      'VALIDATION_FAILED',
      'The requestState does not belong to an open call of yours: call the tool again.',
    );
  }

  private cancel({ principal }: McpCall, runId: string): void {
    if (this.isStopping) return;
    this.runs.cancel(principal, runId).catch((error: unknown) => {
      // The run has ended or never started.
      if (!(error instanceof AppError))
        this.logger.error({ err: error, run_id: runId }, 'Failed to cancel the run of a disconnected client');
    });
  }
}

/** Binds a run to the request that waits for it, until `release`. */
class RunBinding {
  private unregister: (() => void) | undefined;
  private runId: string | undefined;
  private readonly onAbort = () => this.runId !== undefined && this.cancel(this.runId);

  constructor(
    private readonly call: McpCall,
    private readonly clients: McpClients,
    private readonly cancel: (runId: string) => void,
  ) {
    call.signal.addEventListener('abort', this.onAbort, { once: true });
  }

  bind(runId: string): void {
    if (runId === this.runId) {
      if (this.call.signal.aborted) this.cancel(runId);
      return;
    }
    this.unregister?.();
    this.unregister = this.clients.register(runId, this.call.client);
    this.runId = runId;
    if (this.call.signal.aborted) this.cancel(runId);
  }

  /** A question stays open for the client: it is not cancelled if the client disconnects later. */
  release(): void {
    this.unregister?.();
    this.call.signal.removeEventListener('abort', this.onAbort);
  }
}

/** Treats another tenant's run as unknown. */
function unlessUnknown(error: unknown): undefined {
  if (error instanceof AppError) return undefined;
  throw error;
}
