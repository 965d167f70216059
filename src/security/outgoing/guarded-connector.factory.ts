import type { LookupAddress, LookupOptions } from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import type { buildConnector } from 'undici';
import type { OutgoingPlacePolicy } from './outgoing-place.policy.js';
import { toPlace } from './outgoing-place.policy.js';
import type { OutgoingPlace } from './outgoing.types.js';
import { failed, tookTooLong } from './outgoing.error.js';

type Connector = buildConnector.connector;

export interface ConnectorOptions {
  /** The longest time of a TCP and TLS handshake, in ms. */
  readonly connectTimeoutMs: number;
  /** Who knows names; the operating system as a rule. */
  readonly lookup: LookupFunction;
  /** The longest time in which nothing of a request is taken, in ms. */
  readonly writeTimeoutMs?: number | undefined;
  /** How often the system asks whether the other side is still there, in ms; by default 60,000. */
  readonly probeMs?: number | undefined;
}

/**
 * Makes connections to one place. A name is looked up once for each: all addresses that the answer has are checked, and
 * these very ones are connected to, so that a name that answers otherwise a moment later wins nothing. What the socket is
 * connected to is checked once more before a byte of the request is sent.
 * @param build undici's own
 */
export function createGuardedConnector(
  build: typeof buildConnector,
  place: OutgoingPlace,
  policy: OutgoingPlacePolicy,
  { connectTimeoutMs, lookup, writeTimeoutMs, probeMs }: ConnectorOptions,
): Connector {
  const connect = build({
    timeout: connectTimeoutMs,
    allowH2: false,
    ...(probeMs !== undefined && { keepAliveInitialDelay: probeMs }),
    // Its type wants a host and port, which each connection brings.
    ...({ lookup: guardedLookup(lookup, place, policy) } as object),
  });
  return (options, callback) => {
    // Node looks up no address that is given as one.
    const given = toPlace(options.hostname, place.port);
    const fault = given.host === place.host ? policy.placeFault(place) : failed(`${given.host} is another place.`);
    if (fault) return queueMicrotask(() => callback(fault, null));
    connect(options, (...[error, socket]) => {
      if (!socket) return callback(error, null);
      const { remoteAddress } = socket;
      const wrong = remoteAddress === undefined ? goneFault(place) : policy.addressFault(place, remoteAddress);
      if (!wrong) {
        if (writeTimeoutMs !== undefined) limitWriting(socket, place, writeTimeoutMs);
        return callback(null, socket);
      }
      socket.destroy();
      callback(wrong, null);
    });
  };
}

/** The socket's own clock starts anew with all that is read and with every part that is taken of what is written. */
function limitWriting(socket: Socket, { host }: OutgoingPlace, writeTimeoutMs: number): void {
  socket.setTimeout(writeTimeoutMs, () => {
    if (socket.writableLength === 0) return;
    socket.destroy(tookTooLong(`${host} took nothing of the request within ${writeTimeoutMs} ms.`));
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
