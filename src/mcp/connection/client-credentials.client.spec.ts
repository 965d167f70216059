import { describe, expect, it } from 'vitest';
import type { FetchLike } from '@modelcontextprotocol/client';
import { untilAborted } from '../../kernel/index.js';
import { ClientCredentialsClient } from './client-credentials.client.js';

const SERVER = new URL('https://mcp.example.com/mcp');
const ISSUER = 'https://login.example.com';
const METADATA = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/authorize`,
  token_endpoint: `${ISSUER}/token`,
  response_types_supported: ['code'],
};
const GIVEN = { type: 'client_credentials', clientId: 'jack', clientSecret: 'daw' } as const;

const never: FetchLike = async (_url, init) => untilAborted(new Promise<never>(() => undefined), init!.signal!);

const answers: FetchLike = async (url) => {
  const { pathname } = new URL(url);
  if (pathname.includes('oauth-protected-resource'))
    return Response.json({ resource: SERVER.href, authorization_servers: [ISSUER] });
  return Response.json(pathname === '/token' ? { access_token: 'a', token_type: 'Bearer' } : METADATA);
};

const unauthorized = (fetchFn: FetchLike) => ({
  response: new Response(null, { status: 401 }),
  serverUrl: SERVER,
  fetchFn,
});

describe('ClientCredentialsClient', () => {
  it('times out, and succeeds at the next attempt', async () => {
    const client = new ClientCredentialsClient(GIVEN, 500);
    const waiting = [1, 2].map(() => client.onUnauthorized(unauthorized(never)));
    for (const { status, reason } of (await Promise.allSettled(waiting)) as PromiseRejectedResult[]) {
      expect([status, (reason as { code?: string }).code]).toEqual(['rejected', 'OUTGOING_FAILED']);
    }
    await client.onUnauthorized(unauthorized(answers));
    expect(await client.token()).toBe('a');
  });

  it('requests no token for a request that was sent before the last token arrived', async () => {
    const client = new ClientCredentialsClient(GIVEN);
    await client.onUnauthorized(unauthorized(answers));
    await client.onUnauthorized(unauthorized(never));
    expect(await client.token()).toBe('a');
  });

  it('rejects a token request for another server', async () => {
    const client = new ClientCredentialsClient(GIVEN);
    const elsewhere: FetchLike = async (url, init) =>
      url.toString().includes('oauth-protected-resource')
        ? Response.json({ resource: 'https://evil.example.com/mcp', authorization_servers: [ISSUER] })
        : answers(url, init);
    await expect(client.onUnauthorized(unauthorized(elsewhere))).rejects.toThrow(
      'it requests a token for another resource: https://evil.example.com/mcp',
    );
  });
});
