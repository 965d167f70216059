import { ChatModel } from '../chat-model.js';
import type {
  CallOptions,
  ChatRequest,
  ChatResult,
  ChatStreamPart,
  ModelCapabilities,
  ModelParameters,
} from '../chat.types.js';
import type { HttpClient } from '../http.client.js';
import { toModelError } from './error.mapper.js';
import type { WireResponse } from './fetch.client.js';
import { toChatResult } from './reply.mapper.js';
import { toWireBody } from './request.mapper.js';
import { SseParser } from './sse.parser.js';
import { StreamReplyBuilder } from './stream-reply.builder.js';
import type { WireSettings } from './wire-dialect.types.js';
import { BadReplyError } from './wire-failure.error.js';
import { WireClient } from './wire.client.js';

/** A chat model of any provider that speaks OpenAI's chat completions. */
export class WireChatModel extends ChatModel {
  readonly provider: string;
  readonly name: string;
  readonly capabilities: ModelCapabilities;
  private readonly client: WireClient;

  constructor(
    private readonly settings: WireSettings,
    http: HttpClient,
    private readonly parameters?: ModelParameters,
  ) {
    super();
    this.provider = settings.provider;
    this.name = settings.model;
    this.capabilities = settings.capabilities;
    this.client = new WireClient(settings, http, '/chat/completions');
  }

  async generate(request: ChatRequest, options: CallOptions = {}): Promise<ChatResult> {
    try {
      const response = await this.send(request, options, false);
      return toChatResult(await response.text(), this.name);
    } catch (thrown) {
      throw this.failure(thrown, options);
    }
  }

  async *stream(request: ChatRequest, options: CallOptions = {}): AsyncGenerator<ChatStreamPart, void> {
    const reply = new StreamReplyBuilder(this.name);
    try {
      const response = await this.send(request, options, true);
      for await (const parts of readParts(response, reply)) yield* parts;
      if (!reply.isComplete) throw new BadReplyError('a stream that ends before its finish reason');
    } catch (thrown) {
      // What goes wrong after the finish reason takes nothing from the reply.
      if (options.signal?.aborted || !reply.isComplete) throw this.failure(thrown, options);
    }
    yield { type: 'finish', result: this.finish(reply) };
  }

  private send(request: ChatRequest, options: CallOptions, stream: boolean): Promise<WireResponse> {
    const parameters = this.parameters ? { ...this.parameters, ...request.parameters } : request.parameters;
    return this.client.send(toWireBody({ ...request, parameters }, this.settings, stream), options);
  }

  private finish(reply: StreamReplyBuilder): ChatResult {
    try {
      return reply.result();
    } catch (thrown) {
      throw toModelError(thrown, this.settings);
    }
  }

  private failure(thrown: unknown, { signal }: CallOptions): unknown {
    return signal?.aborted ? signal.reason : toModelError(thrown, this.settings);
  }
}

/** Reads a streamed reply to its end, giving what each piece of it says. */
async function* readParts(response: WireResponse, reply: StreamReplyBuilder): AsyncGenerator<ChatStreamPart[], void> {
  if (isWhole(response)) {
    yield reply.addWhole(await response.text());
    return;
  }
  const events = new SseParser();
  for await (const chunk of response.body) {
    yield reply.add(events.push(chunk));
    if (!reply.isDone) continue;
    response.body.release();
    return;
  }
  yield reply.add(events.end());
}

/** Some servers do not stream, whatever they are asked, and a proxy's error page does not either. */
function isWhole(response: WireResponse): boolean {
  return /json|html/i.test(response.headers.get('content-type') ?? '');
}
