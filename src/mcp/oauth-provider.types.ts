/** An OAuth client as an authorization server knows it (RFC 7591). */
export interface McpOAuthClient {
  readonly client_id: string;
  readonly client_secret?: string | undefined;
  readonly client_id_issued_at?: number | undefined;
  readonly client_secret_expires_at?: number | undefined;
  /** Whose client it is. */
  readonly issuer?: string | undefined;
}

/** What an authorization server gave (RFC 6749, 5.1). */
export interface McpOAuthTokens {
  readonly access_token: string;
  readonly token_type: string;
  readonly id_token?: string | undefined;
  /** In seconds. */
  readonly expires_in?: number | undefined;
  readonly scope?: string | undefined;
  readonly refresh_token?: string | undefined;
  /** Who gave them. */
  readonly issuer?: string | undefined;
}

type Given<T> = T | undefined | Promise<T | undefined>;
type Done = void | Promise<void>;

/**
 * An OAuth provider of an application's own: the official SDK's `OAuthClientProvider`, and a way back for people. Whatever implements
 * that fits. It is written out here because the SDK infers its types from schemas, at every compilation of who imports them.
 */
export interface McpOAuthProvider {
  readonly redirectUrl: string | URL | undefined;
  /** As of RFC 7591; a client id that is an address has it there. */
  readonly clientMetadata: { readonly redirect_uris: string[]; readonly [field: string]: unknown };
  readonly clientMetadataUrl?: string;
  state?(): string | Promise<string>;
  clientInformation(context?: { readonly issuer: string }): Given<McpOAuthClient>;
  saveClientInformation?(client: McpOAuthClient, context?: { readonly issuer: string }): Done;
  tokens(context?: { readonly issuer: string }): Given<McpOAuthTokens>;
  saveTokens(tokens: McpOAuthTokens, context?: { readonly issuer: string }): Done;
  /** Sends the person away. */
  redirectToAuthorization(address: URL): Done;
  saveCodeVerifier(verifier: string): Done;
  codeVerifier(): string | Promise<string>;
  invalidateCredentials?(what: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): Done;
  /** As the SDK has it, from the redirect to the way back. */
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
   * Resolves to the parameters (`code`, `state`, `iss`) with which the person whom `redirectToAuthorization` had sent
   * away came back, `state` being what was sent. Without it a server that wants a consent is not connected to.
   * @param signal is aborted when the connection is given up
   */
  authorizationResponse?(signal: AbortSignal): Promise<URLSearchParams>;
}
