import type { ModelCapabilities } from '../../chat/chat.types.js';
import type { ModelSettings } from '../../model-settings.types.js';
import type { RouteTo, WireDialect } from '../../openai-wire/wire-dialect.types.js';
import { WireModelFactory } from '../../openai-wire/wire-model.factory.js';
import { withoutReasoningBesideTools } from '../openai/capabilities.mapper.js';
import { capabilitiesOf, formatModeOf } from './capabilities.mapper.js';

/** The API without dated versions: it has all features, and only the body names the model. */
const UNDATED = 'v1';
const DATED = /^\d{4}-\d{2}-\d{2}/;
const VERSION = 'api-version';
/** Path that the Azure portal shows after the endpoint. */
const BEHIND_ENDPOINT = /\/*(?:openai(?:\/v1|\/deployments(?:\/[^/]+)?)?)?\/*$/;

/**
 * URLs of Azure (learn.microsoft.com, "Azure OpenAI API version lifecycle"): `openai/v1` after the endpoint. A dated
 * version, also one in the query of the endpoint, has the deployment's path and `?api-version=…`. The key has a header
 * of its own.
 */
function azureRoute(apiVersion: string = UNDATED): RouteTo {
  return ({ baseUrl, model, apiKey }, path) => {
    const url = new URL(baseUrl);
    const root = `${url.pathname.replace(BEHIND_ENDPOINT, '')}/openai`;
    const ofUrl = url.searchParams.get(VERSION) ?? '';
    const version = apiVersion === UNDATED && DATED.test(ofUrl) ? ofUrl : apiVersion;
    url.pathname =
      version === UNDATED ? `${root}/v1${path}` : `${root}/deployments/${encodeURIComponent(model)}${path}`;
    if (version !== UNDATED && version !== ofUrl) url.searchParams.set(VERSION, version);
    return { url, headers: { 'api-key': apiKey ?? '' } };
  };
}

/** OpenAI's models on Azure (learn.microsoft.com/azure/foundry/openai). The model name is the name of a deployment. */
export class AzureFactory extends WireModelFactory {
  readonly name = 'azure';
  readonly defaultBaseUrl = undefined;
  readonly defaultModel = undefined;
  protected readonly key = { variable: 'AZURE_OPENAI_API_KEY', isRequired: true };
  protected override readonly urlVariable = 'AZURE_OPENAI_ENDPOINT';
  protected override readonly mayLackVersion = false;
  protected override readonly responsesApi = 'optional';
  protected readonly dialect: WireDialect = {
    maxTokensField: 'max_completion_tokens',
    reasoningEcho: 'never',
    formatMode: formatModeOf,
    extras: withoutReasoningBesideTools,
    // learn.microsoft.com, "Prompt caching".
    hasCacheKey: true,
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
