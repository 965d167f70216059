import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { disconnectSignal, EventStreamService, markReplay, parseIdempotencyKey } from '../../api/index.js';
import { compatibleApiConfig, type CompatibleApiConfig } from '../../config/namespaces/index.js';
import type { Principal } from '../../kernel/index.js';
import type { RunEvent, RunUsage } from '../../run/event/index.js';
import { type ClientRequest, ClientRunService, type OpenedRun } from '../client-run.service.js';
import { begun, toFrame } from '../frames.js';
import { ClientWatchService } from '../client-watch.service.js';
import { parseChatRequest, toClientMessages, toOptions } from './chat-request.mapper.js';
import type { ChatRequest } from './chat-request.schema.js';
import { replyOf, type ReplyPart } from './run-reply.mapper.js';

/** The members that all chunks of a completion share. */
export interface CompletionHead {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly model: string;
}

/** The completion of a reply. @see https://platform.openai.com/docs/api-reference/chat/object */
export async function toCompletion(head: CompletionHead, parts: AsyncIterable<ReplyPart>): Promise<object> {
  let content = '';
  let reasoning = '';
  for await (const part of parts) {
    if (part.kind === 'text') content += part.text;
    else if (part.kind === 'reasoning') reasoning += part.text;
    else {
      const { reason, usage } = part;
      const calls = toCalls(part);
      const message = {
        role: 'assistant',
        content: content === '' && calls.length > 0 ? null : content,
        refusal: null,
        ...(reasoning !== '' && { reasoning_content: reasoning }),
        ...(calls.length > 0 && { tool_calls: calls }),
      };
      const choice = { index: 0, message, logprobs: null, finish_reason: reason };
      return { ...head, object: 'chat.completion', choices: [choice], usage: toUsage(usage) };
    }
  }
  throw new Error('The reply has no end.');
}

/** The chunks of a streamed reply. @see https://platform.openai.com/docs/api-reference/chat-streaming */
export async function* toChunks(
  head: CompletionHead,
  parts: AsyncIterable<ReplyPart>,
  hasUsage: boolean,
): AsyncGenerator<object, void> {
  const base = { ...head, object: 'chat.completion.chunk', ...(hasUsage && { usage: null }) };
  const chunk = (delta: object, reason: string | null = null) => ({
    ...base,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
  });
  let isFirst = true;
  for await (const part of parts) {
    if (isFirst) yield chunk({ role: 'assistant', content: '', refusal: null });
    isFirst = false;
    if (part.kind === 'text') yield chunk({ content: part.text });
    else if (part.kind === 'reasoning') yield chunk({ reasoning_content: part.text });
    else {
      for (const [index, call] of toCalls(part).entries()) yield chunk({ tool_calls: [{ index, ...call }] });
      yield chunk({}, part.reason);
      if (hasUsage) yield { ...base, choices: [], usage: toUsage(part.usage) };
    }
  }
}

function toCalls({ calls }: Extract<ReplyPart, { kind: 'end' }>) {
  return calls.map(({ id, name, arguments: args }) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: args },
  }));
}

function toUsage(usage: RunUsage) {
  return {
    prompt_tokens: usage.prompt_tokens,
    completion_tokens: usage.completion_tokens,
    total_tokens: usage.total_tokens,
    prompt_tokens_details: { cached_tokens: usage.cached_tokens ?? 0 },
    completion_tokens_details: { reasoning_tokens: usage.reasoning_tokens ?? 0 },
  };
}

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
