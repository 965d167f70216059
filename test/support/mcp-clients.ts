import { afterAll, beforeAll, describe } from 'vitest';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CreateMessageRequestSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

type Headings = Readonly<Record<string, string>>;

/** The answers of a client's user and of its model. */
export interface Said {
  readonly headers?: Headings;
  readonly elicit?: (message: string) => { action: 'accept' | 'decline'; content?: Record<string, string> };
  readonly sample?: () => string;
  /** Called when the stream of a session's notifications is open. */
  readonly onStream?: () => void;
}

/** A client of either version of the SDK: tests use the common part. */
export type AnyClient = Client | OldClient;

type Connect = (url: string, said?: Said) => Promise<AnyClient>;

const NAME = { name: 'test', version: '1.0.0' };

function capabilitiesOf({ elicit, sample }: Said) {
  return { ...(elicit && { elicitation: {} }), ...(sample && { sampling: {} }) };
}

const sampled = (text: string) => ({
  role: 'assistant' as const,
  content: { type: 'text' as const, text },
  model: 'test',
});

/** A client of the SDK's version 2; it uses the newest protocol of the server. */
export async function newClient(url: string, said: Said = {}): Promise<Client> {
  const { headers = {}, elicit, sample } = said;
  const client = new Client(NAME, { capabilities: capabilitiesOf(said), versionNegotiation: { mode: 'auto' } });
  if (elicit) client.setRequestHandler('elicitation/create', ({ params }) => elicit(params.message));
  if (sample) client.setRequestHandler('sampling/createMessage', () => sampled(sample()));
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }));
  return client;
}

/** A client of the SDK's version 1, which supports sessions and no later feature. */
export async function oldClient(url: string, said: Said = {}): Promise<OldClient> {
  const { headers = {}, elicit, sample, onStream } = said;
  const client = new OldClient(NAME, { capabilities: capabilitiesOf(said) });
  if (elicit) client.setRequestHandler(ElicitRequestSchema, ({ params }) => elicit(params.message));
  if (sample) client.setRequestHandler(CreateMessageRequestSchema, () => sampled(sample()));
  const watched: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init);
    if (init?.method === 'GET' && answer.ok) onStream?.();
    return answer;
  };
  await client.connect(new OldTransport(new URL(`${url}/mcp`), { requestInit: { headers }, fetch: watched }));
  return client;
}

/**
 * Runs the same tests with a connected client of either version.
 * @param url of the server; read when there is one
 * @param define defines the tests; the client is usable from the first `beforeAll` on, and can connect further ones
 */
export function describeClients(url: () => string, define: (client: () => AnyClient, connect: Connect) => void): void {
  describe.each([
    ['of the newest protocol', newClient],
    ['with a session', oldClient],
  ])('a client %s', (_name, connect) => {
    let client: AnyClient;
    beforeAll(async () => {
      client = await connect(url());
    });
    afterAll(() => client.close());
    define(() => client, connect);
  });
}

/** The texts of a tool's result. */
export function textOf(result: unknown): string {
  const { content } = result as { content: readonly { type: string; text?: string }[] };
  return content.map(({ text = '' }) => text).join('\n');
}

/** The run id of a call. */
export function runIdOf(result: unknown): string {
  const { _meta: meta } = result as { _meta?: Record<string, unknown> };
  return String(meta?.['jackdaw/run_id']);
}
