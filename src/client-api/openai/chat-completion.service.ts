import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { disconnectSignal, EventStreamService, markReplay, parseIdempotencyKey } from '../../api/index.js';
import { compatibleApiConfig, type CompatibleApiConfig } from '../../config/index.js';
import type { Principal } from '../../kernel/index.js';
import type { RunEvent } from '../../run/index.js';
import { ClientRunService, type ClientRequest, type OpenedRun } from '../client-run.service.js';
import { ClientWatchService } from '../client-watch.service.js';
import { type CompletionHead, toChunks, toCompletion } from './chat-completion.mapper.js';
import { parseChatRequest, toClientMessages, toOptions } from './chat-request.mapper.js';
import type { ChatRequest } from './chat-request.schema.js';
import { begun, toFrame } from '../frames.js';
import { replyOf, type ReplyPart } from './run-reply.mapper.js';

/** Headers that a client may send beside the body. */
export interface ClientHeaders {
  readonly idempotencyKey?: string | undefined;
  readonly sessionId?: string | undefined;
}

/** Chat Completions: each request is a run, or continues one that waits for results of its client. */
@Injectable()
export class ChatCompletionService {
  constructor(
    @Inject(compatibleApiConfig.KEY) private readonly config: CompatibleApiConfig,
    private readonly clients: ClientRunService,
    private readonly watch: ClientWatchService,
    private readonly streams: EventStreamService,
  ) {}

  /** Answers with a completion, or streams its chunks. The run is cancelled when the client disconnects before its end. */
  async answer(principal: Principal, body: unknown, headers: ClientHeaders, reply: FastifyReply): Promise<void> {
    const request = parseChatRequest(body);
    const signal = disconnectSignal(reply);
    const run = await this.clients.open(principal, toClientRequest(request, headers, signal), signal);
    if (run.kind !== 'resumed') markReplay(reply, { kind: run.kind });
    reply.header('x-run-id', run.id);
    const all = this.partsOf(run, request.stream ?? false);
    // A client with a key can repeat its request.
    const parts = headers.idempotencyKey === undefined ? this.watch.untilEnd(principal, run.id, all, signal) : all;
    const head = { id: `chatcmpl-${run.id}`, created: Math.floor(Date.now() / 1000), model: request.model };
    if (!request.stream) return void (await reply.send(await toCompletion(head, parts)));
    const frames = await begun(framesOf(request, head, parts));
    await this.streams.sendFrames(reply, { run_id: run.id }, frames, signal);
  }

  private partsOf(
    { id, items, isResultOnly, clientTools }: OpenedRun,
    isStreaming: boolean,
  ): AsyncGenerator<ReplyPart, void> {
    const { onWaiting } = this.config;
    const mayHaveEffect = (event: RunEvent) => this.watch.mayHaveEffect(event, clientTools);
    return replyOf(items, { runId: id, onWaiting, isResultOnly, isStreaming, mayHaveEffect });
  }
}

async function* framesOf(
  { stream_options: options }: ChatRequest,
  head: CompletionHead,
  parts: AsyncIterable<ReplyPart>,
): AsyncGenerator<string, void> {
  for await (const chunk of toChunks(head, parts, options?.include_usage ?? false)) yield toFrame(chunk);
  yield 'data: [DONE]\n\n';
}

function toClientRequest(request: ChatRequest, headers: ClientHeaders, signal: AbortSignal): ClientRequest {
  const idempotency = parseIdempotencyKey(headers.idempotencyKey, 'v1/chat/completions', request);
  const { session_id: named, ...metadata } = request.metadata ?? {};
  const sessionId = headers.sessionId ?? (typeof named === 'string' ? named : undefined);
  return {
    model: request.model,
    messages: toClientMessages(request.messages),
    options: {
      ...toOptions(request),
      ...(sessionId !== undefined && { sessionId }),
      ...(Object.keys(metadata).length > 0 && { metadata }),
      ...(idempotency && { idempotency }),
      wait: headers.idempotencyKey === undefined ? { signal } : {},
    },
  };
}
