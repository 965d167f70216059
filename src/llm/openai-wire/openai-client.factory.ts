import type { HttpClient } from '../http.client.js';
import { isVersioned, VersionProbingClient } from '../wire/version-probing.client.js';
import { endpointOf } from '../wire/wire-access.factory.js';
import type { WireAccess } from '../wire/wire-access.types.js';
import { WireClient, type ModelClient } from '../wire/wire.client.js';
import type { RouteTo } from './wire-dialect.types.js';

/** An endpoint below the base URL of a model. */
export interface Endpoint {
  readonly access: WireAccess;
  readonly routeTo: RouteTo;
  /** It starts with a slash. */
  readonly path: string;
  /** Whether a base URL without a version may lack `/v1`. */
  readonly mayLackVersion: boolean;
}

/** Creates a client of one OpenAI-compatible endpoint. */
export function createClient(endpoint: Endpoint, http: HttpClient): ModelClient {
  const { access, mayLackVersion } = endpoint;
  const plain = clientAt(endpoint, access.baseUrl, http);
  if (!mayLackVersion || isVersioned(access.baseUrl)) return plain;
  const versioned = clientAt(endpoint, endpointOf(access.baseUrl, '/v1').href, http);
  return new VersionProbingClient(access, plain, versioned, http.adaptations);
}

function clientAt({ access, routeTo, path }: Endpoint, baseUrl: string, http: HttpClient): ModelClient {
  const route = routeTo({ ...access, baseUrl }, path);
  return new WireClient(access, http, async () => {
    const { SdkClient } = await import('./sdk.client.js');
    return (pool) => new SdkClient({ ...route, headers: { ...route.headers, ...access.headers } }, pool, access.apiKey);
  });
}
