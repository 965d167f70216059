import type { RouteTo } from '../../openai-wire/wire-dialect.types.js';

/** The API that has no dated versions: everything new is in it, and the model is named in the body alone. */
const UNDATED = 'v1';

/**
 * Azure's addresses (learn.microsoft.com, "Azure OpenAI API version lifecycle"): behind the endpoint `openai/v1`, or for a
 * dated version the deployment and `?api-version=…`. The key has a header of its own.
 */
export function azureRoute(apiVersion: string = UNDATED): RouteTo {
  return ({ baseUrl, model, apiKey }, path) => {
    const root = `${baseUrl.replace(/\/openai(\/v1)?$/, '')}/openai`;
    const version = encodeURIComponent(apiVersion);
    const address =
      apiVersion === UNDATED
        ? `${root}/v1${path}`
        : `${root}/deployments/${encodeURIComponent(model)}${path}?api-version=${version}`;
    return { url: new URL(address), headers: { 'api-key': apiKey ?? '' } };
  };
}
