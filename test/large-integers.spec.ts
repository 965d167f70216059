import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ID, startDigitsWorld } from './support/digits-world.js';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeRequest } from './support/fake-llm.types.js';
import type { Jackdaw } from './support/jackdaw.js';
import { WebServer } from './support/web-server.js';

const GOT = `{"got":{"id":${ID}},"list":[-9123456789012345678],"text":"${ID}"}`;

let llm: FakeLlm;
let web: WebServer;
let jackdaw: Jackdaw;
beforeAll(async () => {
  llm = await FakeLlm.start();
  web = await WebServer.start();
  jackdaw = await startDigitsWorld(llm, web);
});
afterEach(() => llm.reset());
afterAll(async () => {
  await jackdaw.stop();
  await web.close();
  await llm.close();
});

/** Sends a request and returns the answer as text, without parsing numbers. */
async function send(method: string, path: string, body?: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${jackdaw.url}/api/${path}`, {
    method,
    ...(body !== undefined && { body, headers: { 'content-type': 'application/json' } }),
  });
  return { status: response.status, text: await response.text() };
}

const post = (path: string, body: string) => send('POST', path, body);
const call = (tool: string, id: string) => post(`tools/${tool}/call`, `{"arguments":{"id":${id}}}`);
const runIdIn = (text: string) => /"run_id":"([^"]+)"/.exec(text)![1]!;

/** Answers with the tool's result. */
function echo({ messages }: FakeRequest) {
  return { text: String(messages.at(-1)?.content) };
}

describe('an integer above 2^53 in a direct call', () => {
  it.each(['look', 'loose', 'dto', 'coerced'])('is an argument error of the method %s', async (tool) => {
    const { status, text } = await call(tool, ID);
    expect([status, JSON.parse(text)]).toMatchObject([
      400,
      { code: 'TOOL_INVALID_ARGUMENTS', detail: expect.stringContaining(`"id" is the integer ${ID}`) },
    ]);
  });

  it('reaches a method as a string of digits, and a smaller one as a number', async () => {
    expect((await call('look', `"${ID}"`)).text).toContain(`"looked at string ${ID}"`);
    expect((await call('look', '"42"')).text).toContain('"looked at number 42"');
    expect((await call('dto', '"42"')).text).toContain('"looked at number 42"');
    expect((await call('dto', `"${ID}"`)).status).toBe(400);
  });

  it.each(['stdio__look', 'json__look', 'events__look'])('reaches %s and is returned unchanged', async (tool) => {
    const { status, text } = await call(tool, ID);
    expect([status, text]).toEqual([200, expect.stringContaining(`"result":${GOT}`)]);
    const { text: run } = await send('GET', `runs/${runIdIn(text)}`);
    expect(run).toContain(GOT);
    const { text: journal } = await send('GET', `runs/${runIdIn(text)}/journal`);
    expect(journal).toContain(GOT);
  });

  it('reaches REST endpoints in body, path and query, and is returned unchanged', async () => {
    expect((await call('post_order', ID)).text).toContain(`"result":{"got":{"id":${ID}},"next":[${ID}0]}`);
    expect((await call('get_order', ID)).text).toContain(`"result":{"path":"/order/${ID}?also=${ID}","id":${ID}}`);
  });

  it('is refused instead of an arguments object or a number', async () => {
    expect(await post('tools/look/call', `{"arguments":${ID}}`)).toMatchObject({ status: 400 });
    const { status, text } = await post('tools/look/call', `{"deadlineMs":${ID}}`);
    expect([status, text]).toEqual([400, expect.stringContaining(ID)]);
  });
});

describe("an integer above 2^53 in a model's call", () => {
  const native = (tool: string) => ({ calls: [{ name: tool, arguments: `{"id": ${ID}}` }] });
  const asked = async (agent?: string) =>
    (await post('agent/chat', JSON.stringify({ query: 'Look.', ...(agent && { agent }) }))).text;

  it('causes an error that the model reads, while its call is unchanged', async () => {
    llm.reply(native('look')).reply(echo);
    expect(await asked()).toContain(`the integer ${ID}, which cannot be represented exactly`);
    expect(llm.lastRequest.messages.at(-2)?.tool_calls?.[0]?.function.arguments).toBe(`{"id": ${ID}}`);
  });

  it('reaches an MCP server and is returned to the model unchanged', async () => {
    llm.reply(native('json__look')).reply(echo);
    expect(JSON.parse(await asked())).toMatchObject({ result: expect.stringContaining(GOT) });
  });

  it.each<[string, string]>([
    ['react', `Thought: I look.\nAction: post_order\nAction Input: {"id": ${ID}}`],
    ['react', `Action: {"action": "post_order", "action_input": {"id": ${ID}}}`],
    ['react', `Action: post_order\nAction Input: {'id': ${ID},}`],
    [
      'xml',
      `<function_calls><invoke name="post_order"><parameter name="id">${ID}</parameter></invoke></function_calls>`,
    ],
    ['xml', `<tool_call>{"name": "post_order", "arguments": {"id": ${ID}}}</tool_call>`],
  ])('reaches a REST endpoint by %s: %s', async (protocol, text) => {
    const before = web.at('/orders').length;
    llm.reply({ text }).reply({ text: protocol === 'react' ? 'Final Answer: done' : 'done' });
    await asked(protocol);
    expect(web.at('/orders').slice(before)).toMatchObject([{ body: `{"id":${ID}}` }]);
    expect(JSON.stringify(llm.lastRequest.messages)).toContain(ID);
  });

  it('retains its digits in a structured answer', async () => {
    const schema = { type: 'object', properties: { id: { type: 'integer', maximum: 1e30 } }, required: ['id'] };
    llm.reply({ text: `{"id": ${ID}}` }).reply({ text: `{"id": ${ID}}` });
    for (const responseFormat of [JSON.stringify({ schema }).replace('1e+30', '18446744073709551615'), '"json"']) {
      const { text } = await post('agent/chat', `{"query":"Which?","responseFormat":${responseFormat}}`);
      expect(text).toContain(`"output":{"id":${ID}}`);
      expect((await send('GET', `runs/${runIdIn(text)}`)).text).toContain(`"output":{"id":${ID}}`);
    }
  });
});

describe("an integer above 2^53 in a user's request", () => {
  const waiting = async () => {
    llm.reply({ calls: [{ name: 'asked', arguments: '{"id": 1}' }] }).reply(echo);
    return runIdIn((await post('agent/chat', '{"query":"Look."}')).text);
  };

  it('is refused in edited arguments of a method, which accept its digits as a string', async () => {
    const run = await waiting();
    const { status, text } = await post(`runs/${run}/approve`, `{"arguments":{"id":${ID}}}`);
    expect([status, text]).toEqual([400, expect.stringContaining(ID)]);
    await post(`runs/${run}/approve`, `{"arguments":{"id":"${ID}"}}`);
    const events = await send('GET', `runs/${run}/events`);
    expect(events.text).toContain(`looked at string ${ID}`);
  });

  it('retains its digits in metadata, exports and imports of a session', async () => {
    const metadata = `{"order":${ID},"list":[{"id":-${ID}}],"text":"${ID}","limit":1e400}`;
    const created = await post('sessions', `{"metadata":${metadata}}`);
    const id = /"id":"([^"]+)"/.exec(created.text)![1]!;
    expect((await send('GET', `sessions/${id}/metadata`)).text).toContain(metadata);
    const { text: exported } = await send('GET', `sessions/${id}/export`);
    expect(exported).toContain(metadata);
    const imported = await post('sessions/import', `{"id":"copy","session":${exported}}`);
    expect(imported.status).toBe(201);
    expect((await send('GET', 'sessions/copy/export')).text).toContain(metadata);
    await send('PUT', `sessions/${id}/metadata`, `{"metadata":{"order":${ID}1}}`);
    expect((await send('GET', `sessions/${id}`)).text).toContain(`${ID}1`);
    expect((await send('PUT', `sessions/${id}/metadata`, `{"metadata":${ID}}`)).status).toBe(400);
  });

  it('retains its digits in the metadata of a question', async () => {
    llm.reply({ text: 'Hello.' });
    const { text } = await post('agent/chat', `{"query":"Hi.","metadata":{"order":${ID}}}`);
    const session = /"session_id":"([^"]+)"/.exec(text)![1]!;
    expect((await send('GET', `sessions/${session}/export`)).text).toContain(`"order":${ID}`);
  });

  it('retains its digits in a workflow', async () => {
    const before = web.at('/orders').length;
    const { text } = await post('workflows/find/runs', `{"wait":true,"input":{"id":${ID}}}`);
    expect(web.at('/orders').slice(before)).toMatchObject([{ body: `{"id":${ID},"note":"no. ${ID}"}` }]);
    expect(text).toContain(`"got":{"id":${ID},"note":"no. ${ID}"}`);
    expect((await post('workflows/find/runs', `{"input":${ID}}`)).status).toBe(400);
  });

  it('is an error for the code of a workflow', async () => {
    const { text } = await post('workflows/code/runs', `{"wait":true,"input":{"id":${ID}}}`);
    expect(text).toContain(`the integer ${ID}`);
  });

  it('retains its digits in the edit of a fork', async () => {
    llm.reply({ calls: [{ name: 'loose', arguments: '{"id": 1}' }] }).reply(echo);
    const run = runIdIn((await post('agent/chat', '{"query":"Look."}')).text);
    llm.reply(echo);
    const { text } = await post(`runs/${run}/fork`, `{"fromStep":"tool:1:1","edit":{"toolResult":{"id":${ID}}}}`);
    expect(text).toContain(`"result":{"id":${ID}}`);
  });
});

describe('an integer above 2^53 from an MCP client', () => {
  const rpc = async (tool: string) => {
    const response = await fetch(`${jackdaw.url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': tool,
      },
      body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${tool}","arguments":{"id":${ID}},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`,
    });
    return response.text();
  };

  it('reaches the tool and is returned unchanged, or causes an error', async () => {
    expect(await rpc('json__look')).toContain(`"structuredContent":${GOT}`);
    expect(await rpc('look')).toContain(`the integer ${ID}`);
  });
});
