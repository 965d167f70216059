import type { HttpClient } from '../http.client.js';
import type { WireAccess } from '../wire/wire-access.types.js';
import { WireClient } from '../wire/wire.client.js';
import type { WireRoute } from './wire-dialect.types.js';

/** Creates a client of one OpenAI-compatible endpoint. */
export function createClient(access: WireAccess, route: WireRoute, http: HttpClient): WireClient {
  return new WireClient(access, http, async () => {
    const { SdkClient } = await import('./sdk.client.js');
    return (pool) => new SdkClient(route, pool, access.apiKey);
  });
}
