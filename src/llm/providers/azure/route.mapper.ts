import type { RouteTo } from '../../openai-wire/wire-dialect.types.js';

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
export function azureRoute(apiVersion: string = UNDATED): RouteTo {
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
