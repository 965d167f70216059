import { endpointOf } from '../wire/wire-access.factory.js';
import type { WireAccess } from '../wire/wire-access.types.js';
import type { WireRoute } from './wire-dialect.types.js';

/** As OpenAI has it: paths behind that of the base URL, whose query stays, the key as a bearer token. */
export function bearerRoute({ baseUrl, apiKey }: WireAccess, path: string): WireRoute {
  return {
    url: endpointOf(baseUrl, path),
    headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
  };
}
