import type { WireAccess } from '../wire/wire-access.types.js';
import type { WireRoute } from './wire-dialect.types.js';

/** As OpenAI has it: paths behind the base URL, the key as a bearer token. */
export function bearerRoute({ baseUrl, apiKey }: WireAccess, path: string): WireRoute {
  return {
    url: new URL(`${baseUrl}${path}`),
    headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
  };
}
