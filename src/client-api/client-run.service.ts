import { Injectable } from '@nestjs/common';
import {
  AGENT_RUN,
  ClientDecisionService,
  type AgentRequest,
  type AgentRunInput,
  AgentService,
  type ClientDecision,
} from '../agent/index.js';
import { AppError } from '../errors/index.js';
import { isJsonObject, parseExactJson, type Principal } from '../kernel/index.js';
import { type RunEvent, type RunItem, type RunRecord, RunService } from '../run/index.js';
import { WorkflowService, type WorkflowStart } from '../workflow/index.js';
import { parseClientCallId } from './client-call-id.js';
import { type ClientMessage, hashOf, toInput, withoutServer } from './client-conversation.js';

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
  /** Number of the event before the first item; 0 for a new run. */
  readonly after: number;
  /** Whether only the result is the answer, as of a workflow. */
  readonly isResultOnly: boolean;
}

/** By the step of the call, such as `tool:1:2`. */
export type ClientDecisions = ReadonlyMap<string, ClientDecision>;

/** A run that waits for decisions of its client, or has received them. */
interface Resumable {
  readonly run: RunRecord;
  /** Number of the event with which it waited for these results. */
  readonly waitedAt: number;
  readonly isAnswered: boolean;
}

/** Starts runs for clients that keep their conversations themselves, and resumes runs that wait for their results. */
@Injectable()
export class ClientRunService {
  constructor(
    private readonly agents: AgentService,
    private readonly decisions: ClientDecisionService,
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
    const resumed = await this.resumeBy(principal, request.messages, signal);
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
    return { id, kind: kind === 'replayed' ? kind : 'started', items, after: 0, isResultOnly: false };
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
    return { id, kind: kind === 'replayed' ? kind : 'started', items, after: 0, isResultOnly: true };
  }

  /** The results at the end of a conversation resume their run, if the conversation before them is that of the run. */
  async resumeBy(
    principal: Principal,
    messages: readonly ClientMessage[],
    signal: AbortSignal,
  ): Promise<OpenedRun | undefined> {
    const results = trailingResults(messages);
    const calls = results.map(({ callId = '' }) => parseClientCallId(callId));
    const runId = calls[0]?.runId;
    if (runId === undefined || calls.some((call) => call?.runId !== runId)) return undefined;
    const given = new Map(results.map(({ text }, at) => [calls[at]!.step, { kind: 'result', value: text } as const]));
    return this.resume(principal, runId, given, signal, (run) => isContinuation(run, messages));
  }

  /**
   * Resumes a run with decisions of its client; a repeated request gets the run that it resumed before.
   * @param isMeant whether the request is about this run
   * @returns `undefined` if the run does not wait for these decisions, and has not received the same ones
   */
  async resume(
    principal: Principal,
    runId: string,
    given: ClientDecisions,
    signal: AbortSignal,
    isMeant: (run: RunRecord) => boolean = () => true,
  ): Promise<OpenedRun | undefined> {
    const run = await this.ownRun(principal, runId);
    const found = run && isMeant(run) ? await this.match(run, given) : undefined;
    if (!found) return undefined;
    if (!found.isAnswered && !(await this.decide(principal, runId, given))) {
      // The same request was faster, or the run has ended meanwhile.
      if (!(await this.match(found.run, given))?.isAnswered) return undefined;
    }
    const items = this.agents.follow(runId, found.waitedAt, signal);
    return { id: runId, kind: 'resumed', items, after: found.waitedAt, isResultOnly: false };
  }

  /** @returns whether the run still waited */
  private async decide(principal: Principal, runId: string, given: ClientDecisions): Promise<boolean> {
    try {
      await this.decisions.decideAll(principal, runId, given);
      return true;
    } catch (error) {
      if (error instanceof AppError && error.code === 'RUN_NOT_WAITING') return false;
      throw error;
    }
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

  /** Finds the wait for these decisions. Other results than the recorded ones do not match. */
  private async match(run: RunRecord, given: ClientDecisions): Promise<Resumable | undefined> {
    const wait = new ClientWait(given);
    for await (const item of this.agents.recorded(run.id)) wait.take(item);
    const { at: waitedAt, isAnswered, isOther } = wait;
    if (waitedAt === null || isOther) return undefined;
    return isAnswered || run.status === 'waiting' ? { run, waitedAt, isAnswered } : undefined;
  }
}

/** The last wait of a run for the decisions of a request, and its outcome, from the events of the run. */
class ClientWait {
  /** Number of its event; `null` without one. */
  at: number | null = null;
  /** Whether the run has received other results. */
  isOther = false;
  /** By the ids of the calls. */
  private calls = new Map<string, ClientDecision>();
  private decided = new Set<string>();
  private compared = new Set<string>();

  constructor(private readonly given: ClientDecisions) {}

  get isAnswered(): boolean {
    return [...this.calls.keys()].every((id) => this.decided.has(id));
  }

  take({ event, n }: RunItem): void {
    if (event.type === 'run.waiting' && waitsFor(event, this.given)) {
      this.at = n;
      this.decided = new Set();
      this.compared = new Set();
      const asked = event.requests.filter(({ step }) => this.given.has(step));
      this.calls = new Map(asked.map(({ call_id: id, step }) => [id, this.given.get(step)!]));
    } else if (event.type === 'policy.decided' && 'request_id' in event) this.decided.add(event.call_id);
    else if (event.type === 'tool.completed') this.compare(event);
  }

  private compare({ call_id: id, result }: Extract<RunEvent, { type: 'tool.completed' }>): void {
    // A model may use the id again in a later reply.
    if (this.compared.has(id)) return;
    const given = this.calls.get(id);
    if (given) this.compared.add(id);
    this.isOther ||= given?.kind === 'result' && given.value !== result;
  }
}

/** Whether the decisions are about this wait, with all results of the client's tools. */
function waitsFor({ requests }: Extract<RunEvent, { type: 'run.waiting' }>, given: ClientDecisions): boolean {
  const steps = new Set(requests.map(({ step }) => step));
  const open = requests.filter(({ by_client: isByClient }) => isByClient);
  return open.every(({ step }) => given.has(step)) && [...given.keys()].every((step) => steps.has(step));
}

/** The tool messages at the end of a conversation. */
function trailingResults(messages: readonly ClientMessage[]): readonly ClientMessage[] {
  const before = messages.findLastIndex(({ role }) => role !== 'tool');
  return messages.slice(before + 1);
}

/** Whether the messages continue those of the request that started the run, with calls of this run only. */
function isContinuation(run: RunRecord, all: readonly ClientMessage[]): boolean {
  const messages = withoutServer(all);
  const { conversation } = parseExactJson(run.input) as AgentRunInput;
  const { count, hash } = conversation?.messages ?? { count: -1, hash: '' };
  if (count < 0 || count >= messages.length || hashOf(messages.slice(0, count)) !== hash) return false;
  return messages.slice(count).every(({ role, calls, callId }) => {
    if (role !== 'assistant' && role !== 'tool') return false;
    const ids = role === 'tool' ? [callId ?? ''] : calls.map(({ id }) => id);
    return ids.every((id) => parseClientCallId(id)?.runId === run.id);
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
