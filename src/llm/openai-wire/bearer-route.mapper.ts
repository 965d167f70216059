import { endpointOf } from '../wire/wire-access.factory.js';
import type { WireAccess } from '../wire/wire-access.types.js';
import type { WireRoute } from './wire-dialect.types.js';

/** The route of OpenAI: the path is appended to that of the base URL, whose query stays. The key is a bearer token. */
export function bearerRoute({ baseUrl, apiKey }: WireAccess, path: string): WireRoute {
  return {
    url: endpointOf(baseUrl, path),
    headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
  };
}
