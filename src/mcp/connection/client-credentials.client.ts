import { AccessError } from './access.error.js';
import type { AuthProvider, FetchLike, OAuthTokens } from '@modelcontextprotocol/client';
import { AppError, messageOf } from '../../errors/index.js';
import type { McpClientCredentials } from '../mcp-server.types.js';
import { loadMcpSdk } from './mcp-sdk.loader.js';

type UnauthorizedContext = Parameters<NonNullable<AuthProvider['onUnauthorized']>>[0];

/** Time-out from the discovery of the authorization server to the token, in ms. */
const TOKEN_TIMEOUT_MS = 30_000;

/**
 * Gets tokens from the authorization server that the MCP server names. All connections share the last token; when a
 * server rejects it, one new token is requested for all of them. Without a declared issuer, the first issuer stays the
 * only one.
 */
export class ClientCredentialsClient implements AuthProvider {
  private latest: string | undefined;
  private renewal: Promise<string> | null = null;
  private issuer: string | undefined;
  /** The token of each request, by its response. */
  private readonly sent = new WeakMap<Response, string>();

  constructor(
    private readonly credentials: McpClientCredentials,
    private readonly timeoutMs = TOKEN_TIMEOUT_MS,
  ) {
    this.issuer = credentials.issuer;
  }

  /** Wraps a `fetch` to record the token of each request. */
  watch(fetch: FetchLike): FetchLike {
    return async (url, init) => {
      const response = await fetch(url, init);
      const authorization = new Headers(init?.headers).get('authorization');
      if (authorization !== null) this.sent.set(response, authorization);
      return response;
    };
  }

  async token(): Promise<string | undefined> {
    return this.latest;
  }

  /** @throws AccessError; AppError `OUTGOING_REFUSED`, `OUTGOING_FAILED` */
  async onUnauthorized(context: UnauthorizedContext): Promise<void> {
    const refused = this.sent.get(context.response);
    if (this.latest !== undefined && refused !== `Bearer ${this.latest}`) return;
    this.renewal ??= this.renew(context).finally(() => (this.renewal = null));
    this.latest = await this.renewal;
  }

  private async renew({ response, serverUrl, fetchFn }: UnauthorizedContext): Promise<string> {
    const signal = AbortSignal.timeout(this.timeoutMs);
    const bounded: FetchLike = async (url, init) => fetchFn(url, { ...init, signal });
    try {
      const { access_token: token } = await this.request(response, serverUrl, bounded);
      return token;
    } catch (error) {
      if (!signal.aborted) throw error;
      throw new AppError('OUTGOING_FAILED', `No authorization server returned a token within ${this.timeoutMs} ms.`, {
        cause: error,
        isRetryable: true,
      });
    }
  }

  private async request(response: Response, serverUrl: URL, fetchFn: FetchLike): Promise<OAuthTokens> {
    const sdk = await loadMcpSdk();
    const { resourceMetadataUrl, scope: requestedScope } = sdk.extractWWWAuthenticateParams(response);
    const { url, metadata, resource, scopes } = await find(serverUrl, resourceMetadataUrl, fetchFn);
    this.assertTrusted(metadata.issuer);
    const { clientId, clientSecret, scope = requestedScope ?? scopes } = this.credentials;
    const provider = new sdk.ClientCredentialsProvider({ clientId, clientSecret, expectedIssuer: metadata.issuer });
    const more = { ...(scope !== undefined && { scope }), ...(resource !== undefined && { resource }) };
    try {
      const tokens = await sdk.fetchToken(provider, url, { metadata, fetchFn, ...more });
      this.issuer = metadata.issuer;
      return tokens;
    } catch (error) {
      throw isRefusal(error) ? noToken(metadata.issuer, error) : error;
    }
  }

  private assertTrusted(issuer: string): void {
    if (this.issuer === undefined || this.issuer === issuer) return;
    throw new AccessError(
      `it names ${issuer} as its authorization server, but the client secret is only for ${this.issuer}`,
    );
  }
}

interface Found {
  readonly url: string;
  readonly metadata: NonNullable<Awaited<ReturnType<Sdk['discoverOAuthServerInfo']>>['authorizationServerMetadata']>;
  /** The resource of the token (RFC 8707). */
  readonly resource: string | undefined;
  readonly scopes: string | undefined;
}

type Sdk = Awaited<ReturnType<typeof loadMcpSdk>>;

/** Discovers the authorization server. A server without authorization server metadata gets no secret. */
async function find(serverUrl: URL, resourceMetadataUrl: URL | undefined, fetchFn: FetchLike): Promise<Found> {
  const sdk = await loadMcpSdk();
  const refusals: Error[] = [];
  const found = await sdk.discoverOAuthServerInfo(serverUrl, {
    ...(resourceMetadataUrl && { resourceMetadataUrl }),
    // The SDK ignores the error of the first of several URLs.
    fetchFn: async (url, init) => {
      try {
        return await fetchFn(url, init);
      } catch (error) {
        refusals.push(error as Error);
        throw error;
      }
    },
  });
  if (refusals[0]) throw refusals[0];
  const { authorizationServerUrl: url, authorizationServerMetadata: metadata, resourceMetadata } = found;
  if (!metadata)
    throw new AccessError(`it names ${url} as its authorization server, which has no authorization server metadata`);
  const own = sdk.resourceUrlFromServerUrl(serverUrl);
  const resource = resourceMetadata?.resource;
  if (resource !== undefined && !sdk.checkResourceAllowed({ requestedResource: own, configuredResource: resource })) {
    throw new AccessError(`it requests a token for another resource: ${resource}`);
  }
  return { url, metadata, resource, scopes: resourceMetadata?.scopes_supported?.join(' ') };
}

function isRefusal(error: unknown): error is Error & { code: string } {
  return error instanceof Error && error.name === 'OAuthError' && (error as { code?: unknown }).code !== 'server_error';
}

function noToken(issuer: string, error: Error & { code: string }): AccessError {
  return new AccessError(`authorization server ${issuer} issued no token: ${error.code}: ${messageOf(error)}`, {
    cause: error,
  });
}
