import type { LookupAddress, LookupOptions } from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import type { buildConnector } from 'undici';
import type { OutgoingPlacePolicy } from './outgoing-place.policy.js';
import { toPlace } from './outgoing-place.policy.js';
import type { OutgoingPlace } from './outgoing.types.js';
import { failed, tookTooLong } from './outgoing.error.js';

type Connector = buildConnector.connector;

export interface ConnectorOptions {
  /** Maximum time of the TCP and TLS handshake, in ms. */
  readonly connectTimeoutMs: number;
  /** Name resolver; the operating system by default. */
  readonly lookup: LookupFunction;
  /** Maximum time without progress while a request is sent, in ms. */
  readonly writeTimeoutMs?: number | undefined;
  /** Interval of TCP keep-alive probes, in ms; by default 60,000. */
  readonly probeMs?: number | undefined;
  /** Whether an open connection keeps the process alive; by default while it has a request. */
  readonly holdsProcess?: boolean | undefined;
}

/**
 * Creates connections to one host and port. Each connection resolves the name once, checks all returned addresses and
 * connects to exactly these, so that DNS rebinding has no effect. The socket's remote address is checked again before
 * the first byte of the request is sent.
 * @param build undici's `buildConnector`
 */
export function createGuardedConnector(
  build: typeof buildConnector,
  place: OutgoingPlace,
  policy: OutgoingPlacePolicy,
  { connectTimeoutMs, lookup, writeTimeoutMs, probeMs, holdsProcess }: ConnectorOptions,
): Connector {
  const connect = build({
    timeout: connectTimeoutMs,
    allowH2: false,
    ...(probeMs !== undefined && { keepAliveInitialDelay: probeMs }),
    // The type requires a host and port, which each connection supplies.
    ...({ lookup: guardedLookup(lookup, place, policy) } as object),
  });
  return (options, callback) => {
    // Node does not resolve literal addresses, so the lookup would not check them.
    const given = toPlace(options.hostname, place.port);
    const fault =
      given.host === place.host
        ? policy.placeFault(place)
        : failed(`${given.host} is not the host of this connection pool.`);
    if (fault) return queueMicrotask(() => callback(fault, null));
    connect(options, (...[error, socket]) => {
      if (!socket) return callback(error, null);
      const { remoteAddress } = socket;
      const wrong = remoteAddress === undefined ? goneFault(place) : policy.addressFault(place, remoteAddress);
      if (!wrong) {
        if (holdsProcess === false) unreference(socket);
        if (writeTimeoutMs !== undefined) limitWriting(socket, place, writeTimeoutMs);
        return callback(null, socket);
      }
      socket.destroy();
      callback(wrong, null);
    });
  };
}

/** undici references the socket of each request again. */
function unreference(socket: Socket): void {
  socket.unref();
  socket.ref = () => socket;
}

/** The socket's time-out restarts with each read and with each written chunk that the peer accepts. */
function limitWriting(socket: Socket, { host }: OutgoingPlace, writeTimeoutMs: number): void {
  socket.setTimeout(writeTimeoutMs, () => {
    if (socket.writableLength === 0) return;
    socket.destroy(tookTooLong(`${host} accepted no part of the request within ${writeTimeoutMs} ms.`));
  });
}

function goneFault({ host }: OutgoingPlace): Error {
  return failed(`The connection to ${host} was closed at once.`);
}

function guardedLookup(lookup: LookupFunction, place: OutgoingPlace, policy: OutgoingPlacePolicy): LookupFunction {
  return (hostname, options: LookupOptions, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found, family) => {
      if (error) return callback(error, []);
      const addresses: readonly LookupAddress[] = Array.isArray(found) ? found : [{ address: found, family: family! }];
      const fault = addresses.map(({ address }) => policy.addressFault(place, address)).find((wrong) => wrong);
      const [first] = addresses;
      if (fault) return callback(fault, []);
      if (options.all || !first) return callback(null, [...addresses]);
      callback(null, first.address, first.family);
    });
  };
}
