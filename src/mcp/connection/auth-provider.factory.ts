import type { AuthProvider, OAuthClientProvider } from '@modelcontextprotocol/client';
import type { McpAuth, McpClientCredentials } from '../mcp-server.types.js';
import { ClientCredentialsClient } from './client-credentials.client.js';

/** One client per declaration: its connections share their tokens. */
const CLIENTS = new WeakMap<McpClientCredentials, ClientCredentialsClient>();

/** The authentication of a server; undefined without one. */
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
