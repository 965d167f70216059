import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { disconnectSignal, EventStreamService, markReplay, parseIdempotencyKey } from '../../api/index.js';
import { compatibleApiConfig, type CompatibleApiConfig } from '../../config/index.js';
import { AppError, Log, toOpenAiError, toProblem } from '../../errors/index.js';
import { isDoneWithin, type Principal } from '../../kernel/index.js';
import { RunService } from '../../run/index.js';
import { ToolRegistry } from '../../tool/index.js';
import { type CompletionHead, toChunks, toCompletion } from './chat-completion.mapper.js';
import { parseChatRequest, toClientMessages, toOptions } from './chat-request.mapper.js';
import type { ChatRequest } from './chat-request.schema.js';
import { ClientRunService, type ClientRequest, type OpenedRun } from '../client-run.service.js';
import { replyOf, type ReplyPart } from './run-reply.mapper.js';

/** Time for which a stream waits for its first part, in ms: an error within it has its own HTTP status. */
const FIRST_PART_MS = 10_000;

/** Headers that a client may send beside the body. */
export interface ChatHeaders {
  readonly idempotencyKey?: string | undefined;
  readonly sessionId?: string | undefined;
}

/** Chat Completions: each request is a run, or continues one that waits for results of its client. */
@Injectable()
export class ChatCompletionService {
  private readonly logger = new Log(ChatCompletionService.name);

  constructor(
    @Inject(compatibleApiConfig.KEY) private readonly config: CompatibleApiConfig,
    private readonly clients: ClientRunService,
    private readonly runs: RunService,
    private readonly tools: ToolRegistry,
    private readonly streams: EventStreamService,
  ) {}

  /** Answers with a completion, or streams its chunks. The run is cancelled when the client disconnects before its end. */
  async answer(principal: Principal, body: unknown, headers: ChatHeaders, reply: FastifyReply): Promise<void> {
    const request = parseChatRequest(body);
    const signal = disconnectSignal(reply);
    const run = await this.clients.open(principal, toClientRequest(request, headers, signal), signal);
    if (run.kind !== 'resumed') markReplay(reply, { kind: run.kind });
    reply.header('x-run-id', run.id);
    const parts = this.watched(principal, run, { signal, isRepeatable: headers.idempotencyKey !== undefined });
    const head = { id: `chatcmpl-${run.id}`, created: Math.floor(Date.now() / 1000), model: request.model };
    if (!request.stream) return void (await reply.send(await toCompletion(head, parts)));
    await this.stream(reply, run.id, this.frames(request, head, parts), signal);
  }

  private async stream(
    reply: FastifyReply,
    runId: string,
    frames: AsyncGenerator<string, void>,
    signal: AbortSignal,
  ): Promise<void> {
    const first = frames.next();
    if (
      await isDoneWithin(
        FIRST_PART_MS,
        first.catch(() => undefined),
      )
    )
      await first;
    await this.streams.sendFrames(reply, { run_id: runId }, startingWith(first, frames), signal);
  }

  private async *frames(
    { stream_options: options }: ChatRequest,
    head: CompletionHead,
    parts: AsyncIterable<ReplyPart>,
  ): AsyncGenerator<string, void> {
    for await (const chunk of toChunks(head, parts, options?.include_usage ?? false)) yield frame(chunk);
    yield 'data: [DONE]\n\n';
  }

  /** The parts of the reply; a client that leaves before the last one cancels the run. */
  private async *watched(
    principal: Principal,
    { id, items, isResultOnly }: OpenedRun,
    { signal, isRepeatable }: { readonly signal: AbortSignal; readonly isRepeatable: boolean },
  ) {
    let isOver = false;
    const cancel = () => {
      if (!isOver && !isRepeatable) this.cancel(principal, id);
    };
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    const { onWaiting } = this.config;
    try {
      yield* replyOf(items, { runId: id, onWaiting, isResultOnly, isRepeatable: (tool) => this.isRepeatable(tool) });
    } finally {
      isOver = !signal.aborted;
      signal.removeEventListener('abort', cancel);
    }
  }

  private isRepeatable(tool: string): boolean {
    return this.tools.list().find(({ definition }) => definition.name === tool)?.metadata.effect === 'read';
  }

  private cancel(principal: Principal, runId: string): void {
    this.runs.cancel(principal, runId).catch((error: unknown) => {
      if (!(error instanceof AppError))
        this.logger.error({ err: error, run_id: runId }, 'Failed to cancel the run of a disconnected client');
    });
  }
}

function toClientRequest(request: ChatRequest, headers: ChatHeaders, signal: AbortSignal): ClientRequest {
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

function frame(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** A failure after the first part is the last frame: clients throw it as an error of the API. */
async function* startingWith(
  first: Promise<IteratorResult<string, void>>,
  frames: AsyncGenerator<string, void>,
): AsyncGenerator<string, void> {
  try {
    const { value, done } = await first;
    if (!done) yield value;
    yield* frames;
  } catch (error) {
    yield frame(toOpenAiError(toProblem(error)));
  }
}
