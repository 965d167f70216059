import type { RouteTo } from '../../openai-wire/wire-dialect.types.js';

/** The API that has no dated versions: everything new is in it, and the model is named in the body alone. */
const UNDATED = 'v1';
const DATED = /^\d{4}-\d{2}-\d{2}/;
const VERSION = 'api-version';
/** Path of a deployment behind the endpoint, as the Azure portal shows it. */
const BEHIND_ENDPOINT = /\/*(?:openai(?:\/v1|\/deployments(?:\/[^/]+)?)?)?\/*$/;

/**
 * Azure's addresses (learn.microsoft.com, "Azure OpenAI API version lifecycle"): behind the endpoint `openai/v1`, or for a
 * dated version, also one in the query of the endpoint, the deployment and `?api-version=…`. The key has a header of its own.
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
