import { Injectable } from '@nestjs/common';
import {
  AGENT_RUN,
  AgentDecisionService,
  type AgentRequest,
  type AgentRunInput,
  AgentService,
} from '../agent/index.js';
import { AppError } from '../errors/index.js';
import { isJsonObject, parseExactJson, type Principal } from '../kernel/index.js';
import { type RunEvent, type RunItem, type RunRecord, RunService } from '../run/index.js';
import { WorkflowService, type WorkflowStart } from '../workflow/index.js';
import { parseClientCallId } from './client-call-id.js';
import { type ClientMessage, hashOf, toInput } from './client-conversation.js';

/** Start of the names of workflows as models. */
export const WORKFLOW_PREFIX = 'workflow:';

/** A request of a client in terms of all its protocols. */
export interface ClientRequest {
  /** An agent, or a workflow with its prefix. */
  readonly model: string;
  readonly messages: readonly ClientMessage[];
  readonly options: Omit<AgentRequest, 'query'>;
}

/** A run with the items that answer a request. */
export interface OpenedRun {
  readonly id: string;
  readonly kind: 'started' | 'replayed' | 'resumed';
  readonly items: AsyncGenerator<RunItem, void>;
  /** Whether only the result is the answer, as of a workflow. */
  readonly isResultOnly: boolean;
}

/** A run that waits for results of its client, or has received them. */
interface Resumable {
  readonly run: RunRecord;
  /** Number of the event with which it waited for these results. */
  readonly waitedAt: number;
  /** By the step of the call. */
  readonly results: ReadonlyMap<string, string>;
  readonly isAnswered: boolean;
}

/** Starts runs for clients that keep their conversations themselves, and resumes runs that wait for their results. */
@Injectable()
export class ClientRunService {
  constructor(
    private readonly agents: AgentService,
    private readonly decisions: AgentDecisionService,
    private readonly workflows: WorkflowService,
    private readonly runs: RunService,
  ) {}

  /**
   * Resumes the run that waits for the results at the end of the conversation; else starts a run. A repeated request gets
   * the run that it resumed before.
   * @param signal ends the items, not the run
   * @throws AppError as `AgentService.chat`, and `WORKFLOW_NOT_FOUND`
   */
  async open(principal: Principal, request: ClientRequest, signal: AbortSignal): Promise<OpenedRun> {
    const resumed = await this.resumed(principal, request.messages, signal);
    if (resumed) return resumed;
    return request.model.startsWith(WORKFLOW_PREFIX)
      ? this.startWorkflow(principal, request, signal)
      : this.startAgent(principal, request, signal);
  }

  private async startAgent(
    principal: Principal,
    { model, messages, options }: ClientRequest,
    signal: AbortSignal,
  ): Promise<OpenedRun> {
    const input = toInput(messages, options.sessionId !== undefined);
    const { id, kind, items } = await this.agents.stream(principal, { ...options, ...input, agent: model }, signal);
    return { id, kind: kind === 'replayed' ? kind : 'started', items, isResultOnly: false };
  }

  private async startWorkflow(
    principal: Principal,
    { model, messages, options }: ClientRequest,
    signal: AbortSignal,
  ): Promise<OpenedRun> {
    const { sessionId, idempotency } = options;
    const start: WorkflowStart = {
      input: toWorkflowInput(messages),
      ...(sessionId !== undefined && { sessionId }),
      ...(idempotency && { idempotency }),
    };
    const { id, kind } = await this.workflows.submit(principal, model.slice(WORKFLOW_PREFIX.length), start);
    const items = this.agents.follow(id, 0, signal);
    return { id, kind: kind === 'replayed' ? kind : 'started', items, isResultOnly: true };
  }

  private async resumed(
    principal: Principal,
    messages: readonly ClientMessage[],
    signal: AbortSignal,
  ): Promise<OpenedRun | undefined> {
    const found = await this.find(principal, messages);
    if (!found) return undefined;
    if (!found.isAnswered) {
      const refusal = await this.answer(principal, found.run.id, found.results);
      // The same request was faster, or the run has ended meanwhile.
      if (refusal) return (await this.find(principal, messages))?.isAnswered ? this.follow(found, signal) : undefined;
    }
    return this.follow(found, signal);
  }

  private follow({ run, waitedAt }: Resumable, signal: AbortSignal): OpenedRun {
    const items = this.agents.follow(run.id, waitedAt, signal);
    return { id: run.id, kind: 'resumed', items, isResultOnly: false };
  }

  /** @returns the error if the run does not wait any more */
  private async answer(
    principal: Principal,
    runId: string,
    results: ReadonlyMap<string, string>,
  ): Promise<AppError | undefined> {
    try {
      await this.decisions.answerClient(principal, runId, results);
      return undefined;
    } catch (error) {
      if (error instanceof AppError && error.code === 'RUN_NOT_WAITING') return error;
      throw error;
    }
  }

  /** @returns `undefined` if no run waits for these results, or its conversation was another one */
  private async find(principal: Principal, messages: readonly ClientMessage[]): Promise<Resumable | undefined> {
    const results = trailingResults(messages);
    const calls = results.map(({ callId = '' }) => parseClientCallId(callId));
    const runId = calls[0]?.runId;
    if (runId === undefined || calls.some((call) => call?.runId !== runId)) return undefined;
    const run = await this.ownRun(principal, runId);
    if (!run || !isContinuation(run, messages)) return undefined;
    const bySteps = new Map(results.map(({ text }, at) => [calls[at]!.step, text]));
    return this.match(run, bySteps);
  }

  private async ownRun(principal: Principal, runId: string): Promise<RunRecord | undefined> {
    try {
      const run = await this.runs.get(principal, runId);
      return run.principal.id === principal.id && run.kind === AGENT_RUN ? run : undefined;
    } catch (error) {
      if (error instanceof AppError && (error.code === 'RUN_NOT_FOUND' || error.code === 'RUN_PRUNED'))
        return undefined;
      throw error;
    }
  }

  /** Finds the wait for exactly these calls. Other results than the recorded ones start a run of their own. */
  private async match(run: RunRecord, results: ReadonlyMap<string, string>): Promise<Resumable | undefined> {
    let waitedAt: number | null = null;
    let texts = new Map<string, string>();
    const answered = new Set<string>();
    for await (const { event, n } of this.agents.recorded(run.id)) {
      if (event.type === 'run.waiting' && waitsFor(event, results)) {
        waitedAt = n;
        texts = new Map(event.requests.map(({ call_id: id, step }) => [id, results.get(step) ?? '']));
      } else if (event.type === 'policy.decided' && 'request_id' in event) answered.add(event.call_id);
      else if (event.type === 'tool.completed' && isOther(event, texts)) return undefined;
    }
    const isAnswered = [...texts.keys()].every((id) => answered.has(id));
    if (waitedAt === null || (!isAnswered && run.status !== 'waiting')) return undefined;
    return { run, results, waitedAt, isAnswered };
  }
}

function isOther(
  { call_id: id, result }: Extract<RunEvent, { type: 'tool.completed' }>,
  texts: ReadonlyMap<string, string>,
): boolean {
  const text = texts.get(id);
  return text !== undefined && text !== result;
}

function waitsFor(
  { requests }: Extract<RunEvent, { type: 'run.waiting' }>,
  results: ReadonlyMap<string, string>,
): boolean {
  const open = requests.filter(({ by_client: isByClient }) => isByClient);
  return open.length === results.size && open.every(({ step }) => results.has(step));
}

/** The tool messages at the end of a conversation. */
function trailingResults(messages: readonly ClientMessage[]): readonly ClientMessage[] {
  const before = messages.findLastIndex(({ role }) => role !== 'tool');
  return messages.slice(before + 1);
}

/** Whether the messages continue those of the request that started the run, with calls of this run only. */
function isContinuation(run: RunRecord, messages: readonly ClientMessage[]): boolean {
  const { conversation } = parseExactJson(run.input) as AgentRunInput;
  const { count, hash } = conversation?.messages ?? { count: -1, hash: '' };
  if (count < 0 || count >= messages.length || hashOf(messages.slice(0, count)) !== hash) return false;
  return messages.slice(count).every(({ role, calls, callId }) => {
    const ids = role === 'tool' ? [callId ?? ''] : calls.map(({ id }) => id);
    return ids.length > 0 && ids.every((id) => parseClientCallId(id)?.runId === run.id);
  });
}

/** The last message of the user: a JSON object is the input, another text its `query`. */
function toWorkflowInput(messages: readonly ClientMessage[]): Record<string, unknown> {
  const text = messages.findLast(({ role }) => role === 'user')?.text ?? '';
  try {
    const value: unknown = parseExactJson(text);
    if (isJsonObject(value)) return value;
  } catch {
    // A plain text.
  }
  return { query: text };
}
