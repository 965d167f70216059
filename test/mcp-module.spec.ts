import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { INestApplication } from '@nestjs/common';
import { JackdawHttpModule, JackdawMcpModule } from '../src/index.js';
import { AgentHost } from './support/agent-host.js';
import { gate } from './support/jackdaw.js';
import { newClient, oldClient } from './support/mcp-clients.js';
import { HOST_PREFIX, PLATFORMS, principalOf, startHost, StockTools } from './support/mounted-host.js';
import { says, ScriptedChatModel } from './support/scripted-chat-model.js';

const ANN = { authorization: 'Bearer ann' };
const LISTENING = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'subscriptions/listen',
};
const SUBSCRIBE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'subscriptions/listen',
  params: {
    notifications: { toolsListChanged: true },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
});
const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

describe.each(PLATFORMS)('a host on %s with an open notification stream', (platform) => {
  const agents = new AgentHost();
  afterAll(() => agents.stop());

  async function start(): Promise<readonly [app: INestApplication, url: string]> {
    const config = { ...agents.environment(), LOG_LEVEL: 'silent' };
    const options = { chatModel: new ScriptedChatModel([]), builtinTools: false, config };
    const app = await startHost(platform, options, [JackdawMcpModule.forRoot({ principal: principalOf })]);
    return [app, `${await app.getUrl()}${HOST_PREFIX}`];
  }

  it('closes with the stream of a session', async () => {
    const [app, url] = await start();
    const { opened, open } = gate();
    const client = await oldClient(url, { headers: ANN, onStream: open });
    await opened;
    await expect(app.close()).resolves.toBeUndefined();
    await client.close();
  });

  it('closes with a subscription of the newest protocol', async () => {
    const [app, url] = await start();
    const response = await fetch(`${url}/mcp`, { method: 'POST', headers: { ...ANN, ...LISTENING }, body: SUBSCRIBE });
    expect(response.status).toBe(200);
    await app.close();
    await expect(response.text()).rejects.toThrow('terminated');
  });
});

describe.each(PLATFORMS)('JackdawMcpModule in a host on %s', (platform) => {
  const agents = new AgentHost();
  let app: INestApplication;
  let url: string;

  beforeAll(async () => {
    const options = {
      chatModel: new ScriptedChatModel([says('Hello.'), says('Hello.')]),
      tools: [StockTools],
      builtinTools: false,
      config: { ...agents.environment(), LOG_LEVEL: 'silent' },
    };
    app = await startHost(platform, options, [
      JackdawMcpModule.forRoot({ principal: principalOf }),
      JackdawHttpModule.forRoot({ principal: principalOf, routes: ['runs'] }),
    ]);
    url = `${await app.getUrl()}${HOST_PREFIX}`;
  });
  afterAll(async () => {
    await app.close();
    await agents.stop();
  });

  const post = async (headers: Readonly<Record<string, string>>, body = PING) => {
    const type = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const response = await fetch(`${url}/mcp`, { method: 'POST', headers: { ...type, ...headers }, body });
    return { status: response.status, body: await response.json() };
  };

  it.each([
    ['the newest protocol', newClient],
    ['sessions', oldClient],
  ])('serves a client that uses %s', async (_name, connect) => {
    const client = await connect(url, { headers: ANN });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['lamps', 'ask_default']);
    expect(await client.callTool({ name: 'lamps', arguments: {} })).toMatchObject({ structuredContent: { lamps: 7 } });
    const answer = await client.callTool({ name: 'ask_default', arguments: { message: 'Hi' } });
    expect(answer).toMatchObject({ content: [{ type: 'text', text: expect.stringContaining('Hello.') }] });
    await client.close();
  });

  it('is reached after the guards of the host, by its principals only', async () => {
    expect(await post({})).toEqual({ status: 418, body: { oops: true } });
    const refused = await post({ authorization: 'Bearer guest' });
    expect(refused).toMatchObject({ status: 401, body: { code: 'UNAUTHENTICATED' } });
    const { runs } = (await (await fetch(`${url}/jackdaw/runs`, { headers: ANN })).json()) as { runs: object[] };
    expect(runs.length).toBeGreaterThan(0);
  });

  it('refuses pages of other sites', async () => {
    expect(await post({ ...ANN, origin: 'https://evil.example' })).toMatchObject({ status: 403 });
    expect(await post({ cookie: 'sid=ann', 'sec-fetch-site': 'cross-site' })).toMatchObject({ status: 403 });
  });

  it('answers a fault of the body in JSON-RPC', async () => {
    expect(await post(ANN, '{')).toMatchObject({ status: 400, body: { jsonrpc: '2.0', error: { code: -32_700 } } });
  });
});
