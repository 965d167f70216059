import { Injectable } from '@nestjs/common';
import { AGENT_RUN, type AgentRequest, type AgentRunInput, AgentService } from '../agent/index.js';
import { AgentDecisionService, type GivenDecision } from '../agent/decision/index.js';
import { AppError } from '../errors/index.js';
import type { Principal } from '../kernel/index.js';
import { isJsonObject, parseExactJson } from '../kernel/json/index.js';
import { type RunRecord, RunService } from '../run/index.js';
import type { WaitingRequest } from '../run/decision/index.js';
import type { RunEvent, RunItem } from '../run/event/index.js';
import { hasScope } from '../security/index.js';
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
  /** The tools that the client executes. */
  readonly clientTools: ReadonlySet<string>;
  readonly sessionId: string | null;
}

/** Results of the client's tools (`input`), and approvals; by the step of the call, such as `tool:1:2`. */
export type ClientDecisions = ReadonlyMap<string, GivenDecision>;

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
    return this.startWith(principal, { ...options, ...input, agent: model }, signal);
  }

  /** Starts a run of an agent. */
  async startWith(principal: Principal, request: AgentRequest, signal: AbortSignal): Promise<OpenedRun> {
    const { id, kind, items } = await this.agents.stream(principal, request, signal);
    return { ...toOpened(id, kind), items, ...factsOf(request) };
  }

  /** Starts a run of an agent that no client waits for. */
  async submitWith(principal: Principal, request: AgentRequest, signal: AbortSignal): Promise<OpenedRun> {
    const { id, kind } = await this.agents.submit(principal, { ...request, isStreaming: true });
    return { ...toOpened(id, kind), items: this.agents.follow(id, 0, signal), ...factsOf(request) };
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
    return { ...toOpened(id, kind), items, ...factsOf({ sessionId }), isResultOnly: true };
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
    const given = new Map(results.map(({ text }, at) => [calls[at]!.step, { kind: 'input', value: text } as const]));
    return this.resume(principal, runId, given, signal, (run) => isContinuation(run, messages));
  }

  /**
   * Resumes a run with decisions of its client; a repeated request gets the run that it resumed before.
   * @param isMeant whether the request is about this run
   * @returns `undefined` if the run does not wait for these decisions, and has not received the same ones
   * @throws AppError `FORBIDDEN` for an approval without the scope `runs:write`
   */
  async resume(
    principal: Principal,
    runId: string,
    given: ClientDecisions,
    signal: AbortSignal,
    isMeant: (run: RunRecord) => boolean = () => true,
  ): Promise<OpenedRun | undefined> {
    const run = await this.ownRun(principal, runId);
    // After a failure, the conversation continues in another run.
    if (!run || run.status === 'failed' || run.status === 'cancelled' || !isMeant(run)) return undefined;
    if ([...given.values()].some(({ kind }) => kind !== 'input')) assertMayDecide(principal);
    const wait = await this.decided(principal, run, given);
    if (!wait.isAnswered) return undefined;
    const { clientTools } = parseExactJson(run.input) as AgentRunInput;
    const items = this.agents.follow(runId, wait.at, signal);
    const facts = factsOf({ ...(clientTools && { clientTools }), sessionId: run.sessionId ?? undefined });
    return { id: runId, kind: 'resumed', items, after: wait.at, isResultOnly: false, ...facts };
  }

  /** Decides, if the run waits. The wait is answered afterwards also if the same request was faster. */
  private async decided(principal: Principal, run: RunRecord, given: ClientDecisions): Promise<ClientWait> {
    const wait = await this.waitOf(run, given);
    if (wait.isAnswered || !wait.isOpen || run.status !== 'waiting') return wait;
    try {
      await this.decisions.decideAll(principal, run.id, wait.decisions);
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'RUN_NOT_WAITING')) throw error;
    }
    return this.waitOf(run, given);
  }

  private async waitOf(run: RunRecord, given: ClientDecisions): Promise<ClientWait> {
    const wait = new ClientWait(given);
    for await (const item of this.agents.recorded(run.id)) wait.take(item);
    return wait;
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
}

function toOpened(id: string, kind: 'started' | 'queued' | 'replayed') {
  return { id, kind: kind === 'replayed' ? kind : 'started', after: 0, isResultOnly: false } as const;
}

function factsOf({ clientTools = [], sessionId = null }: Partial<Pick<AgentRequest, 'clientTools'>> & FactsOfSession) {
  return { clientTools: new Set(clientTools.map(({ name }) => name)), sessionId };
}

interface FactsOfSession {
  readonly sessionId?: string | null | undefined;
}

/** @throws AppError `FORBIDDEN` without the scope for decisions */
export function assertMayDecide(principal: Principal): void {
  if (hasScope(principal, 'runs:write')) return;
  throw new AppError('FORBIDDEN', 'A decision about a call needs the scope "runs:write".', {
    details: { scope: 'runs:write' },
  });
}

/** The last wait of a run for the decisions of a request, and its outcome, from the events of the run. */
class ClientWait {
  /** Number of its event; 0 without one. */
  at = 0;
  /** Whether the run has received other results. */
  private isOther = false;
  private requests: readonly WaitingRequest[] = [];
  private decided = new Set<string>();
  private compared = new Set<string>();

  constructor(private readonly given: ClientDecisions) {}

  /** Whether the run has waited for these decisions, and has received no other ones. */
  get isOpen(): boolean {
    return this.at > 0 && !this.isOther;
  }

  get isAnswered(): boolean {
    return this.isOpen && this.requests.every(({ id }) => this.decided.has(id));
  }

  /** By the ids of the requests. */
  get decisions(): ReadonlyMap<string, GivenDecision> {
    return new Map(this.requests.map(({ id, step }) => [id, this.given.get(step)!]));
  }

  take({ event, n }: RunItem): void {
    if (event.type === 'run.waiting' && waitsFor(event, this.given)) {
      this.at = n ?? 0;
      this.decided = new Set();
      this.compared = new Set();
      this.requests = event.requests.filter(({ step }) => this.given.has(step));
    } else if (event.type === 'policy.decided' && 'request_id' in event) this.decided.add(event.request_id);
    else if (event.type === 'tool.completed') this.compare(event);
  }

  private compare({ call_id: id, result }: Extract<RunEvent, { type: 'tool.completed' }>): void {
    const request = this.requests.find(({ call_id: callId }) => callId === id);
    // A model may use the id again in a later reply.
    if (!request || this.compared.has(id)) return;
    this.compared.add(id);
    const given = this.given.get(request.step);
    this.isOther ||= given?.kind === 'input' && given.value !== result;
  }
}

/** Whether each decision answers a request of this wait, and each call of the client's tools has its result. */
function waitsFor({ requests }: Extract<RunEvent, { type: 'run.waiting' }>, given: ClientDecisions): boolean {
  const bySteps = new Map(requests.map((request) => [request.step, request]));
  const isMissing = requests.some(({ by_client: isByClient, step }) => isByClient && !given.has(step));
  return !isMissing && [...given].every(([step, decision]) => isAnswer(bySteps.get(step), decision));
}

/** A person answers questions of the server's tools, which a client could otherwise answer by the id of their call. */
function isAnswer(request: WaitingRequest | undefined, { kind }: GivenDecision): boolean {
  if (request?.by_client) return kind === 'input';
  return request?.kind === 'approval' && (kind === 'approve' || kind === 'deny');
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
