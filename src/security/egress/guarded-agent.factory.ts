import type { LookupFunction } from 'node:net';
import { exportsOf } from '../../errors/index.js';
import type { Agent, buildConnector, EnvHttpProxyAgent } from 'undici';
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

/** Maximum hosts and ports whose TLS sessions are reused. */
const MAX_PLACES = 256;

/**
 * A connection pool; `policy` checks each direct connection. A proxy resolves names itself: check those of its requests
 * by `policy.checkLookup`.
 * @param lookup name resolver
 */
export async function createGuardedAgent(
  policy: OutgoingPlacePolicy,
  lookup: LookupFunction,
  wanted: ConnectionOptions = {},
): Promise<Agent | EnvHttpProxyAgent> {
  const { connectTimeoutMs = CONNECT_TIMEOUT_MS, writeTimeoutMs, probeMs, holdsProcess } = wanted;
  const { Agent, buildConnector, EnvHttpProxyAgent, Pool } = exportsOf(await import('undici'));
  const connectors = new Map<string, buildConnector.connector>();
  const connect: buildConnector.connector = (options, callback) => {
    const { hostname, protocol, port } = options;
    const place = toPlace(hostname, Number(port) || (protocol === 'https:' ? 443 : 80));
    const key = `${place.host} ${place.port}`;
    const connector =
      connectors.get(key) ??
      createGuardedConnector(buildConnector, place, policy, {
        connectTimeoutMs,
        lookup,
        writeTimeoutMs,
        probeMs,
        holdsProcess,
      });
    connectors.delete(key);
    connectors.set(key, connector);
    if (connectors.size > MAX_PLACES) connectors.delete(connectors.keys().next().value!);
    connector(options, callback);
  };
  const options = {
    ...toPoolOptions(wanted),
    // By default a single connection has no pool, and only a pool applies the lifetime.
    factory: (origin: string | URL, pool: object) => new Pool(origin, pool),
    connect,
  };
  const { proxy } = policy;
  return proxy ? new EnvHttpProxyAgent({ ...options, ...proxy, connectTimeout: connectTimeoutMs }) : new Agent(options);
}

function toPoolOptions(wanted: ConnectionOptions) {
  return {
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
  };
}
