/** An OAuth provider without a browser: it follows the redirect itself, as a user who consents at once. */
export class HeadlessProvider {
  redirectUrl = 'http://localhost:3000/callback';
  clientMetadataUrl = 'https://conformance-test.local/client-metadata.json';
  clientMetadata = {
    client_name: 'Jackdaw',
    redirect_uris: [this.redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  };
  #client;
  #tokens;
  #verifier;
  #response;
  #discovery;

  /** @param client a client that is already registered with the authorization server */
  constructor(client) {
    this.#client = client;
  }

  /** A provider for sender-constrained tokens (DPoP, RFC 9449). */
  static bound(session) {
    return Object.assign(new HeadlessProvider(), { dpop: () => session });
  }

  clientInformation() {
    return this.#client;
  }

  saveClientInformation(client) {
    this.#client = client;
  }

  tokens() {
    return this.#tokens;
  }

  saveTokens(tokens) {
    this.#tokens = tokens;
    this.#discovery = undefined;
  }

  /** Stored only until the redirect returns: the server may name another authorization server next time. */
  saveDiscoveryState(discovery) {
    this.#discovery = discovery;
  }

  discoveryState() {
    return this.#discovery;
  }

  saveCodeVerifier(verifier) {
    this.#verifier = verifier;
  }

  codeVerifier() {
    return this.#verifier;
  }

  async redirectToAuthorization(url) {
    const reply = await fetch(url, { redirect: 'manual' });
    const location = reply.headers.get('location');
    if (location === null) throw new Error(`The authorization server answered ${reply.status} without a redirect.`);
    this.#response = new URL(location).searchParams;
  }

  async authorizationResponse() {
    return this.#response;
  }
}
