import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { type AgentRunInput, toErrorCode } from '../../../agent/index.js';
import { disconnectSignal, EventStreamService, markReplay } from '../../../api/index.js';
import { compatibleApiConfig, type CompatibleApiConfig } from '../../../config/index.js';
import { AppError } from '../../../errors/index.js';
import type { Principal } from '../../../kernel/index.js';
import { isTerminal, type RunItem } from '../../../run/index.js';
import { type OpenedRun, WORKFLOW_PREFIX } from '../../client-run.service.js';
import { ClientWatchService } from '../../client-watch.service.js';
import type { ClientHeaders } from '../chat-completion.service.js';
import { begun, toFrame } from '../frames.js';
import { ResponseFold } from './response-fold.js';
import { ResponseHistoryService, type StoredResponse } from './response-history.service.js';
import { toResponseId } from './response-id.js';
import { parseResponseRequest } from './response-request.mapper.js';
import { type OpenedResponse, ResponseStartService } from './response-start.service.js';
import { type ResponseEcho, toResponse } from './response.mapper.js';

/** Responses: each request is a run, or continues one that waits for its client. */
@Injectable()
export class ResponseService {
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
    const frames = await begun(this.frames(fold, items, opened.id));
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
    const { run } = stored;
    const opened = { ...openedOf(stored), items: this.history.follow(stored, signal) };
    const fold = this.foldOf(opened, startingAfter);
    await this.streams.sendFrames(
      reply,
      { run_id: run.id },
      this.frames(fold, opened.items, run.id, startingAfter),
      signal,
    );
  }

  /** Deletes the journal of the run after its end. A run that waits for its client keeps it until then. */
  private async *unstored(principal: Principal, { id, items }: OpenedRun): AsyncGenerator<RunItem, void> {
    let hasEnded = false;
    try {
      for await (const item of items) {
        hasEnded ||= isTerminal(item.event);
        yield item;
      }
    } finally {
      if (hasEnded) await this.history.remove(principal, id);
    }
  }

  private async whole(opened: OpenedResponse, fold: ResponseFold, items: AsyncIterable<RunItem>): Promise<object> {
    for await (const item of items) {
      fold.take(item);
      if (fold.isOver) break;
    }
    this.assertAnswered(fold, opened.id);
    return responseOf(opened, fold);
  }

  private async *frames(
    fold: ResponseFold,
    items: AsyncIterable<RunItem>,
    runId: string,
    startingAfter?: number,
  ): AsyncGenerator<string, void> {
    let opening = fold.start();
    for await (const item of items) {
      const events = fold.take(item);
      // A new stream starts with its first content: before it, a failure has an HTTP status of its own.
      const isWaiting = opening.length > 0 && startingAfter === undefined;
      if (isWaiting && fold.state.output.length === 0) this.assertAnswered(fold, runId);
      if (isWaiting && events.length === 0) continue;
      const fresh = [...opening, ...events].filter(({ sequence_number: n }) => n > (startingAfter ?? -1));
      for (const event of fresh) yield toFrame(event, event.type);
      opening = [];
      if (fold.isOver) return;
    }
  }

  /** @throws AppError with the code of a failed run; `has_effect` if a call may have changed something */
  private assertAnswered({ state: { error, output, isRetryable } }: ResponseFold, runId: string): void {
    if (!error) return;
    const hasEffect = output.some((item) => item.type === 'mcp_call' && !this.watch.isRepeatable(item.name));
    const details = { run_id: runId, ...(hasEffect && { has_effect: true }) };
    throw new AppError(toErrorCode(error.code), error.message, { isRetryable, details });
  }

  private foldOf(opened: OpenedResponse, startingAfter?: number): ResponseFold {
    const { id: runId, after, clientTools, isResultOnly } = opened;
    const { onWaiting } = this.config;
    const head = headOf(opened);
    return new ResponseFold({
      runId,
      after,
      clientTools,
      onWaiting,
      isResultOnly,
      startingAfter,
      toResponse: (state) => toResponse(head, state),
    });
  }
}

function headOf({ id: runId, after, createdAt, sessionId, echo }: OpenedResponse) {
  return { id: toResponseId({ runId, after }), createdAt, sessionId, echo };
}

function responseOf(opened: OpenedResponse, fold: ResponseFold): object {
  return toResponse(headOf(opened), fold.state);
}

/** A stored response without its items. */
function openedOf({
  run,
  input,
  place,
}: StoredResponse): Omit<OpenedResponse, 'items'> & { items: AsyncGenerator<RunItem, void> } {
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
    createdAt: run.createdAt,
  };
}

async function* nothing(): AsyncGenerator<never, void> {
  // A stored response reads its items from the journal.
}
