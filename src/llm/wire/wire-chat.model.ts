import { hash } from 'node:crypto';
import { createParser } from 'eventsource-parser';
import { steadyNow } from '../../kernel/index.js';
import { ChatModel } from '../chat/chat-model.js';
import type {
  CallAccount,
  CallOptions,
  ChatRequest,
  ChatResult,
  ChatStreamPart,
  ModelCapabilities,
  ModelParameters,
  ReplyProgress,
} from '../chat/chat.types.js';
import { fitImages, fitParameters, withNearestEffort } from '../request-fit.policy.js';
import { fitFormat } from '../tool-schema.mapper.js';
import { checkUsage } from './reply.parser.js';
import { AdaptedRequest, type RequestWriter } from './adapted-request.builder.js';
import type { ChatCodec, PromptCaching, StreamedReply } from './chat-codec.types.js';
import { type ModelClient, WireRequest, type WireResponse } from './wire.client.js';
import { assertToolCount, createFittedRequest, type FittedRequest, withOwnNames } from './adaptation.registry.js';
import { toReportedError } from './error.mapper.js';
import type { WireSettings } from './wire-access.types.js';
import { BadReplyError, MissingApiError, StatusError } from './wire-failure.error.js';

/**
 * Parses server-sent events incrementally (html.spec.whatwg.org, "Parsing an event stream"); returns only their data. A
 * line may span any number of chunks and end in LF, CR or CRLF.
 */
export class SseParser {
  private readonly decoder = new TextDecoder();
  private events: string[] = [];
  private readonly parser = createParser({
    onEvent: ({ data }) => this.events.push(data),
    // llama.cpp until 2025 sent errors in a field of this name (github.com/ggml-org/llama.cpp/pull/16109).
    onError: ({ field, value }) => field === 'error' && value && this.events.push(value),
  });

  /** Returns the data of every event that ends in this chunk. */
  push(piece: Uint8Array): string[] {
    return this.read(this.decoder.decode(piece, { stream: true }));
  }

  /** Returns the last event if the stream ends without a blank line. */
  end(): string[] {
    return this.read(`${this.decoder.decode()}\n\n`);
  }

  private read(text: string): string[] {
    if (text !== '') this.parser.feed(text);
    const { events } = this;
    if (events.length > 0) this.events = [];
    return events;
  }
}

/**
 * Adapts a request to a model that does not support forced tool calls. `none` removes the tools; a forced call becomes
 * optional, and the caller must check for it.
 */
function fitToolChoice(request: ChatRequest, { forcedToolChoice = true }: ModelCapabilities): ChatRequest {
  const { toolChoice, tools, ...rest } = request;
  if (toolChoice === undefined || forcedToolChoice) return request;
  return toolChoice === 'none' ? rest : { ...rest, ...(tools && { tools }) };
}

/** The limit of a reply where a provider requires one, and the model's own is not known. */
const DEFAULT_REPLY_TOKENS = 4096;
const NO_TEXT: ChatStreamPart = { type: 'reasoning', text: '' };

/** A chat model of a provider over HTTP. It returns only complete replies; the codec handles the wire format. */
export class WireChatModel extends ChatModel {
  readonly provider: string;
  readonly name: string;
  readonly capabilities: ModelCapabilities;

  constructor(
    private readonly settings: WireSettings,
    private readonly client: ModelClient,
    private readonly codec: ChatCodec,
    private readonly parameters?: ModelParameters,
  ) {
    super();
    this.provider = settings.provider;
    this.name = settings.model;
    this.capabilities = settings.capabilities;
  }

  async generate(request: ChatRequest, options: CallOptions = {}): Promise<ChatResult> {
    if (this.codec.isStreamOnly) return toResult(this.stream(request, options));
    const fitted = this.fit(request);
    try {
      const response = await this.send(fitted.request, options, false);
      return withOwnNames(this.codec.read(await response.text()), fitted);
    } catch (thrown) {
      throw this.failure(thrown, options);
    }
  }

  async *stream(request: ChatRequest, options: CallOptions = {}): AsyncGenerator<ChatStreamPart, void> {
    const fitted = this.fit(request);
    const reply = this.codec.openStream();
    try {
      const response = await this.send(fitted.request, options, true);
      for await (const parts of readParts(response, reply)) {
        // `yield*` of a list makes an iterator and two promises more for each part.
        for (const part of withProgress(parts, reply, options.progress)) yield part;
      }
      if (!reply.isComplete) throw new BadReplyError('a stream that ends before its finish reason');
    } catch (thrown) {
      if (options.progress) options.progress.usage = checkUsage(reply.usage);
      // An error after the complete reply is ignored.
      if (options.signal?.aborted || !reply.isComplete) throw this.failure(thrown, options);
    }
    yield { type: 'finish', result: withOwnNames(this.finish(reply), fitted) };
  }

  override bodyOf(request: ChatRequest, isStreaming: boolean, account?: CallAccount): object {
    const { adaptations } = this.settings;
    const writer = this.writer(this.fit(request).request, isStreaming || this.codec.isStreamOnly === true, account);
    return new AdaptedRequest(writer, adaptations.of(this.settings)).body;
  }

  /** @throws AppError `MODEL_TOO_MANY_TOOLS` */
  private fit(request: ChatRequest): FittedRequest {
    const { codec, settings } = this;
    const fittedRequest = createFittedRequest(request, codec.toolRules);
    const { fitted } = fittedRequest;
    if (!fitted) return fittedRequest;
    settings.adaptations.learnTools(settings, fitted);
    assertToolCount(fitted, codec.toolRules, `${settings.model} of ${settings.provider}`);
    return fittedRequest;
  }

  /** Repeats a request whose fields the provider refused, without these fields. */
  private async send(request: ChatRequest, options: CallOptions, stream: boolean): Promise<WireResponse> {
    const { settings } = this;
    const { adaptations } = settings;
    const start = steadyNow();
    const adapted = new AdaptedRequest(this.writer(request, stream, options.account), adaptations.of(settings));
    for (;;) {
      const written = new WireRequest(adapted.body);
      options.onRequest?.(written.body, written.json);
      try {
        const response = await this.client.send(written, options, steadyNow() - start);
        if (adapted.found.size > 0) adaptations.learn(settings, adapted.found);
        return response;
      } catch (failure) {
        const isLate = options.deadlineAt !== undefined && steadyNow() >= options.deadlineAt;
        if (!(failure instanceof StatusError) || isLate || !adapted.adapt(failure)) throw failure;
      }
    }
  }

  private writer(request: ChatRequest, stream: boolean, account: CallAccount | undefined): RequestWriter {
    const { capabilities, settings } = this;
    const { parameterLimits } = capabilities;
    const { taken } = fitParameters({ ...this.parameters, ...request.parameters }, parameterLimits);
    const parameters = withNearestEffort(taken, parameterLimits);
    const messages = fitImages(request.messages, capabilities);
    const fitted = fitToolChoice({ ...request, messages, parameters }, capabilities);
    return {
      write: ({ hasFormat, hasEffort, hasCaching }) => {
        const formatted = fitFormat(fitted, { ...capabilities, jsonMode: capabilities.jsonMode && hasFormat });
        const written = hasEffort ? formatted : withoutEffort(formatted);
        return this.codec.write(written, stream, hasCaching ? cachingOf(account) : undefined);
      },
      hasEffort: parameters.effort !== undefined,
      maxReplyTokens: capabilities.maxReplyTokens ?? DEFAULT_REPLY_TOKENS,
      isRequired: (name) => !request.optionalParameters?.includes(name) && !settings.adaptations.mayDrop(name),
    };
  }

  private finish(reply: StreamedReply): ChatResult {
    try {
      return reply.result();
    } catch (thrown) {
      throw toReportedError(thrown, this.settings);
    }
  }

  private failure(thrown: unknown, { signal }: CallOptions): unknown {
    if (signal?.aborted) return signal.reason;
    // Not a failure yet: `ApiChoiceModel` calls the other API.
    return thrown instanceof MissingApiError ? thrown : toReportedError(thrown, this.settings);
  }
}

/** The requests of a session share a prefix. A hash, since providers shall not learn the names of tenants and sessions. */
function cachingOf(account: CallAccount | undefined): PromptCaching {
  if (!account) return {};
  const { tenant, sessionId, rootRunId, runId } = account;
  return { key: hash('sha256', JSON.stringify([tenant, sessionId ?? rootRunId ?? runId])).slice(0, 32) };
}

function withoutEffort(request: ChatRequest): ChatRequest {
  const { effort: _effort, ...parameters } = request.parameters ?? {};
  return { ...request, parameters };
}

async function toResult(stream: AsyncIterable<ChatStreamPart>): Promise<ChatResult> {
  for await (const part of stream) if (part.type === 'finish') return part.result;
  throw new Error('A stream of a model ended without its result.');
}

/** The parts of one chunk; for a caller with `progress` an empty part if the chunk has only call arguments. */
function withProgress(
  parts: readonly ChatStreamPart[],
  reply: StreamedReply,
  progress: ReplyProgress | undefined,
): readonly ChatStreamPart[] {
  if (!progress) return parts;
  progress.length = reply.length;
  return parts.length === 0 ? [NO_TEXT] : parts;
}

/** Reads a streamed reply to its end; yields the parts of each chunk. */
async function* readParts(response: WireResponse, reply: StreamedReply): AsyncGenerator<ChatStreamPart[], void> {
  if (isWhole(response)) {
    yield reply.addWhole(await response.text());
    return;
  }
  const events = new SseParser();
  for await (const chunk of response.body) {
    const { parts, failure } = partsOf(reply, events.push(chunk));
    if (!failure || parts.length > 0) yield parts;
    if (failure) throw failure.error;
    if (!reply.isDone) continue;
    response.body.release();
    return;
  }
  const { parts, failure } = partsOf(reply, events.end());
  if (parts.length > 0) yield parts;
  if (failure) throw failure.error;
}

/** The parts of complete events, adjacent texts joined, and the error of an invalid event after them. */
function partsOf(
  reply: StreamedReply,
  events: readonly string[],
): { readonly parts: ChatStreamPart[]; readonly failure?: { readonly error: unknown } } {
  const parts: ChatStreamPart[] = [];
  try {
    for (const data of events) if (!reply.isDone) reply.add(data, parts);
  } catch (error) {
    return { parts: joinTexts(parts), failure: { error } };
  }
  return { parts: joinTexts(parts) };
}

/** Text that arrives together is one part: each part costs an event for every reader. */
function joinTexts(parts: ChatStreamPart[]): ChatStreamPart[] {
  if (parts.length < 2) return parts;
  const joined: ChatStreamPart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    const isText = part.type === 'text' || part.type === 'reasoning';
    if (isText && last?.type === part.type)
      joined[joined.length - 1] = { type: part.type, text: last.text + part.text };
    else joined.push(part);
  }
  return joined;
}

/** Some servers never stream, and a proxy's error page is not a stream. */
function isWhole(response: WireResponse): boolean {
  return /json|html/i.test(response.headers.get('content-type') ?? '');
}
