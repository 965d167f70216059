import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AgentService } from '../../agent/index.js';
import { disconnectSignal, EventStreamService, markReplay } from '../../api/index.js';
import { compatibleApiConfig, type CompatibleApiConfig } from '../../config/namespaces/index.js';
import { toProblem } from '../../errors/index.js';
import type { Principal } from '../../kernel/index.js';
import type { RunItem } from '../../run/event/index.js';
import { begun, toFrame } from '../frames.js';
import { ClientWatchService } from '../client-watch.service.js';
import type { UiChunk } from './ui-chunk.types.js';
import { type OpenedChat, UiChatService, type UiHeaders } from './ui-chat.service.js';
import { UiMessageFold } from './ui-message-fold.js';
import { parseUiRequest } from './ui-request.mapper.js';

const DONE = 'data: [DONE]\n\n';

/** Streams messages to `useChat` of the AI SDK: each request is a run, or continues one that waits for its page. */
@Injectable()
export class UiStreamService {
  constructor(
    @Inject(compatibleApiConfig.KEY) private readonly config: CompatibleApiConfig,
    private readonly chats: UiChatService,
    private readonly agents: AgentService,
    private readonly watch: ClientWatchService,
    private readonly streams: EventStreamService,
  ) {}

  /** The run is cancelled when the page disconnects before its end, unless the page can resume the stream. */
  async answer(principal: Principal, body: unknown, headers: UiHeaders, reply: FastifyReply): Promise<void> {
    const request = parseUiRequest(body);
    const signal = disconnectSignal(reply);
    const opened = await this.chats.open(principal, request, headers, signal);
    if (opened.kind !== 'resumed') markReplay(reply, { kind: opened.kind });
    const isWatched = !request.resume && headers.idempotencyKey === undefined;
    const { runId, items } = opened;
    const watched = isWatched ? this.watch.untilEnd(principal, runId, items, signal) : items;
    const fold = await this.foldOf(opened);
    const frames = await begun(framesOf(untilWait(fold, watched)), toErrorFrame);
    await this.send(reply, runId, frames, signal);
  }

  /** Streams the open run of a chat from its start; 204 without one. */
  async resume(principal: Principal, chatId: string, reply: FastifyReply): Promise<void> {
    const signal = disconnectSignal(reply);
    const opened = await this.chats.findOpen(principal, chatId, signal);
    if (!opened) return void (await reply.status(204).send());
    const fold = await this.foldOf(opened);
    await this.send(reply, opened.runId, whole(framesOf(untilEnd(fold, opened.items))), signal);
  }

  private send(
    reply: FastifyReply,
    runId: string,
    frames: AsyncGenerator<string, void>,
    signal: AbortSignal,
  ): Promise<void> {
    reply.header('x-vercel-ai-ui-message-stream', 'v1');
    reply.header('x-run-id', runId);
    return this.streams.sendFrames(reply, { run_id: runId }, frames, signal);
  }

  /** The message as the page has it before the first item. */
  private async foldOf({ runId, after, messageId, clientTools }: OpenedChat): Promise<UiMessageFold> {
    const fold = new UiMessageFold({ runId, messageId, clientTools, onWaiting: this.config.onWaiting });
    if (after === 0) return fold;
    for await (const { n, event } of this.agents.recorded(runId)) {
      if ((n ?? 0) > after) break;
      fold.take(event);
    }
    fold.continue();
    return fold;
  }
}

/** The chunks up to the next wait. The first one comes with the first content: a failure before has an HTTP status. */
async function* untilWait(fold: UiMessageFold, items: AsyncIterable<RunItem>): AsyncGenerator<UiChunk, void> {
  let isStarted = false;
  for await (const { event } of items) {
    const chunks = fold.take(event);
    if (chunks.length > 0 && !isStarted) yield fold.start();
    isStarted ||= chunks.length > 0;
    yield* chunks;
    if (fold.isOver || fold.isWaiting) break;
  }
  yield* fold.close();
  const last = fold.end();
  if (!isStarted) yield fold.start();
  yield* last;
}

/** The chunks up to the end, or to the wait at which the items end. */
async function* untilEnd(fold: UiMessageFold, items: AsyncIterable<RunItem>): AsyncGenerator<UiChunk, void> {
  yield fold.start();
  for await (const { event } of items) yield* fold.take(event);
  yield* fold.close();
  yield* fold.end();
}

async function* framesOf(chunks: AsyncIterable<UiChunk>): AsyncGenerator<string, void> {
  for await (const chunk of chunks) yield toFrame(chunk);
  yield DONE;
}

async function* whole(frames: AsyncIterable<string>): AsyncGenerator<string, void> {
  try {
    yield* frames;
  } catch (error) {
    yield toErrorFrame(error);
  }
}

function toErrorFrame(error: unknown): string {
  const { code, detail } = toProblem(error);
  const chunk: UiChunk = { type: 'error', errorText: `${code}: ${detail}` };
  return `${toFrame(chunk)}${DONE}`;
}
