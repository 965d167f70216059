import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import type { McpOAuthProvider } from '../../../src/mcp/index.js';
import { gate } from '../jackdaw.js';

/** An OAuth provider whose user returns when the test says so. */
export class PersonProvider implements McpOAuthProvider {
  readonly redirectUrl = 'http://localhost:3000/callback';
  readonly clientMetadata = { redirect_uris: [this.redirectUrl] };
  /** The addresses that the user was sent to. */
  readonly addresses: string[] = [];
  /** The signal of the call that waits for the user. */
  signal: AbortSignal | undefined;
  private readonly leaving = gate();
  private readonly returning = Promise.withResolvers<URLSearchParams>();
  private latest: StoredOAuthTokens | undefined;
  private verifier = '';
  private client: StoredOAuthClientInformation;
  private discovery: OAuthDiscoveryState | undefined;

  /** @param issuer of the client registration */
  constructor(issuer: string) {
    this.client = { client_id: 'jackdaw-client', issuer };
  }

  /** Resolves when the user was redirected. */
  get sent(): Promise<void> {
    return this.leaving.opened;
  }

  comeBack(parameters: Readonly<Record<string, string>>): void {
    this.returning.resolve(new URLSearchParams(parameters));
  }

  /** The same provider without a way to receive the response. */
  withoutRedirect(): McpOAuthProvider {
    return Object.assign(this, { authorizationResponse: undefined });
  }

  async authorizationResponse(signal: AbortSignal): Promise<URLSearchParams> {
    this.signal = signal;
    return this.returning.promise;
  }

  clientInformation(): StoredOAuthClientInformation {
    return this.client;
  }

  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.client = client;
  }

  saveDiscoveryState(discovery: OAuthDiscoveryState): void {
    this.discovery = discovery;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.discovery;
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.latest;
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    this.latest = tokens;
  }

  redirectToAuthorization(url: URL): void {
    this.addresses.push(url.href);
    this.leaving.open();
  }

  saveCodeVerifier(verifier: string): void {
    this.verifier = verifier;
  }

  codeVerifier(): string {
    return this.verifier;
  }
}
