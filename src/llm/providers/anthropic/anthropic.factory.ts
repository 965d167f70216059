import type { JsonSchema } from '../../../kernel/json/index.js';
import type { ChatModel } from '../../chat/chat-model.js';
import type { ChatRequest, ModelParameters } from '../../chat/chat.types.js';
import { type HttpClient, WireClient, type WireEndpoint, wireHeaders } from '../../wire/wire.client.js';
import type { Message } from '../../chat/message.types.js';
import { ModelFactory } from '../../model-factory.js';
import type { ModelSettings } from '../../model-settings.types.js';
import { withFormat } from '../../tool-schema.mapper.js';
import { toStrictSchema } from '../../strict-schema.mapper.js';
import type { ChatCodec } from '../../wire/chat-codec.types.js';
import { createAccess, endpointOf } from '../../wire/wire-access.factory.js';
import { WireChatModel } from '../../wire/wire-chat.model.js';
import type { WireAccess } from '../../wire/wire-access.types.js';
import { toEffortFields } from './effort.mapper.js';
import { withCacheMarks } from './cache-mark.mapper.js';
import { capabilitiesOf, defaultMaxTokens, enforcesSchemas } from './capabilities.mapper.js';
import { calledTools, toWireConversation } from './message.mapper.js';
import { buildResult, toWholeReply } from './reply.mapper.js';
import { StreamReplyBuilder } from './stream-reply.builder.js';
import { standIns, TOOL_RULES, toWireChoice, toWireTools, type WireTool } from './tool.mapper.js';

/** Builds the body of `POST /v1/messages`. JSON omits undefined fields. */
function toWireBody(request: ChatRequest, model: string, stream: boolean, isCached: boolean): Record<string, unknown> {
  const schema = enforcedSchema(request);
  const { system, messages } = toWireConversation(messagesWithFormat(request, schema), model);
  const plain = { ...(system.trim() !== '' && { system }), messages, ...toolFields(request, enforcesSchemas(model)) };
  return {
    model,
    ...(isCached ? withCacheMarks(plain) : plain),
    ...toWireParameters(request.parameters ?? {}, model),
    ...outputFields(request, model, schema),
    ...(stream && { stream: true }),
  };
}

/** `output_config` has the effort and the format of the answer. */
function outputFields(request: ChatRequest, model: string, schema: JsonSchema | undefined): Record<string, unknown> {
  const { effort, thinking } = toEffortFields(request, model);
  const config = { ...(effort && { effort }), ...(schema && { format: { type: 'json_schema', schema } }) };
  return { ...(Object.keys(config).length > 0 && { output_config: config }), ...(thinking && { thinking }) };
}

/**
 * Claude enforces JSON by schema only, without references and with at most 24 optional properties (platform.claude.com,
 * "Structured outputs").
 */
function enforcedSchema({ responseFormat }: ChatRequest): JsonSchema | undefined {
  if (responseFormat === undefined || responseFormat === 'json') return undefined;
  return toStrictSchema(responseFormat.schema, { maxOptional: 24, mayRefer: false });
}

function messagesWithFormat(
  { messages, responseFormat }: ChatRequest,
  schema: JsonSchema | undefined,
): readonly Message[] {
  return responseFormat === undefined || schema ? messages : withFormat(messages, responseFormat);
}

/** `tool_choice` is undefined for `auto`, the default. */
interface ToolFields {
  readonly tools?: readonly WireTool[];
  readonly tool_choice?: Readonly<Record<string, unknown>> | undefined;
}

function toolFields({ tools = [], toolChoice, messages }: ChatRequest, isStrict: boolean): ToolFields {
  if (tools.length > 0) return { tools: toWireTools(tools, isStrict), tool_choice: toWireChoice(toolChoice) };
  const called = calledTools(messages);
  return called.length === 0 ? {} : { tools: standIns(called), tool_choice: { type: 'none' } };
}

function toWireParameters(parameters: ModelParameters, model: string): Record<string, unknown> {
  return {
    max_tokens: parameters.maxTokens ?? defaultMaxTokens(model),
    temperature: parameters.temperature,
    top_p: parameters.topP,
    stop_sequences: parameters.stop,
  };
}

/** Claude, through Anthropic's own Messages API (platform.claude.com). */
export class AnthropicFactory extends ModelFactory {
  readonly name = 'anthropic';
  readonly defaultBaseUrl = 'https://api.anthropic.com';
  readonly defaultModel = 'claude-haiku-5-5';
  private readonly key = { variable: 'ANTHROPIC_API_KEY', isRequired: true };

  override create(settings: ModelSettings, http: HttpClient): ChatModel {
    const model = settings.model ?? this.defaultModel;
    const { name, defaultBaseUrl, key } = this;
    const access = createAccess({ name, defaultBaseUrl, key }, model, settings);
    // Accepts a base URL with a version, as for other providers.
    const base = new URL(access.baseUrl);
    base.pathname = base.pathname.replace(/\/v1$/, '');
    const url = endpointOf(base.href, '/v1/messages');
    const client = new WireClient(access, http, { url, headersOf: headersOf(access) });
    const capabilities = { ...capabilitiesOf(model), ...settings.capabilities };
    const { adaptations } = http;
    return new WireChatModel({ ...access, capabilities, adaptations }, client, createCodec(model), settings.parameters);
  }
}

/** Current version of the API, which has removed `temperature` and `top_p` (platform.claude.com, "Versions"). */
const VERSION = '2026-10-21';
/** The previous version, for requests with these parameters. */
const SAMPLING_VERSION = '2023-06-01';

function headersOf({ apiKey, headers = {} }: WireAccess): WireEndpoint['headersOf'] {
  const versioned = (version: string) => wireHeaders({ 'anthropic-version': version, 'x-api-key': apiKey! }, headers);
  const [plain, sampling] = [versioned(VERSION), versioned(SAMPLING_VERSION)];
  return ({ temperature, top_p: topP }) => (temperature === undefined && topP === undefined ? plain : sampling);
}

function createCodec(model: string): ChatCodec {
  return {
    toolRules: TOOL_RULES,
    write: (request, stream, caching) => toWireBody(request, model, stream, caching !== undefined),
    read: (body) => buildResult(toWholeReply(body, model)),
    openStream: () => new StreamReplyBuilder(model),
  };
}
