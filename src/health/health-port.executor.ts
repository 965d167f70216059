import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

/** Data of the thread that serves the health port. */
export interface HealthPortData {
  readonly port: number;
  readonly host: string;
  /** Path before the routes; empty without one. */
  readonly prefix: string;
  /** Silence of the main thread after which it is not alive, in ms; after half of it a readiness result is too old. */
  readonly silenceMs: number;
}

/** A result of the readiness check. */
export interface Readiness {
  readonly isReady: boolean;
  /** The response body. */
  readonly body: object;
}

/** A message of the main thread: a heartbeat, or the last result of the readiness check. */
export type HealthSignal = 'beat' | Readiness;

/** The first message of the thread. */
export type HealthPortStart =
  { readonly kind: 'listening'; readonly port: number } | { readonly kind: 'failed'; readonly message: string };

// A thread with its own event loop: it answers while the main thread has no time to accept a connection.

const TICK_MS = 250;
const TIMEOUT_MS = 5_000;
const MAX_CONNECTIONS = 256;

const { port, host, prefix, silenceMs } = workerData as HealthPortData;

/** Ticks of this thread, not times: a suspended process suspends both threads, and is not silent. */
let silentTicks = 0;
let readinessTicks = 0;
let readiness: Readiness = down('starting');

parentPort!.on('message', (signal: HealthSignal) => {
  silentTicks = 0;
  if (signal === 'beat') return;
  readinessTicks = 0;
  readiness = signal;
});
setInterval(() => {
  silentTicks++;
  readinessTicks++;
}, TICK_MS);

function down(message: string): Readiness {
  const details = { server: { status: 'down', message } };
  return { isReady: false, body: { status: 'error', info: {}, error: details, details } };
}

function alive(): Readiness {
  const silentMs = silentTicks * TICK_MS;
  return silentMs < silenceMs
    ? { isReady: true, body: { status: 'ok' } }
    : { isReady: false, body: { status: 'error', message: `the event loop is blocked for more than ${silenceMs} ms` } };
}

function ready(): Readiness {
  return readinessTicks * TICK_MS < silenceMs / 2 ? readiness : down('its last check is too old');
}

const CHECKS = new Map([
  [`${prefix}/api/health/live`, alive],
  [`${prefix}/api/health/ready`, ready],
]);

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}

const server = createServer({ requestTimeout: TIMEOUT_MS, headersTimeout: TIMEOUT_MS }, (request, response) => {
  const { method, url = '' } = request;
  const check = CHECKS.get(url.replace(/\/?(?:\?.*)?$/, ''));
  if (!check) return send(response, 404, { message: `This port serves only ${[...CHECKS.keys()].join(' and ')}.` });
  if (method !== 'GET' && method !== 'HEAD') return send(response, 405, { message: 'Only GET is supported.' });
  const { isReady, body } = check();
  send(response, isReady ? 200 : 503, body);
});
server.maxConnections = MAX_CONNECTIONS;

function report(start: HealthPortStart): void {
  // The rule is for windows of a browser.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  parentPort!.postMessage(start);
}

server.once('error', ({ message }) => report({ kind: 'failed', message }));
server.listen(port, host, () => report({ kind: 'listening', port: (server.address() as AddressInfo).port }));
