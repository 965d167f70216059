import { ChatModel } from '../chat-model.js';
import type {
  CallOptions,
  ChatRequest,
  ChatResult,
  ChatStreamPart,
  ModelCapabilities,
  ModelParameters,
  ReplyProgress,
} from '../chat.types.js';
import { fitImages } from '../image.policy.js';
import { fitParameters } from '../parameter.policy.js';
import { fitFormat } from '../response-format.policy.js';
import { fitToolChoice } from '../tool-choice.policy.js';
import { checkUsage } from '../usage.policy.js';
import type { ChatCodec, StreamedReply } from './chat-codec.types.js';
import { toModelError } from './error.mapper.js';
import type { WireResponse } from './fetch.client.js';
import { SseParser } from './sse.parser.js';
import type { WireSettings } from './wire-access.types.js';
import { BadReplyError } from './wire-failure.error.js';
import type { WireClient } from './wire.client.js';

const NO_TEXT: ChatStreamPart = { type: 'reasoning', text: '' };

/** A chat model of a provider over HTTP. It returns only complete replies; the codec handles the wire format. */
export class WireChatModel extends ChatModel {
  readonly provider: string;
  readonly name: string;
  readonly capabilities: ModelCapabilities;

  constructor(
    private readonly settings: WireSettings,
    private readonly client: WireClient,
    private readonly codec: ChatCodec,
    private readonly parameters?: ModelParameters,
  ) {
    super();
    this.provider = settings.provider;
    this.name = settings.model;
    this.capabilities = settings.capabilities;
  }

  async generate(request: ChatRequest, options: CallOptions = {}): Promise<ChatResult> {
    try {
      const response = await this.send(request, options, false);
      return this.codec.read(await response.text());
    } catch (thrown) {
      throw this.failure(thrown, options);
    }
  }

  async *stream(request: ChatRequest, options: CallOptions = {}): AsyncGenerator<ChatStreamPart, void> {
    const reply = this.codec.openStream();
    try {
      const response = await this.send(request, options, true);
      for await (const parts of readParts(response, reply)) {
        yield* options.progress ? withProgress(parts, reply, options.progress) : parts;
      }
      if (!reply.isComplete) throw new BadReplyError('a stream that ends before its finish reason');
    } catch (thrown) {
      if (options.progress) options.progress.usage = checkUsage(reply.usage);
      // An error after the complete reply is ignored.
      if (options.signal?.aborted || !reply.isComplete) throw this.failure(thrown, options);
    }
    yield { type: 'finish', result: this.finish(reply) };
  }

  private send(request: ChatRequest, options: CallOptions, stream: boolean): Promise<WireResponse> {
    const { parameterLimits } = this.capabilities;
    const { taken: parameters } = fitParameters({ ...this.parameters, ...request.parameters }, parameterLimits);
    const messages = fitImages(request.messages, this.capabilities);
    const fitted = fitToolChoice({ ...request, messages, parameters }, this.capabilities);
    return this.client.send(this.codec.write(fitFormat(fitted, this.capabilities), stream), options);
  }

  private finish(reply: StreamedReply): ChatResult {
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

/** The parts of one chunk; an empty part if the chunk has only call arguments. */
function withProgress(
  parts: readonly ChatStreamPart[],
  reply: StreamedReply,
  progress: ReplyProgress,
): readonly ChatStreamPart[] {
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
    yield reply.add(events.push(chunk));
    if (!reply.isDone) continue;
    response.body.release();
    return;
  }
  yield reply.add(events.end());
}

/** Some servers never stream, and a proxy's error page is not a stream. */
function isWhole(response: WireResponse): boolean {
  return /json|html/i.test(response.headers.get('content-type') ?? '');
}
