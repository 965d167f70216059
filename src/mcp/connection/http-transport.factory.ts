import type { AuthProvider, FetchLike, OAuthClientProvider } from '@modelcontextprotocol/client';
import { MarkedIntegers } from '../../kernel/json/index.js';
import { OutgoingFetch } from '../../security/egress/index.js';
import type { McpAuth, McpClientCredentials, McpServer, McpTransport } from '../mcp-server.types.js';
import { strictJson } from '../process/message.parser.js';
import { ClientCredentialsClient } from './client-credentials.client.js';
import { ConsentTransport } from './consent-transport.js';
import { SseFailures, SseTransport, withChallenges } from './sse-transport.js';
import { loadMcpSdk } from './mcp-sdk.loader.js';
import { PROBE, RequestStreamsTransport } from './request-streams-transport.js';
import type { McpWorld, ServerTransport, TransportOptions } from './server-transport.types.js';

/** One client per declaration: its connections share their tokens. */
const CLIENTS = new WeakMap<McpClientCredentials, ClientCredentialsClient>();

/** The authentication of a server; undefined without one. */
function createAuthProvider(auth: McpAuth | undefined): AuthProvider | OAuthClientProvider | undefined {
  switch (auth?.type) {
    case undefined:
      return undefined;
    case 'bearer':
      return { token: async () => auth.token };
    case 'provider':
      return auth.provider as OAuthClientProvider;
    case 'client_credentials': {
      const client = CLIENTS.get(auth) ?? new ClientCredentialsClient(auth);
      CLIENTS.set(auth, client);
      return client;
    }
  }
}

/** Time-out for ending the session of an older server, in ms. */
const TERMINATION_MS = 1000;
/** Minimum delay before a broken stream is resumed, in ms, regardless of the server's own delay. */
const RESUME_MS = 1000;

type HttpServer = Extract<McpTransport, { kind: 'http' }>;

/** The requests to a server, with egress protection and authentication. */
function createRequests(
  { url: address, headers, auth }: HttpServer,
  { origin }: Pick<McpServer, 'origin'>,
  { outgoing: rules, config }: Pick<McpWorld, 'config' | 'outgoing'>,
  { onReceived }: TransportOptions,
) {
  const url = new URL(address);
  const outgoing = new OutgoingFetch(rules, {
    maxMessageBytes: config.maxMessageBytes,
    onReceived,
    ...(origin === 'declared' && { declared: url }),
  });
  const provider = createAuthProvider(auth);
  const integers = new MarkedIntegers();
  const own = withHeaders(outgoing.fetch, url, headers);
  const fetch = withMarks(provider ? own : withChallenges(own), integers);
  const watched = (sent: FetchLike) => (provider instanceof ClientCredentialsClient ? provider.watch(sent) : sent);
  return { url, outgoing, integers, fetch, watched, ...(provider && { authProvider: provider }) };
}

/** Creates the transport to a server over Streamable HTTP. */
export async function createHttpTransport(
  http: HttpServer,
  server: McpServer,
  world: McpWorld,
  options: TransportOptions,
): Promise<ServerTransport> {
  const { StreamableHTTPClientTransport } = await loadMcpSdk();
  const { url, outgoing, integers, fetch, watched, authProvider } = createRequests(http, server, world, options);
  const inner = new StreamableHTTPClientTransport(url, {
    fetch: watched(answeringProbes(fetch)),
    ...(authProvider && { authProvider }),
    reconnectionScheduler: (reconnect, delay) => {
      const timer = setTimeout(reconnect, Math.max(delay, RESUME_MS)).unref();
      return () => clearTimeout(timer);
    },
  });
  const { auth } = http;
  const consent = auth?.type === 'provider' ? new ConsentTransport(inner, auth.provider, options.signal) : undefined;
  return {
    transport: new RequestStreamsTransport(consent ?? inner, { integers, needsConsent: auth?.type === 'provider' }),
    pid: () => null,
    fault: () => undefined,
    close: async () => {
      if (inner.sessionId !== undefined) await within(TERMINATION_MS, inner.terminateSession());
      await inner.close().catch(() => undefined);
      await outgoing.close();
    },
    ...(consent && { consent: () => consent.pending }),
  };
}

/** Creates the transport to a server over HTTP with Server-Sent Events, the transport of 2024. */
export async function createSseTransport(
  http: HttpServer,
  server: McpServer,
  world: McpWorld,
  options: TransportOptions,
): Promise<ServerTransport> {
  const { SSEClientTransport } = await loadMcpSdk();
  const { url, outgoing, integers, fetch, watched, authProvider } = createRequests(http, server, world, options);
  const failures = new SseFailures(authProvider !== undefined);
  const inner = new SSEClientTransport(url, {
    fetch: watched(failures.watch(fetch, server.timeoutMs)),
    ...(authProvider && { authProvider }),
  });
  const { auth } = http;
  const consent = auth?.type === 'provider' ? new ConsentTransport(inner, auth.provider, options.signal) : undefined;
  return {
    transport: new SseTransport(consent ?? inner, failures, integers, options.endpoint),
    pid: () => null,
    fault: () => undefined,
    close: async () => {
      await inner.close().catch(() => undefined);
      await outgoing.close();
    },
    ...(consent && { consent: () => consent.pending }),
  };
}

/** Sends the declared headers to the server only; the SDK would also send them to its authorization server. */
function withHeaders(fetch: FetchLike, server: URL, declaredHeaders: Readonly<Record<string, string>>): FetchLike {
  const own = Object.entries(declaredHeaders);
  if (own.length === 0) return fetch;
  return async (input, init = {}) => {
    if (!isSamePlace(new URL(input), server)) return fetch(input, init);
    const headers = new Headers(init.headers);
    for (const [name, value] of own) if (!headers.has(name)) headers.set(name, value);
    return fetch(input, { ...init, headers });
  };
}

/** Some older servers accept the unknown probe without a response, for which the SDK would wait. */
function answeringProbes(fetch: FetchLike): FetchLike {
  return async (input, init = {}) => {
    const response = await fetch(input, init);
    if (response.status !== 202 || new Headers(init.headers).get('mcp-method') !== PROBE) return response;
    await response.body?.cancel();
    return new Response(null, { status: 404 });
  };
}

const EVENTS = 'text/event-stream';
/** Which lines of a body contain JSON, by media type. */
const JSON_LINES: ReadonlyMap<string, (line: string) => boolean> = new Map([
  [EVENTS, (line: string) => /^data: ?\s*[{[]/.test(line)],
  ['application/json', () => true],
]);

function mediaType(headers: Headers): string {
  return (headers.get('content-type') ?? '').split(';')[0]!.trim().toLowerCase();
}

/** The SDK parses responses itself. Only messages are marked: OAuth requests do not accept events. */
function withMarks(fetch: FetchLike, integers: MarkedIntegers): FetchLike {
  return async (input, init = {}) => {
    const response = await fetch(input, init);
    const { body, status, statusText, headers } = response;
    const isMessage = new Headers(init.headers).get('accept')?.includes(EVENTS);
    const isJson = isMessage ? JSON_LINES.get(mediaType(headers)) : undefined;
    if (!body || !isJson) return response;
    const mark = integers.marker(isJson);
    const marked = body
      .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>)
      .pipeThrough(
        new TransformStream<string, string>({
          transform: (piece, controller) => enqueue(controller, mark(piece)),
          flush: (controller) => enqueue(controller, mark()),
        }),
      )
      .pipeThrough(mediaType(headers) === EVENTS ? strictEvents() : strictWhole())
      .pipeThrough(new TextEncoderStream());
    const markedResponse = new Response(marked, { status, statusText, headers });
    return Object.defineProperty(markedResponse, 'url', { value: response.url });
  };
}

/** Makes the response in a JSON body strict. */
function strictWhole(): TransformStream<string, string> {
  const pieces: string[] = [];
  return new TransformStream({
    transform: (piece) => void pieces.push(piece),
    flush: (controller) => enqueue(controller, strictJson(pieces.join(''))),
  });
}

/** Makes the responses in an event stream strict; a line is passed on when it is complete. */
function strictEvents(): TransformStream<string, string> {
  let open: string[] = [];
  return new TransformStream({
    transform: (piece, controller) => {
      const end = Math.max(piece.lastIndexOf('\n'), piece.lastIndexOf('\r')) + 1;
      if (end === 0) return void open.push(piece);
      enqueue(controller, [...open, piece.slice(0, end)].join('').replace(DATA_LINE, strictLine));
      open = [piece.slice(end)];
    },
    flush: (controller) => enqueue(controller, open.join('')),
  });
}

const DATA_LINE = /^data:(.*)$/gm;

function strictLine(line: string, data: string): string {
  const strict = strictJson(data);
  return strict === data ? line : `data: ${strict}`;
}

function enqueue(controller: TransformStreamDefaultController<string>, text: string): void {
  if (text !== '') controller.enqueue(text);
}

/** The SDK follows redirects within an origin, and from http to https. */
function isSamePlace(url: URL, server: URL): boolean {
  return url.host === server.host && !(server.protocol === 'https:' && url.protocol === 'http:');
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  work.then(resolve, () => resolve());
  await promise.finally(() => clearTimeout(timer));
}
