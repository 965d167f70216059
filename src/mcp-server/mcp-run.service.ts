import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import type { InputRequiredResult } from '@modelcontextprotocol/server';
import { AgentDecisionService } from '../agent/index.js';
import { AppError, newId } from '../common/index.js';
import {
  RunFollowService,
  RunService,
  START,
  type RunHandle,
  type RunItem,
  type RunRecord,
  type RunStatus,
  type WaitingRequest,
} from '../run/index.js';
import { ToolRegistry } from '../tool/index.js';
import { toAskedInput, type AskedInput } from './asked-input.mapper.js';
import { canAnswer } from './client-capability.policy.js';
import { McpClients } from './mcp-client.registry.js';
import type { McpCall } from './mcp-call.types.js';
import { parseRequestState, toRequestState } from './request-state.parser.js';
import { toWireRequests } from './wire-request.mapper.js';

/** How a run stands; the answers of agents and of direct calls both say it. */
export interface Standing {
  readonly run_id: string;
  readonly status: RunStatus;
  readonly waiting?: WaitingRequest[];
}

/** Who follows a run from its beginning. */
export interface TaskWatch {
  readonly runId: string;
  readonly onStart: (run: RunHandle) => void;
  readonly onItem: (item: RunItem) => void;
}

/** What a client has called: a run, and what is told of it. */
export interface McpTask<S extends Standing, R> {
  /** By which its runs are known: their `agent`. */
  readonly subject: string;
  /** Begins the run and waits until it ends, or waits itself. */
  start(watch: TaskWatch): Promise<S>;
  read(runId: string): Promise<S>;
  /** Hears what happens in the run. */
  onItem(item: RunItem): void;
  /** What is told of a run that goes no further. */
  toResult(standing: S): R;
}

/** The runs that MCP clients begin: followed, answered and cancelled by the requests of the client. */
@Injectable()
export class McpRuns implements OnModuleDestroy {
  private readonly logger = new Logger('McpServer');
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

  /** From now on a client that is gone cancels nothing: unfinished runs go on at the next start. */
  handOver(): void {
    this.isStopping = true;
  }

  /**
   * Begins the run, or goes on with the one that the client was asked for, until there is something to tell.
   * @throws AppError what keeps a run from beginning; `VALIDATION_FAILED` for a state that is none of this client's
   */
  async perform<S extends Standing, R>(call: McpCall, task: McpTask<S, R>): Promise<R | InputRequiredResult> {
    const resumed = call.state === undefined ? undefined : await this.resumed(call, call.state, task.subject);
    const hold = new RunHold(call, this.clients, (runId) => this.cancel(call, runId));
    try {
      const standing = resumed ? await this.standing(resumed, task, hold) : await this.started(task, hold);
      return await this.settled(call, task, standing);
    } finally {
      hold.release();
    }
  }

  private started<S extends Standing, R>(task: McpTask<S, R>, hold: RunHold): Promise<S> {
    const runId = newId();
    hold.take(runId);
    return task.start({ runId, onStart: (run) => hold.take(run.id), onItem: (item) => task.onItem(item) });
  }

  private async standing<S extends Standing, R>(run: RunRecord, task: McpTask<S, R>, hold: RunHold): Promise<S> {
    hold.take(run.id);
    const isOn = run.status === 'queued' || run.status === 'running';
    return isOn ? this.after(run.id, task, () => Promise.resolve()) : task.read(run.id);
  }

  /** Answers what it asks as long as the client has said it, then tells what came of it or what the client must say. */
  private async settled<S extends Standing, R>(
    call: McpCall,
    task: McpTask<S, R>,
    first: S,
  ): Promise<R | InputRequiredResult> {
    let inputs = call.inputs;
    for (let standing = first; ;) {
      const asked = this.askedInput(standing);
      if (!asked) return task.toResult(standing);
      const given = asked.answer(inputs);
      if (given.kind === 'open') return this.unanswered(call, task, standing, asked);
      inputs = Object.fromEntries(Object.entries(inputs).filter(([key]) => !(key in asked.requests)));
      const { run_id: runId } = standing;
      const { call_id: callId } = asked.request;
      try {
        standing = await this.after(runId, task, async () => {
          if (given.kind === 'declined') await this.runs.cancel(call.principal, runId);
          else await this.decisions.input(call.principal, runId, { callId, value: given.value });
        });
      } catch (error) {
        // What does not fit is asked for again.
        if (!(error instanceof AppError && error.code === 'VALIDATION_FAILED')) throw error;
        return this.unanswered(call, task, standing, asked);
      }
    }
  }

  /** The first question that a client can be asked; whether it may make a call is for others to say. */
  private askedInput({ status, waiting = [] }: Standing): AskedInput | undefined {
    const request = status === 'waiting' ? waiting.find(({ kind }) => kind === 'input') : undefined;
    if (!request) return undefined;
    const isForeign =
      this.tools.has(request.tool) && this.tools.get(request.tool).metadata.untrustedDefinition === true;
    return toAskedInput(request, isForeign);
  }

  private async unanswered<S extends Standing, R>(
    { principal, client }: McpCall,
    task: McpTask<S, R>,
    standing: S,
    { requests, request, isForClient }: AskedInput,
  ): Promise<R | InputRequiredResult> {
    const isAble = canAnswer(client.capabilities, requests);
    if (!isAble && !isForClient) return task.toResult(standing);
    // Nobody else is to answer it, and the client is refused: it says what it lacks.
    if (!isAble) await this.runs.cancel(principal, standing.run_id);
    return {
      resultType: 'input_required',
      inputRequests: toWireRequests(requests),
      requestState: toRequestState({ runId: standing.run_id, requestId: request.id }),
    };
  }

  /** How the run stands when what this makes go on has come to a stop. */
  private async after<S extends Standing, R>(
    runId: string,
    task: McpTask<S, R>,
    goOn: () => Promise<void>,
  ): Promise<S> {
    const following = this.follower.open(runId);
    try {
      await goOn();
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
    throw new AppError('VALIDATION_FAILED', 'This requestState names no call of yours that could go on: call again.');
  }

  private cancel({ principal }: McpCall, runId: string): void {
    if (this.isStopping) return;
    this.runs.cancel(principal, runId).catch((error: unknown) => {
      // It has ended, or never began.
      if (!(error instanceof AppError))
        this.logger.error({ err: error, run_id: runId }, 'A run could not be cancelled');
    });
  }
}

/** Binds a run to the request that waits for it, until it is let go. */
class RunHold {
  private letGo: (() => void) | undefined;
  private runId: string | undefined;
  private readonly onAbort = () => this.runId !== undefined && this.cancel(this.runId);

  constructor(
    private readonly call: McpCall,
    private readonly clients: McpClients,
    private readonly cancel: (runId: string) => void,
  ) {
    call.signal.addEventListener('abort', this.onAbort, { once: true });
  }

  take(runId: string): void {
    if (runId === this.runId) {
      if (this.call.signal.aborted) this.cancel(runId);
      return;
    }
    this.letGo?.();
    this.letGo = this.clients.hold(runId, this.call.client);
    this.runId = runId;
    if (this.call.signal.aborted) this.cancel(runId);
  }

  /** An open question still is the client's: one that goes away later leaves it to others. */
  release(): void {
    this.letGo?.();
    this.call.signal.removeEventListener('abort', this.onAbort);
  }
}

/** Another tenant's run is as unknown as none. */
function unlessUnknown(error: unknown): undefined {
  if (error instanceof AppError) return undefined;
  throw error;
}
