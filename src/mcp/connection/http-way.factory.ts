import type { FetchLike } from '@modelcontextprotocol/client';
import type { AppConfig } from '../../config/index.js';
import { OutgoingFetch } from '../../security/index.js';
import type { McpServer, McpTransport } from '../mcp-server.types.js';
import { createAuthProvider } from './auth-provider.factory.js';
import { ClientCredentialsClient } from './client-credentials.client.js';
import { Consent } from './consent.service.js';
import { loadMcpSdk } from './mcp-sdk.loader.js';
import { RequestStreamsTransport } from './request-streams-transport.js';
import type { Way, WayOptions } from './way.types.js';

/** How long an older server has to hear that its session is over, in ms. */
const GOODBYE_MS = 1000;
/** A broken stream is resumed no sooner, whatever the server says, in ms. */
const RESUME_MS = 1000;

/** The way to a server over Streamable HTTP: guarded, with what says who calls. */
export async function createHttpWay(
  { url: address, headers, auth }: Extract<McpTransport, { kind: 'http' }>,
  { origin }: Pick<McpServer, 'origin'>,
  { outgoing: rules, mcp }: Pick<AppConfig, 'mcp' | 'outgoing'>,
  { onReceived, signal }: WayOptions,
): Promise<Way> {
  const { StreamableHTTPClientTransport } = await loadMcpSdk();
  const url = new URL(address);
  const outgoing = new OutgoingFetch(rules, {
    maxMessageBytes: mcp.maxMessageBytes,
    onReceived,
    ...(origin === 'declared' && { declared: url }),
  });
  const provider = createAuthProvider(auth);
  const fetch = withHeaders(outgoing.fetch, url, headers);
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
    transport: new RequestStreamsTransport(inner),
    pid: () => null,
    fault: () => undefined,
    close: async () => {
      if (inner.sessionId !== undefined) await within(GOODBYE_MS, inner.terminateSession());
      await inner.close().catch(() => undefined);
      await outgoing.close();
    },
    ...(consent && { consent: () => consent.pending }),
  };
}

/** Headers are for the server alone; the SDK would send them to its authorization server, too. */
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

/** The SDK follows a redirect within an origin, and from http to https. */
function isSamePlace(url: URL, server: URL): boolean {
  return url.host === server.host && !(server.protocol === 'https:' && url.protocol === 'http:');
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  work.then(resolve, () => resolve());
  await promise.finally(() => clearTimeout(timer));
}
