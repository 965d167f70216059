import type { AuthProvider, OAuthClientProvider } from '@modelcontextprotocol/client';
import type { McpAuth } from '../mcp-server.types.js';
import { loadMcpSdk } from './mcp-sdk.loader.js';

/** What says to a server who calls; undefined where nothing does. */
export async function createAuthProvider(
  auth: McpAuth | undefined,
): Promise<AuthProvider | OAuthClientProvider | undefined> {
  if (!auth) return undefined;
  if (auth.type === 'bearer') return { token: async () => auth.token };
  const { ClientCredentialsProvider } = await loadMcpSdk();
  const { clientId, clientSecret, scope, issuer } = auth;
  return new ClientCredentialsProvider({
    clientId,
    clientSecret,
    clientName: 'Jackdaw',
    ...(scope !== undefined && { scope }),
    ...(issuer !== undefined && { expectedIssuer: issuer }),
  });
}
