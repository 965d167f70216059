/** A registered OAuth client (RFC 7591). */
export interface McpOAuthClient {
  readonly client_id: string;
  readonly client_secret?: string | undefined;
  readonly client_id_issued_at?: number | undefined;
  readonly client_secret_expires_at?: number | undefined;
  /** The authorization server of the client. */
  readonly issuer?: string | undefined;
}

/** A token response of an authorization server (RFC 6749, 5.1). */
export interface McpOAuthTokens {
  readonly access_token: string;
  readonly token_type: string;
  readonly id_token?: string | undefined;
  /** In seconds. */
  readonly expires_in?: number | undefined;
  readonly scope?: string | undefined;
  readonly refresh_token?: string | undefined;
  /** The authorization server that issued them. */
  readonly issuer?: string | undefined;
}

type Given<T> = T | undefined | Promise<T | undefined>;
type Done = void | Promise<void>;

/**
 * A custom OAuth provider: the official SDK's `OAuthClientProvider`, with `authorizationResponse` for user consent.
 * Implementations of the SDK's type fit. The type is our own, because the SDK infers its types from schemas, which
 * costs time at every compilation.
 */
export interface McpOAuthProvider {
  readonly redirectUrl: string | URL | undefined;
  /** As in RFC 7591; for a client id that is a URL, the document at that URL. */
  readonly clientMetadata: { readonly redirect_uris: string[]; readonly [field: string]: unknown };
  readonly clientMetadataUrl?: string;
  state?(): string | Promise<string>;
  clientInformation(context?: { readonly issuer: string }): Given<McpOAuthClient>;
  saveClientInformation?(client: McpOAuthClient, context?: { readonly issuer: string }): Done;
  tokens(context?: { readonly issuer: string }): Given<McpOAuthTokens>;
  saveTokens(tokens: McpOAuthTokens, context?: { readonly issuer: string }): Done;
  /** Redirects the person to the authorization server. */
  redirectToAuthorization(address: URL): Done;
  saveCodeVerifier(verifier: string): Done;
  codeVerifier(): string | Promise<string>;
  invalidateCredentials?(what: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): Done;
  /** The SDK's discovery state, from the redirect to the return. */
  saveDiscoveryState?(state: never): Done;
  discoveryState?(): unknown;
  addClientAuthentication?(...given: never[]): unknown;
  dpop?(): unknown;
  validateResourceURL?(server: string | URL, resource?: string): Promise<URL | undefined>;
  scopeForRefresh?(tokens: McpOAuthTokens): Given<string>;
  prepareTokenRequest?(scope?: string): Given<URLSearchParams>;
  saveAuthorizationServerUrl?(address: string): Done;
  authorizationServerUrl?(): Given<string>;
  saveResourceUrl?(address: string): Done;
  resourceUrl?(): Given<string>;
  /**
   * Resolves with the parameters (`code`, `state`, `iss`) of the person's return after `redirectToAuthorization`, where
   * `state` is the sent state. Without this method, servers that require a consent cannot be connected to.
   * @param signal aborted when the connection is abandoned
   */
  authorizationResponse?(signal: AbortSignal): Promise<URLSearchParams>;
}
