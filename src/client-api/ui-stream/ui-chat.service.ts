import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AGENT_RUN, type AgentRunInput, AgentService, type GivenConversation } from '../../agent/index.js';
import { parseIdempotencyKey } from '../../api/index.js';
import { AppError } from '../../errors/index.js';
import type { Principal } from '../../kernel/index.js';
import { parseExactJson } from '../../kernel/json/index.js';
import { type RunRecord, RunService } from '../../run/index.js';
import type { RunItem } from '../../run/event/index.js';
import { RunListStore } from '../../run/query/index.js';
import { parseClientCallId } from '../client-call-id.js';
import { type ClientMessage, toInput } from '../client-conversation.js';
import { ClientOriginService } from '../client-origin.service.js';
import { ClientRunService, type OpenedRun } from '../client-run.service.js';
import {
  continuedMessage,
  decisionsIn,
  toClientMessages,
  toOptions,
  type UiMessage,
  type UiRequest,
} from './ui-request.mapper.js';

/** The run of a chat, with the message that its items belong to. */
export interface OpenedChat {
  readonly runId: string;
  readonly kind: OpenedRun['kind'];
  readonly items: AsyncGenerator<RunItem, void>;
  /** Number of the event before the first item; 0 for the whole run. */
  readonly after: number;
  readonly messageId: string;
  readonly clientTools: ReadonlySet<string>;
}

export interface UiHeaders {
  readonly idempotencyKey?: string | undefined;
}

/** A page resumes its stream within this time after the start of the run, in ms, among this number of open runs. */
const RESUMABLE_MS = 86_400_000;
const MAX_OPEN_RUNS = 100;

/** The part of a request that the input of its run stores. */
interface ChatPlace {
  /** Hash of the chat's id. */
  readonly chat: string;
  readonly message?: string;
}

/** Starts runs of chats, resumes those that wait for their page, and finds the open run of a chat. */
@Injectable()
export class UiChatService {
  constructor(
    private readonly agents: AgentService,
    private readonly clients: ClientRunService,
    private readonly runs: RunService,
    private readonly lists: RunListStore,
    private readonly origins: ClientOriginService,
  ) {}

  /** @throws AppError as `AgentService.chat`; `RUN_NOT_WAITING` for an approval that came too late */
  async open(principal: Principal, request: UiRequest, headers: UiHeaders, signal: AbortSignal): Promise<OpenedChat> {
    const continued = continuedMessage(request);
    const resumed = continued && (await this.resumed(principal, continued, signal));
    return resumed ?? this.start(principal, request, headers, signal);
  }

  /** The open run of a chat that this principal started, from its start. */
  async findOpen(principal: Principal, chatId: string, signal: AbortSignal): Promise<OpenedChat | undefined> {
    const chat = hashOf(chatId);
    const from = Date.now() - RESUMABLE_MS;
    const filter = { statuses: ['queued', 'running'], kind: AGENT_RUN, from } as const;
    const { runs } = await this.lists.list(principal, filter, MAX_OPEN_RUNS);
    for (const { id, parentRunId } of runs) {
      const run = parentRunId === null ? await this.runs.get(principal, id) : undefined;
      if (!run || run.principal.id !== principal.id || placeOf(run)?.chat !== chat) continue;
      return this.opened(run, { kind: 'started', items: this.agents.follow(id, 0, signal), after: 0 });
    }
    return undefined;
  }

  private async resumed(
    principal: Principal,
    message: UiMessage,
    signal: AbortSignal,
  ): Promise<OpenedChat | undefined> {
    const given = decisionsIn(message);
    if (!given) return undefined;
    const { runId } = given;
    const run = await this.clients.resume(principal, runId, given.decisions, signal);
    if (run) return { ...this.opened(await this.runs.get(principal, runId), run), messageId: message.id };
    if (!given.hasApprovals) return undefined;
    const text = `Run "${runId}" does not wait for these decisions: it has ended, or others came first.`;
    throw new AppError('RUN_NOT_WAITING', text, { details: { run_id: runId } });
  }

  private async start(
    principal: Principal,
    request: UiRequest,
    { idempotencyKey }: UiHeaders,
    signal: AbortSignal,
  ): Promise<OpenedChat> {
    const messages = toClientMessages(request.messages);
    const options = toOptions(request);
    const idempotency = parseIdempotencyKey(idempotencyKey, 'api/agent/ui', request);
    const input = toInput(messages, options.sessionId !== undefined);
    const conversation = await this.conversation(principal, request, messages, input.conversation);
    const isRepeatable = idempotency !== undefined || request.resume === true;
    const start = { ...options, ...input, conversation, wait: isRepeatable ? {} : { signal } };
    const run = await this.agents.stream(principal, { ...start, ...(idempotency && { idempotency }) }, signal);
    const { id, items } = run;
    const kind = run.kind === 'replayed' ? run.kind : 'started';
    return this.opened(await this.runs.get(principal, id), { kind, items, after: 0 });
  }

  private async conversation(
    principal: Principal,
    request: UiRequest,
    messages: readonly ClientMessage[],
    given: GivenConversation | undefined,
  ): Promise<GivenConversation> {
    const message = continuedMessage(request)?.id;
    const place: ChatPlace = { chat: hashOf(request.id), ...(message !== undefined && { message }) };
    const origin = request.sessionId ? {} : await this.origins.of(principal, messages, runOfCall);
    return { ...given, ...origin, request: { ui: place } };
  }

  private opened(run: RunRecord, stream: Pick<OpenedChat, 'kind' | 'items' | 'after'>): OpenedChat {
    const { clientTools = [] } = parseExactJson(run.input) as AgentRunInput;
    const { kind, items, after } = stream;
    const messageId = placeOf(run)?.message ?? `msg_${run.id}`;
    return { runId: run.id, kind, items, after, messageId, clientTools: new Set(clientTools.map(({ name }) => name)) };
  }
}

function runOfCall(callId: string): string | undefined {
  return parseClientCallId(callId)?.runId;
}

function placeOf(run: RunRecord): ChatPlace | undefined {
  const { conversation } = parseExactJson(run.input) as AgentRunInput;
  return conversation?.request?.['ui'] as ChatPlace | undefined;
}

/** A content filter may mask parts of an id, but not of its hash in letters. */
function hashOf(chatId: string): string {
  return createHash('sha256')
    .update(chatId)
    .digest('hex')
    .replaceAll(/\d/g, (digit) => 'ghijklmnop'[Number(digit)]!);
}
