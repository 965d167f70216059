import type { OAuthClientProvider } from '@modelcontextprotocol/client';
import { OutgoingFetch } from '../../security/index.js';
import type { McpTransport } from '../mcp-server.types.js';
import { createAuthProvider } from './auth-provider.factory.js';
import { loadMcpSdk } from './mcp-sdk.loader.js';
import { RequestStreamsTransport } from './request-streams-transport.js';
import type { McpWorld, Way } from './way.types.js';

export interface HttpWayOptions {
  readonly onReceived: (bytes: number) => void;
  /** An OAuth provider of one's own, in place of what the declaration says. */
  readonly authProvider: OAuthClientProvider | undefined;
  /** Whether an operator declared the server: it may then be wherever it is. */
  readonly isDeclared: boolean;
}

type Sent = Readonly<Record<string, string>>;

/** How long an older server has to hear that its session is over, in ms. */
const GOODBYE_MS = 1000;
/** A broken stream is resumed no sooner, whatever the server says, in ms. */
const RESUME_MS = 1000;

/** The way to a server over HTTP. */
export async function createHttpWay(
  { url: address, headers, auth }: Extract<McpTransport, { kind: 'http' }>,
  { config }: McpWorld,
  { onReceived, authProvider, isDeclared }: HttpWayOptions,
): Promise<Way> {
  const { StreamableHTTPClientTransport } = await loadMcpSdk();
  const url = new URL(address);
  const outgoing = new OutgoingFetch(config.outgoing, {
    maxMessageBytes: config.mcp.maxMessageBytes,
    onReceived,
    ...(isDeclared && { declared: url }),
  });
  const provider = authProvider ?? (await createAuthProvider(auth));
  const inner = new StreamableHTTPClientTransport(url, {
    fetch: (input, init) => outgoing.fetch(input, withOwn(headers, url, new URL(input), init)),
    ...(provider && { authProvider: provider }),
    reconnectionScheduler: (reconnect, delay) => {
      const timer = setTimeout(reconnect, Math.max(delay, RESUME_MS)).unref();
      return () => clearTimeout(timer);
    },
  });
  return {
    transport: new RequestStreamsTransport(inner),
    pid: () => null,
    fault: () => undefined,
    close: async () => {
      if (inner.sessionId !== undefined) await within(GOODBYE_MS, inner.terminateSession());
      await inner.close().catch(() => undefined);
      await outgoing.close();
    },
  };
}

/** The declared headers are for the server itself: where it has a client look for tokens is somebody else. */
function withOwn(own: Sent, server: URL, called: URL, init: RequestInit = {}): RequestInit {
  if (called.origin !== server.origin) return init;
  const headers = new Headers(own);
  new Headers(init.headers).forEach((value, name) => headers.set(name, value));
  return { ...init, headers };
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  work.then(resolve, () => resolve());
  await promise.finally(() => clearTimeout(timer));
}
