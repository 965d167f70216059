import type { Agent, Pool } from 'undici';
import { type ConnectorOptions, createGuardedConnector } from './guarded-connector.factory.js';
import { type OutgoingPlacePolicy, toPlace } from './outgoing-place.policy.js';

/** An idle connection is kept this long, in ms, or as long as the server says: one that it closes first fails a call. */
const KEEP_ALIVE_MS = 4000;
const LONGEST_KEEP_ALIVE_MS = 60_000;
const MAX_HEADER_BYTES = 16_384;
/** Of one place at once; further calls wait for their turn, within their own time. */
const MAX_CONNECTIONS = 64;

/** A pool of connections, every one of which `policy` has agreed to. */
export async function createGuardedAgent(policy: OutgoingPlacePolicy, options: ConnectorOptions): Promise<Agent> {
  const { Agent, Pool, buildConnector } = await import('undici');
  return new Agent({
    connections: MAX_CONNECTIONS,
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: LONGEST_KEEP_ALIVE_MS,
    allowH2: false,
    // A call has clocks of its own: undici's are coarse (about 1 s) and stop between the phases.
    headersTimeout: 0,
    bodyTimeout: 0,
    factory: (origin: string | URL, poolOptions: object) => {
      const url = new URL(origin);
      const place = toPlace(url.hostname, Number(url.port) || (url.protocol === 'https:' ? 443 : 80));
      const connect = createGuardedConnector(buildConnector, place, policy, options);
      return new Pool(origin, { ...(poolOptions as Pool.Options), connect });
    },
  });
}
