import { bearerRoute, WireModelFactory } from '../../src/index.js';
import type { ModelCapabilities, RouteTo, WireDialect } from '../../src/index.js';

/** Acme's models: OpenAI's chat completions, with the key in a custom header. */
export class AcmeFactory extends WireModelFactory {
  readonly name = 'acme';
  readonly defaultBaseUrl = 'https://api.acme.example/v1';
  readonly defaultModel = 'acme-1';
  protected readonly key = { variable: 'LLM_API_KEY', isRequired: true };
  protected readonly dialect: WireDialect = { maxTokensField: 'max_tokens', reasoningEcho: 'never' };
  protected override readonly hasEmbeddings = false;

  protected capabilitiesOf(model: string): ModelCapabilities {
    return {
      vision: model.endsWith('-vision'),
      functionCalling: true,
      jsonMode: false,
      parameterLimits: { lacking: ['seed'], maxTemperature: 1 },
    };
  }

  protected override routeOf(): RouteTo {
    return (access, path) => ({ ...bearerRoute(access, path), headers: { 'x-acme-key': access.apiKey ?? '' } });
  }
}
