import type { AuthProvider, OAuthClientProvider } from '@modelcontextprotocol/client';
import type { McpAuth, McpClientCredentials } from '../mcp-server.types.js';
import { ClientCredentialsClient } from './client-credentials.client.js';

/** One for each declaration: its connections share their tokens. */
const CLIENTS = new WeakMap<McpClientCredentials, ClientCredentialsClient>();

/** What says to a server who calls; undefined where nothing does. */
export function createAuthProvider(auth: McpAuth | undefined): AuthProvider | OAuthClientProvider | undefined {
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
