import type { ChatModel } from '../../chat-model.js';
import type { HttpClient } from '../../http.client.js';
import { ModelFactory } from '../../model-factory.js';
import type { ModelSettings } from '../../model-settings.types.js';
import type { ChatCodec } from '../../wire/chat-codec.types.js';
import { createAccess, endpointOf } from '../../wire/wire-access.factory.js';
import { WireChatModel } from '../../wire/wire-chat.model.js';
import { WireClient } from '../../wire/wire.client.js';
import { capabilitiesOf } from './capabilities.mapper.js';
import { buildResult, toWholeReply } from './reply.mapper.js';
import { toWireBody } from './request.mapper.js';
import { StreamReplyBuilder } from './stream-reply.builder.js';
import { TOOL_RULES } from './tool.mapper.js';

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
    const client = new WireClient(access, http, async () => {
      const { SdkClient } = await import('./sdk.client.js');
      return (pool) => new SdkClient({ url, headers: access.headers ?? {} }, pool, access.apiKey!);
    });
    const capabilities = { ...capabilitiesOf(model), ...settings.capabilities };
    const { adaptations } = http;
    return new WireChatModel({ ...access, capabilities, adaptations }, client, createCodec(model), settings.parameters);
  }
}

function createCodec(model: string): ChatCodec {
  return {
    toolRules: TOOL_RULES,
    write: (request, stream) => toWireBody(request, model, stream),
    read: (body) => buildResult(toWholeReply(body, model)),
    openStream: () => new StreamReplyBuilder(model),
  };
}
