import type { Agent, Pool } from 'undici';
import type { LookupFunction } from 'node:net';
import { createGuardedConnector } from './guarded-connector.factory.js';
import { type OutgoingPlacePolicy, toPlace } from './outgoing-place.policy.js';
import type { ConnectionOptions } from './outgoing.types.js';

const CONNECT_TIMEOUT_MS = 10_000;
/** Lifetime of an idle connection, in ms, unless the server announces one. A connection that the server closes first fails a call. */
const KEEP_ALIVE_MS = 4000;
const LONGEST_KEEP_ALIVE_MS = 60_000;
const MAX_HEADER_BYTES = 16_384;
/** Maximum connections per host and port; further calls queue within their own time limit. */
const MAX_CONNECTIONS = 64;

/** A connection pool; `policy` checks each connection. @param lookup name resolver */
export async function createGuardedAgent(
  policy: OutgoingPlacePolicy,
  lookup: LookupFunction,
  wanted: ConnectionOptions = {},
): Promise<Agent> {
  const { connectTimeoutMs = CONNECT_TIMEOUT_MS, writeTimeoutMs, probeMs } = wanted;
  const options = { connectTimeoutMs, lookup, writeTimeoutMs, probeMs };
  const { Agent, Pool, buildConnector } = await import('undici');
  return new Agent({
    connections: wanted.most ?? MAX_CONNECTIONS,
    pipelining: wanted.isPersistent === false ? 0 : 1,
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: wanted.idleMs ?? KEEP_ALIVE_MS,
    keepAliveMaxTimeout: wanted.idleMs ?? LONGEST_KEEP_ALIVE_MS,
    clientTtl: wanted.lifetimeMs ?? null,
    allowH2: false,
    // A call has its own time limits: undici's are coarse (about 1 s) and stop between phases. They limit silence only.
    headersTimeout: wanted.readTimeoutMs ?? 0,
    bodyTimeout: wanted.readTimeoutMs ?? 0,
    factory: (origin: string | URL, poolOptions: object) => {
      const url = new URL(origin);
      const place = toPlace(url.hostname, Number(url.port) || (url.protocol === 'https:' ? 443 : 80));
      const connect = createGuardedConnector(buildConnector, place, policy, options);
      return new Pool(origin, { ...(poolOptions as Pool.Options), connect });
    },
  });
}
