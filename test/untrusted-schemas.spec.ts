import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool } from './support/direct-calls.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Answer, type Jackdaw } from './support/jackdaw.js';
import { listed, untilStatus } from './support/mcp/scripted-servers.js';
import { ScriptedWeb } from './support/mcp/scripted-web.js';
import { WebServer } from './support/web-server.js';

const TOO_LONG = expect.stringContaining('took more than 2000 ms');
/** RE2 rejects the lookahead, so the pattern backtracks. */
const PATTERN = '^(?=a)(a+)+$';
const NO_MATCH = `${'a'.repeat(30)}!`;

type Schema = Readonly<Record<string, unknown>>;

function web(next: (level: Schema) => Schema): Schema {
  const $defs = Object.fromEntries(
    Array.from({ length: 24 }, (_, at) => [`d${at}`, at === 23 ? false : next({ $ref: `#/$defs/d${at + 1}` })]),
  );
  return { type: 'object', properties: { a: { $ref: '#/$defs/d0' } }, $defs };
}

const text = (schema: Schema): Schema => ({ type: 'object', properties: { a: { type: 'string', ...schema } } });

/** Tools whose checks take long, with arguments. */
const SLOW: Readonly<Record<string, { readonly inputSchema: Schema; readonly args: object }>> = {
  pattern: { inputSchema: text({ pattern: PATTERN }), args: { a: NO_MATCH } },
  references: { inputSchema: web((level) => ({ anyOf: [level, level] })), args: { a: 1 } },
  conditions: {
    inputSchema: web((level) => Object.fromEntries(['if', 'then', 'else'].map((keyword) => [keyword, level]))),
    args: { a: 1 },
  },
  unique: {
    inputSchema: { type: 'object', properties: { a: { type: 'array', uniqueItems: true, items: { type: 'object' } } } },
    args: { a: Array.from({ length: 9_000 }, (_, n) => ({ n })) },
  },
};
const PATTERNS: Readonly<Record<string, readonly [pattern: string, valid: string, invalid: string]>> = {
  colon: ['^https\\:\\/\\/', 'https://x', 'ftp://x'],
  dash: ['^[\\w\\.\\-]+\\-x$', 'a-x', 'a'],
  python: ['^(?P<year>\\d{4})$', '2026', 'year'],
  linear: ['^(a+)+$', 'aaa', `${'a'.repeat(5000)}!`],
};
const LARGE = {
  deep: Array.from({ length: 150 }).reduce<Schema>((inner) => ({ not: inner }), {}),
  long: { description: 'Long. '.repeat(100_000) },
};

describe('untrusted schemas', () => {
  let jackdaw: Jackdaw;
  let llm: FakeLlm;
  let server: ScriptedWeb;
  let api: WebServer;
  beforeAll(async () => {
    [llm, api] = await Promise.all([FakeLlm.start(), WebServer.start()]);
    api.on('/pets', (_request, reply) => void reply.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
    const tools = [
      listed('good'),
      ...Object.entries(SLOW).map(([name, { inputSchema }]) => listed(name, { inputSchema })),
      ...Object.entries(PATTERNS).map(([name, [pattern]]) => listed(name, { inputSchema: text({ pattern }) })),
      ...Object.entries(LARGE).map(([name, schema]) =>
        listed(name, { inputSchema: { type: 'object', properties: { a: schema } } }),
      ),
    ];
    server = await ScriptedWeb.start(({ method }) => (method === 'tools/list' ? { tools } : undefined));
    jackdaw = await startJackdaw({
      llm,
      options: {
        mcpServers: [{ name: 'web', enabled: true, type: 'http', http: { url: server.url } }],
        restTools: [{ document: petDocument(api.url), operations: ['findPets', 'namePets'] }],
      },
    });
    await untilStatus(jackdaw, 'web');
  });
  afterAll(async () => {
    await jackdaw.stop();
    await Promise.all([llm.close(), server.close(), api.close()]);
  });

  /** The order of the answers: to the request, and to a ping during it. */
  async function besidePing(request: Promise<Answer>): Promise<{ answer: Answer; order: readonly string[] }> {
    const order: string[] = [];
    const answered = request.then((answer) => {
      order.push('request');
      return answer;
    });
    for (let n = 0; n < 3; n++) {
      await jackdaw.get('/api/health/live');
      order.push('ping');
    }
    return { answer: await answered, order };
  }

  it.each(Object.keys(SLOW))('of an MCP server do not block the process: %s', async (name) => {
    const call = callTool(jackdaw, `web__${name}`, { arguments: SLOW[name]!.args });
    const { answer, order } = await besidePing(call);
    expect(order.at(-1)).toBe('request');
    expect([200, 400]).toContain(answer.status);
    expect((await callTool(jackdaw, 'web__good')).body).toMatchObject({ success: true });
  });

  it('of an MCP server are refused when they exceed the limits', async () => {
    const { body } = await jackdaw.get('/api/mcp/servers/web');
    expect(body).toMatchObject({
      refused: expect.arrayContaining([
        { tool: 'deep', why: expect.stringContaining('nested more than') },
        { tool: 'long', why: expect.stringContaining('bytes, and may have') },
      ]),
    });
    expect(body['refused']).toHaveLength(2);
  });

  it.each(Object.entries(PATTERNS))('of an MCP server have the pattern of %s', async (name, [, valid, invalid]) => {
    const call = async (a: string) => (await callTool(jackdaw, `web__${name}`, { arguments: { a } })).status;
    expect([await call(valid), await call(invalid)]).toEqual([200, 400]);
  });

  it('of an OpenAPI document do not block the process', async () => {
    const call = callTool(jackdaw, 'findPets', { arguments: { name: NO_MATCH } });
    const { answer, order } = await besidePing(call);
    expect(order.at(-1)).toBe('request');
    expect(answer).toMatchObject({ status: 400, body: { detail: TOO_LONG } });
    expect((await callTool(jackdaw, 'namePets', { arguments: { name: 'ftp://x' } })).status).toBe(400);
  });

  it('of a responseFormat do not block the process', async () => {
    llm.reply({ text: JSON.stringify({ a: NO_MATCH }) });
    const responseFormat = { schema: text({ pattern: PATTERN }) };
    const chat = jackdaw.post('/api/agent/chat', { query: 'Hi.', responseFormat });
    const { answer, order } = await besidePing(chat);
    expect(order.at(-1)).toBe('request');
    expect(JSON.stringify(answer.body)).toContain('took more than 2000 ms');
  });
});

function petDocument(url: string): object {
  const operation = (operationId: string, pattern: string) => ({
    get: {
      operationId,
      summary: 'Finds pets.',
      parameters: [{ name: 'name', in: 'query', schema: { type: 'string', pattern } }],
      responses: { 200: { description: 'Pets.' } },
    },
  });
  return {
    openapi: '3.1.0',
    info: { title: 'Pets', version: '1' },
    servers: [{ url }],
    paths: { '/pets': operation('findPets', PATTERN), '/names': operation('namePets', '^https\\:') },
  };
}
