import type { ChatModel } from '../chat/chat-model.js';
import type { CallOptions, ModelCapabilities } from '../chat/chat.types.js';
import { EmbeddingModel, type EmbeddingResult } from '../embedding-model.js';
import { ModelFactory } from '../model-factory.js';
import type { ModelSettings } from '../model-settings.types.js';
import { isChatOnly, mayReason } from '../providers/openai/capabilities.mapper.js';
import { ApiChoiceModel } from '../responses-wire/api-choice.model.js';
import { toChatResult as toResponsesResult } from '../responses-wire/reply.mapper.js';
import { type ResponsesTarget, toResponsesBody } from '../responses-wire/request.mapper.js';
import { ResponsesClient } from '../responses-wire/responses.client.js';
import { StreamReplyBuilder as ResponseStreamBuilder } from '../responses-wire/stream-reply.builder.js';
import type { ToolRules } from '../tool-schema.mapper.js';
import type { ChatCodec } from '../wire/chat-codec.types.js';
import { toReportedError } from '../wire/error.mapper.js';
import { checkUsage, parseJsonReply } from '../wire/reply.parser.js';
import { isVersioned, VersionProbingClient } from '../wire/version-probing.client.js';
import { createAccess, endpointOf, isOwnHost, type KeyRule, lacking } from '../wire/wire-access.factory.js';
import type { WireAccess } from '../wire/wire-access.types.js';
import { WireChatModel } from '../wire/wire-chat.model.js';
import { BadReplyError } from '../wire/wire-failure.error.js';
import { type HttpClient, type ModelClient, WireClient, wireHeaders, WireRequest } from '../wire/wire.client.js';
import type { StateOwner } from './message.mapper.js';
import { toChatResult, toReportedUsage } from './reply.mapper.js';
import { toWireBody, type WireTarget } from './request.mapper.js';
import { StreamReplyBuilder } from './stream-reply.builder.js';
import type { RouteTo, WireDialect, WireRoute } from './wire-dialect.types.js';

interface WireEmbedding {
  readonly index?: unknown;
  readonly embedding?: unknown;
}

/**
 * Parses the reply to `count` texts.
 * @param model name to return if the reply contains none
 * @throws WireFailure for a missing vector, or vectors of different lengths
 */
function toEmbeddingResult(body: string, count: number, model: string): EmbeddingResult {
  const reply = parseJsonReply(body);
  // All tokens are prompt tokens; an embedding generates none.
  const total = checkUsage(toReportedUsage(reply['usage']))?.totalTokens;
  return {
    vectors: toVectors(reply['data'], count),
    model: typeof reply['model'] === 'string' && reply['model'] !== '' ? reply['model'] : model,
    ...(total !== undefined && { usage: { promptTokens: total, totalTokens: total } }),
  };
}

function toVectors(data: unknown, count: number): (readonly number[])[] {
  const entries: readonly unknown[] = Array.isArray(data) ? data : [];
  if (entries.length !== count) throw new BadReplyError(`${entries.length} embeddings for ${count} texts`);
  const vectors: (readonly number[])[] = [];
  for (const [at, entry] of entries.entries()) {
    const { index, embedding } = (entry ?? {}) as WireEmbedding;
    if (!isVector(embedding)) throw new BadReplyError('an embedding that is not a list of numbers');
    vectors[Number.isInteger(index) ? (index as number) : at] = embedding;
  }
  const lengths = new Set(Array.from({ length: count }, (_, at) => vectors[at]?.length));
  if (lengths.size > 1 || vectors.length !== count) throw new BadReplyError('embeddings that do not belong together');
  return vectors;
}

function isVector(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((number) => Number.isFinite(number));
}

/** An embedding model of an OpenAI-compatible provider. */
export class WireEmbeddingModel extends EmbeddingModel {
  readonly provider: string;
  readonly name: string;
  private known: number | null = null;

  constructor(
    private readonly access: WireAccess,
    private readonly client: ModelClient,
  ) {
    super();
    this.provider = access.provider;
    this.name = access.model;
  }

  get dimensions(): number | null {
    return this.known;
  }

  async embed(texts: readonly string[], options: CallOptions = {}): Promise<EmbeddingResult> {
    try {
      const response = await this.client.send(new WireRequest({ model: this.name, input: texts }), options);
      const result = toEmbeddingResult(await response.text(), texts.length, this.name);
      this.known = result.vectors[0]?.length ?? this.known;
      return result;
    } catch (thrown) {
      throw options.signal?.aborted ? options.signal.reason : toReportedError(thrown, this.access);
    }
  }
}

/** The route of OpenAI: the path is appended to that of the base URL, whose query stays. The key is a bearer token. */
export function bearerRoute({ baseUrl, apiKey }: WireAccess, path: string): WireRoute {
  return {
    url: endpointOf(baseUrl, path),
    headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
  };
}

/** An endpoint below the base URL of a model. */
interface Endpoint {
  readonly access: WireAccess;
  readonly routeTo: RouteTo;
  /** It starts with a slash. */
  readonly path: string;
  /** Whether a base URL without a version may lack `/v1`. */
  readonly mayLackVersion: boolean;
}

/** Creates a client of one OpenAI-compatible endpoint. */
function createClient(endpoint: Endpoint, http: HttpClient): ModelClient {
  const { access, mayLackVersion } = endpoint;
  const plain = clientAt(endpoint, access.baseUrl, http);
  if (!mayLackVersion || isVersioned(access.baseUrl)) return plain;
  const versioned = clientAt(endpoint, endpointOf(access.baseUrl, '/v1').href, http);
  return new VersionProbingClient(access, plain, versioned, http.adaptations.addresses);
}

function clientAt({ access, routeTo, path }: Endpoint, baseUrl: string, http: HttpClient): ModelClient {
  const route = routeTo({ ...access, baseUrl }, path);
  const headers = wireHeaders(route.headers, access.headers ?? {});
  return new WireClient(access, http, { url: route.url, headersOf: () => headers });
}

/** One object, as fitted tools are cached by it. */
const NO_RULES: ToolRules = {};

/** Creates the codec of OpenAI's chat completions for one model. */
function createCodec(target: WireTarget): ChatCodec {
  return {
    toolRules: target.dialect.toolRules ?? NO_RULES,
    isStreamOnly: target.dialect.isStreamOnly ?? false,
    write: (request, stream, caching) => toWireBody(request, target, stream, caching),
    read: (body) => toChatResult(body, ownerOf(target)),
    openStream: () => new StreamReplyBuilder(ownerOf(target)),
  };
}

/** Creates the codec of OpenAI's Responses API for one model. */
function createResponsesCodec(target: ResponsesTarget, toolRules: ToolRules = NO_RULES): ChatCodec {
  return {
    toolRules,
    write: (request, stream, caching) => toResponsesBody(request, target, stream, caching),
    read: (body) => toResponsesResult(body, target),
    openStream: () => new ResponseStreamBuilder(target),
  };
}

function ownerOf({ provider, model }: WireTarget): StateOwner {
  return { provider, model };
}

/** Creates models of an OpenAI-compatible provider; subclasses define the differences. */
export abstract class WireModelFactory extends ModelFactory {
  protected abstract readonly key?: KeyRule;
  protected abstract readonly dialect: WireDialect;
  /** Variable with the provider's URL; `LLM_BASE_URL` by default. */
  protected readonly urlVariable?: string;
  /** Whether the provider has `/embeddings`. */
  protected readonly hasEmbeddings: boolean = true;

  /** The Responses API: used by default, used if `LLM_OPENAI_API` says so, or never. */
  protected readonly responsesApi: 'default' | 'optional' | 'none' = 'none';

  /** Whether a base URL without a version may lack `/v1`: then `/v1` is tried where the path does not exist. */
  protected readonly mayLackVersion: boolean = true;

  /** Capabilities by model name. */
  protected abstract capabilitiesOf(model: string): ModelCapabilities;

  /** The dialect for a model; by default that of the provider. */
  protected dialectOf(_model: string, _baseUrl: string): WireDialect {
    return this.dialect;
  }

  /** The routes of the provider's endpoints. */
  protected routeOf(_settings: ModelSettings): RouteTo {
    return bearerRoute;
  }

  override create(settings: ModelSettings, http: HttpClient): ChatModel {
    const model = settings.model ?? this.defaultModel;
    if (!model) throw lacking(this, 'a model', 'LLM_MODEL');
    const access = this.accessTo(model, settings);
    const client = this.clientOf(access, settings, '/chat/completions', http);
    const dialect = this.dialectOf(model, access.baseUrl);
    const codec = createCodec({ provider: this.name, model, dialect });
    const capabilities = { ...this.capabilitiesOf(model), ...settings.capabilities };
    const wire = { ...access, capabilities, adaptations: http.adaptations };
    const chat = new WireChatModel(wire, client, codec, settings.parameters);
    if (capabilities.audio || !this.usesResponses(model, settings)) return chat;
    const { formatMode, hasCacheKey = false, toolRules } = dialect;
    const owner = { provider: this.name, model, hasCacheKey, mayReason: mayReason(model) };
    const responses = new WireChatModel(
      { ...wire, api: 'responses' },
      new ResponsesClient(this.clientOf(access, settings, '/responses', http)),
      createResponsesCodec({ ...owner, ...(formatMode && { formatMode }) }, toolRules),
      settings.parameters,
    );
    return new ApiChoiceModel(wire, responses, chat, settings.parameters);
  }

  private usesResponses(model: string, { openAiApi = 'auto' }: ModelSettings): boolean {
    if (openAiApi === 'chat' || this.responsesApi === 'none' || isChatOnly(model)) return false;
    return openAiApi === 'responses' || this.responsesApi === 'default';
  }

  override createEmbedding(settings: ModelSettings, http: HttpClient): EmbeddingModel {
    if (!this.hasEmbeddings) return super.createEmbedding(settings, http);
    if (!settings.model) throw lacking(this, 'a model for embeddings', 'EMBEDDING_MODEL');
    const access = this.accessTo(settings.model, settings);
    return new WireEmbeddingModel(access, this.clientOf(access, settings, '/embeddings', http));
  }

  /** URL, key and time limits of a model. @throws AppError `CONFIG_INVALID` if the settings lack a required value */
  protected accessTo(model: string, settings: ModelSettings): WireAccess {
    const { name, defaultBaseUrl, key, urlVariable } = this;
    const rule = { name, ...(defaultBaseUrl && { defaultBaseUrl }), ...(key && { key }) };
    return createAccess({ ...rule, ...(urlVariable && { urlVariable }) }, model, settings);
  }

  private clientOf(access: WireAccess, settings: ModelSettings, path: string, http: HttpClient): ModelClient {
    const mayLackVersion = this.mayLackVersion && !isOwnHost(access.baseUrl, this.defaultBaseUrl);
    return createClient({ access, routeTo: this.routeOf(settings), path, mayLackVersion }, http);
  }
}
