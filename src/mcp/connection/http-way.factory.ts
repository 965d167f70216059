import type { FetchLike } from '@modelcontextprotocol/client';
import { MarkedIntegers } from '../../common/index.js';
import type { AppConfig } from '../../config/index.js';
import { OutgoingFetch } from '../../security/index.js';
import type { McpServer, McpTransport } from '../mcp-server.types.js';
import { createAuthProvider } from './auth-provider.factory.js';
import { ClientCredentialsClient } from './client-credentials.client.js';
import { Consent } from './consent.service.js';
import { loadMcpSdk } from './mcp-sdk.loader.js';
import { RequestStreamsTransport } from './request-streams-transport.js';
import type { ServerTransport, TransportOptions } from './way.types.js';

/** Time-out for ending the session of an older server, in ms. */
const TERMINATION_MS = 1000;
/** Minimum delay before a broken stream is resumed, in ms, regardless of the server's own delay. */
const RESUME_MS = 1000;

/** Creates the transport to a server over Streamable HTTP, with egress protection and authentication. */
export async function createHttpTransport(
  { url: address, headers, auth }: Extract<McpTransport, { kind: 'http' }>,
  { origin }: Pick<McpServer, 'origin'>,
  { outgoing: rules, mcp }: Pick<AppConfig, 'mcp' | 'outgoing'>,
  { onReceived, signal }: TransportOptions,
): Promise<ServerTransport> {
  const { StreamableHTTPClientTransport } = await loadMcpSdk();
  const url = new URL(address);
  const outgoing = new OutgoingFetch(rules, {
    maxMessageBytes: mcp.maxMessageBytes,
    onReceived,
    ...(origin === 'declared' && { declared: url }),
  });
  const provider = createAuthProvider(auth);
  const integers = new MarkedIntegers();
  const fetch = withMarks(withHeaders(outgoing.fetch, url, headers), integers);
  const inner = new StreamableHTTPClientTransport(url, {
    fetch: provider instanceof ClientCredentialsClient ? provider.watch(fetch) : fetch,
    ...(provider && { authProvider: provider }),
    reconnectionScheduler: (reconnect, delay) => {
      const timer = setTimeout(reconnect, Math.max(delay, RESUME_MS)).unref();
      return () => clearTimeout(timer);
    },
  });
  const consent = auth?.type === 'provider' ? new Consent(inner, auth.provider, signal) : undefined;
  return {
    transport: new RequestStreamsTransport(inner, integers),
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

/** Sends the declared headers to the server only; the SDK would also send them to its authorization server. */
function withHeaders(fetch: FetchLike, server: URL, given: Readonly<Record<string, string>>): FetchLike {
  const own = Object.entries(given);
  if (own.length === 0) return fetch;
  return async (input, init = {}) => {
    if (!isSamePlace(new URL(input), server)) return fetch(input, init);
    const headers = new Headers(init.headers);
    for (const [name, value] of own) if (!headers.has(name)) headers.set(name, value);
    return fetch(input, { ...init, headers });
  };
}

const EVENTS = 'text/event-stream';
/** Which lines of a body contain JSON, by media type. */
const JSON_LINES: ReadonlyMap<string, (line: string) => boolean> = new Map([
  [EVENTS, (line: string) => line.startsWith('data')],
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
      .pipeThrough(new TextEncoderStream());
    const given = new Response(marked, { status, statusText, headers });
    return Object.defineProperty(given, 'url', { value: response.url });
  };
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
