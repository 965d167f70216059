import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { AgentRunInput } from '../../../agent/index.js';
import { disconnectSignal, EventStreamService, markReplay } from '../../../api/index.js';
import { compatibleApiConfig, type CompatibleApiConfig } from '../../../config/namespaces/index.js';
import { AppError, Log } from '../../../errors/index.js';
import type { Principal } from '../../../kernel/index.js';
import { isTerminal, type RunEvent, type RunItem } from '../../../run/event/index.js';
import { WORKFLOW_PREFIX } from '../../client-run.service.js';
import { begun, toFrame } from '../../frames.js';
import { ClientWatchService } from '../../client-watch.service.js';
import type { ClientHeaders } from '../chat-completion.service.js';
import { ResponseFold } from './response-fold.js';
import { ResponseHistoryService, type StoredResponse } from './response-history.service.js';
import { toResponseId } from './response-messages.js';
import { parseResponseRequest } from './response-request.mapper.js';
import { type OpenedResponse, ResponseStartService } from './response-start.service.js';
import { type ResponseEcho, toResponse } from './response.mapper.js';
import type { ResponseEvent } from './response.types.js';

/** Responses: each request is a run, or continues one that waits for its client. */
@Injectable()
export class ResponseService {
  private readonly logger = new Log(ResponseService.name);

  constructor(
    @Inject(compatibleApiConfig.KEY) private readonly config: CompatibleApiConfig,
    private readonly starts: ResponseStartService,
    private readonly history: ResponseHistoryService,
    private readonly watch: ClientWatchService,
    private readonly streams: EventStreamService,
  ) {}

  /**
   * Answers with a response, or streams its events. Unless it runs in the background, the run is cancelled when the client
   * disconnects before its end.
   */
  async create(principal: Principal, body: unknown, headers: ClientHeaders, reply: FastifyReply): Promise<void> {
    const request = parseResponseRequest(body);
    const signal = disconnectSignal(reply);
    const opened = await this.starts.open(principal, request, headers, signal);
    if (opened.kind !== 'resumed') markReplay(reply, { kind: opened.kind });
    reply.header('x-run-id', opened.id);
    const fold = this.foldOf(opened);
    if (request.background && !request.stream) return void (await reply.send(responseOf(opened, fold)));
    const isWatched = !request.background && headers.idempotencyKey === undefined;
    const all = request.store === false ? this.unstored(principal, opened) : opened.items;
    const items = isWatched ? this.watch.untilEnd(principal, opened.id, all, signal) : all;
    if (!request.stream) return void (await reply.send(await this.whole(opened, fold, items)));
    const frames = await begun(toFrames(withContent(fold, items, opened.id)));
    await this.streams.sendFrames(reply, { run_id: opened.id }, frames, signal);
  }

  /** A stored response: its present state. */
  async get(principal: Principal, id: string): Promise<object> {
    const stored = await this.history.find(principal, id);
    const opened = openedOf(stored);
    const fold = this.foldOf(opened);
    for (const item of await this.history.items(stored)) fold.take(item);
    return responseOf(opened, fold);
  }

  /** Streams the events of a stored response, after the event of this sequence number. */
  async follow(
    principal: Principal,
    id: string,
    startingAfter: number | undefined,
    reply: FastifyReply,
  ): Promise<void> {
    const signal = disconnectSignal(reply);
    const stored = await this.history.find(principal, id);
    const fold = this.foldOf(openedOf(stored), startingAfter);
    const events = eventsOf(fold, this.history.follow(stored, signal));
    await this.streams.sendFrames(reply, { run_id: stored.run.id }, toFrames(events, startingAfter), signal);
  }

  /** Deletes the journal of the run after its end. A run that waits for its client keeps it until then. */
  private async *unstored(principal: Principal, { id, items }: OpenedResponse): AsyncGenerator<RunItem, void> {
    let hasEnded = false;
    try {
      for await (const item of items) {
        hasEnded ||= isTerminal(item.event);
        yield item;
      }
    } finally {
      if (hasEnded) await this.history.remove(principal, id).catch((error: unknown) => this.logRemains(id, error));
    }
  }

  private logRemains(runId: string, err: unknown): void {
    this.logger.warn({ err, run_id: runId }, 'Failed to delete the journal of a response with `store: false`');
  }

  /** @throws AppError with the code of a failed run */
  private async whole(opened: OpenedResponse, fold: ResponseFold, items: AsyncIterable<RunItem>): Promise<object> {
    for await (const item of items) {
      fold.take(item);
      if (fold.isOver) break;
    }
    if (!fold.isOver) throw handedOver(opened.id);
    if (fold.failure) throw fold.failure;
    return responseOf(opened, fold);
  }

  private foldOf(opened: OpenedResponse, startingAfter?: number): ResponseFold {
    const { id: runId, after, clientTools, isResultOnly } = opened;
    const { onWaiting } = this.config;
    const head = headOf(opened);
    const mayHaveEffect = (event: RunEvent) => this.watch.mayHaveEffect(event, clientTools);
    return new ResponseFold({
      runId,
      after,
      clientTools,
      onWaiting,
      isResultOnly,
      startingAfter,
      mayHaveEffect,
      toResponse: (state) => toResponse(head, state),
    });
  }
}

/** The events that open a response, before its content. */
const OPENING = new Set(['response.created', 'response.in_progress']);

/** The events of a response by the item of its run; the first list opens it. */
async function* eventsOf(
  fold: ResponseFold,
  items: AsyncIterable<RunItem>,
): AsyncGenerator<readonly ResponseEvent[], void> {
  let isFirst = true;
  for await (const item of items) {
    const opening = isFirst ? fold.start(item.at) : [];
    isFirst = false;
    yield [...opening, ...fold.take(item)];
    if (fold.isOver) return;
  }
}

/**
 * The events of a new response. The first ones come with its first content: before it, a failure has an HTTP status of its
 * own.
 * @throws AppError with the code of a run that failed before
 */
async function* withContent(
  fold: ResponseFold,
  items: AsyncIterable<RunItem>,
  runId: string,
): AsyncGenerator<readonly ResponseEvent[], void> {
  let held: ResponseEvent[] | null = [];
  for await (const events of eventsOf(fold, items)) {
    if (!held) yield events;
    else if (fold.failure && fold.state.output.length === 0) throw fold.failure;
    else {
      held.push(...events);
      if (held.every(({ type }) => OPENING.has(type))) continue;
      yield held;
      held = null;
    }
  }
  if (held) throw handedOver(runId);
}

async function* toFrames(
  events: AsyncIterable<readonly ResponseEvent[]>,
  startingAfter = -1,
): AsyncGenerator<string, void> {
  for await (const list of events)
    for (const event of list) if (event.sequence_number > startingAfter) yield toFrame(event, event.type);
}

/** A repeated request would be a second run. */
function handedOver(runId: string): AppError {
  const message = `Run "${runId}" continues in another process or at the next start: read it at GET /v1/responses/${runId}.`;
  return new AppError('SHUTTING_DOWN', message, { details: { run_id: runId, has_effect: true } });
}

function headOf({ id: runId, after, sessionId, echo }: OpenedResponse) {
  return { id: toResponseId({ runId, after }), sessionId, echo };
}

function responseOf(opened: OpenedResponse, fold: ResponseFold): object {
  return toResponse(headOf(opened), fold.state);
}

/** A stored response without its items. */
function openedOf({ run, input, place }: StoredResponse): OpenedResponse {
  const { conversation, clientTools = [] } = input as Partial<AgentRunInput>;
  const echo = { model: run.agent, ...conversation?.request } as ResponseEcho;
  return {
    id: run.id,
    kind: 'started',
    items: nothing(),
    after: place.after,
    isResultOnly: run.agent.startsWith(WORKFLOW_PREFIX),
    echo,
    clientTools: new Set(clientTools.map(({ name }) => name)),
    sessionId: run.sessionId,
  };
}

async function* nothing(): AsyncGenerator<never, void> {
  // A stored response reads its items from the journal.
}
