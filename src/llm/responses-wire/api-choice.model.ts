import { ChatModel } from '../chat/chat-model.js';
import type {
  CallAccount,
  CallOptions,
  ChatRequest,
  ChatResult,
  ChatStreamPart,
  ModelParameters,
} from '../chat/chat.types.js';
import { fitParameters } from '../request-fit.policy.js';
import { toReportedError } from '../wire/error.mapper.js';
import type { AddressRegistry } from '../wire/address.registry.js';
import type { WireSettings } from '../wire/wire-access.types.js';
import { MissingApiError, StatusError } from '../wire/wire-failure.error.js';
import { CHAT_PARAMETERS } from './request.mapper.js';

/**
 * A model with two APIs: Responses, and Chat Completions for the requests that the first cannot express and for
 * addresses that lack it. A missing API is remembered in the process.
 */
export class ApiChoiceModel extends ChatModel {
  readonly provider: string;
  readonly name: string;
  readonly capabilities: ChatModel['capabilities'];

  constructor(
    private readonly settings: WireSettings,
    private readonly responses: ChatModel,
    private readonly chat: ChatModel,
    private readonly parameters: ModelParameters = {},
  ) {
    super();
    this.provider = settings.provider;
    this.name = settings.model;
    this.capabilities = settings.capabilities;
  }

  async generate(request: ChatRequest, options?: CallOptions): Promise<ChatResult> {
    if (this.isForChat(request)) return this.chat.generate(request, options);
    try {
      const result = await this.responses.generate(request, options);
      this.addresses.learnResponses(this.settings);
      return result;
    } catch (thrown) {
      const missing = this.asMissing(thrown);
      const result = await this.chat.generate(request, options).catch((failure) => this.rethrow(failure, missing));
      this.addresses.learnChat(this.settings, missing.isOfModel);
      return result;
    }
  }

  /** Not a generator: the parts of one API pass through no further one. */
  stream(request: ChatRequest, options?: CallOptions): AsyncIterable<ChatStreamPart> {
    return this.isForChat(request) ? this.chat.stream(request, options) : this.streamEither(request, options);
  }

  override bodyOf(request: ChatRequest, isStreaming: boolean, account?: CallAccount): object | null {
    return (this.isForChat(request) ? this.chat : this.responses).bodyOf(request, isStreaming, account);
  }

  private async *streamEither(request: ChatRequest, options?: CallOptions): AsyncGenerator<ChatStreamPart, void> {
    try {
      yield* this.responses.stream(request, options);
      this.addresses.learnResponses(this.settings);
    } catch (thrown) {
      const missing = this.asMissing(thrown);
      try {
        yield* this.chat.stream(request, options);
      } catch (failure) {
        this.rethrow(failure, missing);
      }
      this.addresses.learnChat(this.settings, missing.isOfModel);
    }
  }

  private get addresses(): AddressRegistry {
    return this.settings.adaptations.addresses;
  }

  /** @throws the failure, if the API is not missing */
  private asMissing(thrown: unknown): MissingApiError {
    if (!(thrown instanceof MissingApiError)) throw thrown;
    const { failure } = thrown;
    if (failure instanceof StatusError || !this.addresses.hasResponses(this.settings)) return thrown;
    throw toReportedError(failure, this.settings);
  }

  private isForChat(request: ChatRequest): boolean {
    if (request.api === 'chat' || this.addresses.needsChat(this.settings)) return true;
    const { taken } = fitParameters({ ...this.parameters, ...request.parameters }, this.capabilities.parameterLimits);
    return CHAT_PARAMETERS.some((name) => taken[name] !== undefined);
  }

  /** If both APIs are missing, the failure of the first one names the address. */
  private rethrow(failure: unknown, missing: MissingApiError): never {
    const status = (failure as { readonly details?: { readonly provider_status?: unknown } }).details?.provider_status;
    throw status === 404 || status === 405 ? toReportedError(missing.failure, this.settings) : failure;
  }
}
