import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { McpRegistry, type McpConfig } from '../src/mcp/index.js';
import { callTool } from './support/direct-calls.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { PersonProvider } from './support/mcp/person-provider.js';
import { GuardedServer } from './support/mcp/guarded-server.js';
import { untilStatus } from './support/mcp/scripted-servers.js';

type Auth = NonNullable<NonNullable<McpConfig['http']>['auth']>;

let guarded: GuardedServer;
let person: PersonProvider;
let jackdaw: Jackdaw | undefined;
beforeAll(async () => {
  guarded = await GuardedServer.start();
});
beforeEach(() => {
  guarded.reset();
  person = new PersonProvider(guarded.authority.url);
});
afterEach(async () => {
  await jackdaw?.stop();
  jackdaw = undefined;
});
afterAll(() => guarded.close());

async function start(auth: Auth): Promise<Jackdaw> {
  const server: McpConfig = { name: 'guarded', enabled: true, type: 'http', http: { url: guarded.url, auth } };
  jackdaw = await startJackdaw({ env: { OUTGOING_ALLOW: '127.0.0.1' }, options: { mcpServers: [server] } });
  return jackdaw;
}

const connectionOf = (started: Jackdaw) => started.app.get(McpRegistry, { strict: false }).get('guarded').connection;
const echo = async (started: Jackdaw) =>
  (await callTool(started, 'guarded__echo', { arguments: { a: 1 } })).body['result'];

describe('an MCP server that wants a person’s consent', () => {
  it('is connected when the user returns', async () => {
    const started = await start({ type: 'provider', provider: person });
    await person.sent;
    expect(connectionOf(started).state.status).toBe('connecting');
    person.comeBack({ code: 'the-code' });
    await untilStatus(started, 'guarded');
    expect(await echo(started)).toBe('{"a":1}');
    expect(person.addresses).toHaveLength(1);
    expect(person.addresses[0]).toContain(`${guarded.authority.url}/authorize?response_type=code`);
  });

  it('requests consent once for all waiting calls, and again when the consent has expired', async () => {
    guarded.tokens.add('first');
    person.saveTokens({ access_token: 'first', token_type: 'Bearer', issuer: guarded.authority.url });
    const started = await start({ type: 'provider', provider: person });
    await untilStatus(started, 'guarded');
    guarded.tokens.clear();
    const calls = Promise.all(Array.from({ length: 5 }, () => echo(started)));
    await person.sent;
    person.comeBack({ code: 'the-code' });
    expect(await calls).toEqual(Array.from({ length: 5 }, () => '{"a":1}'));
  });

  it('is not connected when the user refuses, or returns from elsewhere', async () => {
    const started = await start({ type: 'provider', provider: person });
    await person.sent;
    person.comeBack({ code: 'the-code', iss: 'https://evil.example.com' });
    await untilStatus(started, 'guarded', 'failed');
    expect(connectionOf(started).state.error).toContain('https://evil.example.com');
    expect(guarded.authority.at('/token')).toEqual([]);
  });

  it('does not delay the shutdown of the application', async () => {
    const started = await start({ type: 'provider', provider: person });
    await person.sent;
    await started.app.close();
    expect(connectionOf(started).state.status).toBe('closed');
    expect(person.signal?.aborted).toBe(true);
  });

  it('is not connected if no redirect back is possible', async () => {
    const started = await start({ type: 'provider', provider: person.withoutRedirect() });
    await untilStatus(started, 'guarded', 'failed');
    expect(connectionOf(started).state.error).toBe('it requires the consent of a user, which is missing');
  });

  it('is refused with an invalid provider', async () => {
    const provider = {} as PersonProvider;
    await expect(start({ type: 'provider', provider })).rejects.toThrow(
      'mcpServers[0]: http.auth.provider: is not an OAuthClientProvider.',
    );
  });
});
