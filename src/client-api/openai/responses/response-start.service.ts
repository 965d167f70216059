import { Injectable } from '@nestjs/common';
import type { AgentRequest, GivenConversation } from '../../../agent/index.js';
import { parseIdempotencyKey } from '../../../api/index.js';
import { AppError } from '../../../errors/index.js';
import type { Principal } from '../../../kernel/index.js';
import { mergeFacts } from '../../../run/facts/index.js';
import { invalid, toInput } from '../../client-conversation.js';
import { ClientOriginService } from '../../client-origin.service.js';
import { ClientRunService, type OpenedRun, WORKFLOW_PREFIX } from '../../client-run.service.js';
import type { ClientHeaders } from '../chat-completion.service.js';
import { type EarlierConversation, ResponseHistoryService } from './response-history.service.js';
import { runOfItem } from './response-messages.js';
import { decisionsIn, functionsIn, toClientMessages, toOptions } from './response-request.mapper.js';
import type { InputItem, ResponseRequest } from './response-request.schema.js';
import { type ResponseEcho, toEcho } from './response.mapper.js';

/** A response that is being created. */
export interface OpenedResponse extends OpenedRun {
  readonly echo: ResponseEcho;
}

interface GivenInput {
  readonly items: readonly InputItem[];
  readonly messages: ReturnType<typeof toClientMessages>;
  readonly previous: string | undefined;
}

interface StartOptions {
  readonly messages: ReturnType<typeof toClientMessages>;
  readonly options: Omit<AgentRequest, 'query'>;
  readonly echo: ResponseEcho;
}

/** Starts the run of a request, or resumes the one that waits for it. */
@Injectable()
export class ResponseStartService {
  constructor(
    private readonly clients: ClientRunService,
    private readonly origins: ClientOriginService,
    private readonly history: ResponseHistoryService,
  ) {}

  /** @throws AppError as `AgentService.chat`; `RUN_NOT_FOUND`, `RUN_NOT_WAITING` */
  async open(
    principal: Principal,
    request: ResponseRequest,
    headers: ClientHeaders,
    signal: AbortSignal,
  ): Promise<OpenedResponse> {
    const items = await this.history.resolved(principal, itemsOf(request));
    const tools = functionsIn(request.tools);
    const echo = toEcho(request, tools);
    const previous = request.previous_response_id ?? undefined;
    const messages = toClientMessages([...instructionsOf(request), ...items]);
    const resumed = await this.resumed(principal, { items, messages, previous }, signal);
    if (resumed) return { ...resumed, echo };
    const options = optionsOf(request, tools, headers, signal);
    if (isPlainWorkflow(request))
      return { ...(await this.clients.open(principal, { model: request.model, messages, options }, signal)), echo };
    const run = await this.start(principal, request, { messages, options, echo }, signal);
    return { ...run, echo };
  }

  /** Decisions at the end of the input resume their run. Without `previous_response_id` the conversation must be the same. */
  private async resumed(
    principal: Principal,
    { items, messages, previous }: GivenInput,
    signal: AbortSignal,
  ): Promise<OpenedRun | undefined> {
    const given = decisionsIn(items);
    if (!given) return undefined;
    if (previous === undefined && !given.hasApprovals) return this.clients.resumeBy(principal, messages, signal);
    const run = await this.clients.resume(principal, given.runId, given.decisions, signal);
    if (run) return run;
    const message = `Run "${given.runId}" does not wait for these decisions: it has ended, or others came first.`;
    throw new AppError('RUN_NOT_WAITING', message, { details: { run_id: given.runId } });
  }

  private async start(
    principal: Principal,
    request: ResponseRequest,
    { messages, options, echo }: StartOptions,
    signal: AbortSignal,
  ): Promise<OpenedRun> {
    const { previous_response_id: previous } = request;
    const earlier = previous ? await this.earlier(principal, previous, options.sessionId) : undefined;
    const sessionId = options.sessionId ?? earlier?.sessionId;
    const input = toInput(messages, sessionId !== undefined);
    const origin = await this.origins.of(principal, messages, runOfItem);
    const given = { ...input.conversation, ...origin };
    const conversation = { ...continued(given, earlier, sessionId === undefined), request: { ...echo } };
    const own = sessionId === undefined ? {} : { sessionId };
    const start = { ...options, ...input, conversation, agent: request.model, ...own };
    return request.background
      ? this.clients.submitWith(principal, start, signal)
      : this.clients.startWith(principal, start, signal);
  }

  /** A response of a session is continued in the session. */
  private async earlier(principal: Principal, id: string, sessionId: string | undefined) {
    const stored = await this.history.findOwn(principal, id);
    if (sessionId !== undefined) throw invalid('previous_response_id', 'excludes conversation', id);
    if (stored.run.sessionId !== null) return { sessionId: stored.run.sessionId, history: [], facts: [] };
    return { sessionId: undefined, ...(await this.history.conversation(stored)) };
  }
}

/** @param isOwn whether the client keeps the conversation, not a session */
function continued(
  given: GivenConversation,
  earlier: EarlierConversation | undefined,
  isOwn: boolean,
): GivenConversation {
  return {
    ...given,
    ...(isOwn && { history: [...(earlier?.history ?? []), ...(given.history ?? [])] }),
    ...(earlier && { facts: mergeFacts(earlier.facts, given.facts ?? []) }),
  };
}

function optionsOf(
  request: ResponseRequest,
  tools: ReturnType<typeof functionsIn>,
  headers: ClientHeaders,
  signal: AbortSignal,
): Omit<AgentRequest, 'query'> {
  const idempotency = parseIdempotencyKey(headers.idempotencyKey, 'v1/responses', request);
  const sessionId = sessionOf(request, headers);
  return {
    ...toOptions(request, tools),
    ...(sessionId !== undefined && { sessionId }),
    ...(idempotency && { idempotency }),
    ...(!request.background && { wait: idempotency ? {} : { signal } }),
  };
}

/** A workflow has no history, and its runs in the background are those of the REST API. */
function isPlainWorkflow({ model, background, previous_response_id: previous }: ResponseRequest): boolean {
  return model.startsWith(WORKFLOW_PREFIX) && !background && !previous;
}

function itemsOf({ input = [] }: ResponseRequest): readonly InputItem[] {
  return typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : input;
}

function instructionsOf({ instructions }: ResponseRequest): readonly InputItem[] {
  return instructions ? [{ type: 'message', role: 'system', content: instructions }] : [];
}

function sessionOf({ conversation }: ResponseRequest, { sessionId }: ClientHeaders): string | undefined {
  if (typeof conversation === 'string') return conversation;
  return conversation?.id ?? sessionId;
}
