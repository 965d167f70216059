import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

interface Connect {
  readonly headers?: Readonly<Record<string, string>>;
  readonly capabilities?: Record<string, object>;
}

const NAME = { name: 'test', version: '1.0.0' };

/** A client of the SDK's version 2; it speaks the newest protocol that the server does. */
export async function newClient(url: string, { headers = {}, capabilities = {} }: Connect = {}): Promise<Client> {
  const client = new Client(NAME, { capabilities, versionNegotiation: { mode: 'auto' } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }));
  return client;
}

/** A client of the SDK's version 1, which knows sessions and nothing newer. */
export async function oldClient(url: string, { headers = {}, capabilities = {} }: Connect = {}): Promise<OldClient> {
  const client = new OldClient(NAME, { capabilities });
  await client.connect(new OldTransport(new URL(`${url}/mcp`), { requestInit: { headers } }));
  return client;
}
