import type { ModelCapabilities } from '../../chat.types.js';
import type { ModelSettings } from '../../model-settings.types.js';
import type { RouteTo, WireDialect } from '../../openai-wire/wire-dialect.types.js';
import { WireModelFactory } from '../../openai-wire/wire-model.factory.js';
import { withoutReasoningBesideTools } from '../openai/capabilities.mapper.js';
import { capabilitiesOf, formatModeOf } from './capabilities.mapper.js';
import { azureRoute } from './route.mapper.js';

/** OpenAI's models on Azure (learn.microsoft.com/azure/foundry/openai). The model name is the name of a deployment. */
export class AzureFactory extends WireModelFactory {
  readonly name = 'azure';
  readonly defaultBaseUrl = undefined;
  readonly defaultModel = undefined;
  protected readonly key = { variable: 'AZURE_OPENAI_API_KEY', isRequired: true };
  protected override readonly urlVariable = 'AZURE_OPENAI_ENDPOINT';
  protected override readonly mayLackVersion = false;
  protected readonly dialect: WireDialect = {
    maxTokensField: 'max_completion_tokens',
    reasoningEcho: 'never',
    formatMode: formatModeOf,
    extras: withoutReasoningBesideTools,
    // learn.microsoft.com, "Function calling": descriptions have at most 1024 characters; "Quotas and limits": 128 tools.
    toolRules: { maxDescription: 1024, maxTools: 128 },
  };

  protected capabilitiesOf(model: string): ModelCapabilities {
    return capabilitiesOf(model);
  }

  protected override routeOf({ apiVersion }: ModelSettings): RouteTo {
    return azureRoute(apiVersion);
  }
}
