import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { parseAgent, Tool, type JackdawOptions } from '../src/index.js';
import { loadConfig } from '../src/config/index.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

Logger.overrideLogger(false);

const MODEL = { provider: 'offline' };
const LLM = '<llm api-type="offline"/>';

class Nameless {
  @Tool({ name: ' ', description: 'Has no name.' })
  act(): string {
    return '';
  }
}

/** Each request field that names something or contains user text. */
const REQUESTS: readonly (readonly [path: string, body: (given: unknown) => object, field: string])[] = [
  ...['/api/agent/chat', '/api/agent/chat/stream', '/api/agent/runs'].flatMap((path) => [
    [path, (query: unknown) => ({ query }), 'query'] as const,
    [path, (agent: unknown) => ({ query: 'x', agent }), 'agent'] as const,
    [path, (model: unknown) => ({ query: 'x', model }), 'model'] as const,
    [path, (name: unknown) => ({ query: 'x', toolChoice: { name } }), 'toolChoice'] as const,
    [path, (url: unknown) => ({ query: 'x', images: [{ url }] }), 'images.0.url'] as const,
  ]),
  ['/api/mcp/servers', (name) => ({ name, url: 'http://127.0.0.1:1/' }), 'name'],
  ['/api/mcp/servers', (url) => ({ name: 'web', url }), 'url'],
  ['/api/mcp/servers/web/tools/accept', (tool) => ({ tool, digest: 'a'.repeat(64) }), 'tool'],
  ['/api/mcp/servers/web/prompt', (name) => ({ name }), 'name'],
  ['/api/runs/:run/fork', (fromStep) => ({ fromStep }), 'fromStep'],
  ['/api/runs/:run/fork', (message) => ({ fromStep: 'model:1', edit: { message } }), 'edit.message'],
  ['/api/runs/:run/fork', (agent) => ({ fromStep: 'model:1', edit: { agent } }), 'edit.agent'],
  [
    '/api/runs/:run/fork',
    (provider) => ({ fromStep: 'model:1', edit: { model: { provider } } }),
    'edit.model.provider',
  ],
  ['/api/runs/:run/fork', (name) => ({ fromStep: 'model:1', edit: { model: { name } } }), 'edit.model.name'],
  [
    '/api/runs/:run/fork',
    (name) => ({ fromStep: 'model:1', edit: { agent: { tools: [name] } } }),
    'edit.agent.tools.0',
  ],
  [
    '/api/runs/:run/fork',
    (instructions) => ({ fromStep: 'model:1', edit: { agent: { instructions } } }),
    'edit.agent.instructions',
  ],
  ['/api/runs/:run/approve', (callId) => ({ callId }), 'callId'],
  ['/api/runs/:run/deny', (callId) => ({ callId }), 'callId'],
  ['/api/runs/:run/input', (callId) => ({ callId, value: 1 }), 'callId'],
  ['/api/runs/:run/settle', (callId) => ({ callId, outcome: 'retry' }), 'callId'],
];

describe('a request with an empty required value', () => {
  let jackdaw: Jackdaw;
  let runId: string;
  beforeAll(async () => {
    jackdaw = await startJackdaw({ env: { MCP_REST_REGISTRATION: 'true' } });
    runId = String((await jackdaw.chat({ query: '1 + 1' })).body['run_id']);
  });
  afterAll(() => jackdaw.stop());

  const cases = REQUESTS.flatMap(([path, body, field]) =>
    ['', ' \n'].map((given) => [path, field, JSON.stringify(given), body(given)] as const),
  );
  it.each(cases)('is answered with 400: %s, %s = %s', async (path, field, _given, body) => {
    const answer = await jackdaw.post(path.replace(':run', runId), body);
    expect(answer).toMatchObject({ status: 400, body: { code: expect.stringMatching(/VALIDATION_FAILED|INVALID/) } });
    const errors = answer.body['errors'] as unknown as readonly { readonly field: string }[];
    expect(errors.map((error) => error.field)).toEqual([field]);
  });

  it.each([
    ['GET', '/api/agents/%20'],
    ['GET', '/api/tools/%20'],
    ['POST', '/api/tools/%20/call'],
    ['POST', '/api/tools/%09/disable'],
    ['GET', '/api/mcp/servers/%20'],
    ['GET', '/api/mcp/servers/%20/prompts'],
  ])('is answered with 400 for an empty path parameter: %s %s', async (method, path) => {
    const { status, body } = await jackdaw.send(path, { method });
    expect([status, body['code']]).toEqual([400, 'VALIDATION_FAILED']);
  });

  it.each(['query', 'agent', 'model'])('is refused, too, if its %s is null', async (field) => {
    const { status, body } = await jackdaw.chat({ query: 'x', [field]: null });
    expect([status, body['code']]).toEqual([400, 'VALIDATION_FAILED']);
  });
});

describe('a start with an empty value', () => {
  const http = { url: 'http://127.0.0.1:1/' };
  it.each<[string, JackdawOptions, string]>([
    ['a name', { agents: [{ name: '', model: MODEL }] }, 'name'],
    ['a prompt', { agents: [{ name: 'a', instructions: ' ', model: MODEL }] }, 'instructions'],
    ['a provider', { agents: [{ name: 'a', model: { provider: ' ' } }] }, 'model.provider'],
    ['a model', { agents: [{ name: 'a', model: { provider: 'offline', name: '' } }] }, 'model.name'],
    ['a tool', { agents: [{ name: 'a', model: MODEL, tools: [' '] }] }, 'tools[0]'],
    ['a server of an agent', { agents: [{ name: 'a', model: MODEL, mcpServers: [''] }] }, 'mcpServers[0].name'],
    ['a server', { mcpServers: [{ name: ' ', enabled: true, type: 'http', http }] }, 'the name " " is invalid'],
    [
      'the URL of a server',
      { mcpServers: [{ name: 'a', enabled: true, type: 'http', http: { url: '' } }] },
      'http.url',
    ],
    [
      'the program of a server',
      { mcpServers: [{ name: 'a', enabled: true, type: 'stdio', stdio: { command: ' ' } }] },
      'is empty',
    ],
    ['the name of a tool', { tools: [new Nameless()] }, 'the name " " is refused'],
    [
      'an endpoint',
      { restTools: [{ name: ' ', description: 'x', method: 'GET', url: http.url }] },
      'its name: is empty',
    ],
    ['a tool of a policy', { securityPolicy: { tools: [{ deny: [' '] }] } }, 'tools.0.deny.0'],
  ])('is refused: %s', async (_case, options, what) => {
    await expect(startJackdaw({ options })).rejects.toMatchObject({ message: expect.stringContaining(what) });
  });

  it.each([
    ['LLM_FALLBACK', 'openai:'],
    ['LLM_FALLBACK', 'openai: ,ollama'],
    ['LLM_REQUEST_MODELS', 'openai:'],
    ['LLM_PRICES', '{" ": {"input": 1, "output": 1}}'],
  ])('is refused for a model in %s=%s', (name, value) => {
    expect(() => loadConfig({ env: { LLM_PROVIDER: 'offline', [name]: value } })).toThrow(name);
  });

  it.each<[string, string, string]>([
    ['a name', `<agent name=" ">${LLM}</agent>`, 'name=" "'],
    ['no name', `<agent>${LLM}</agent>`, 'the attribute name'],
    ['a prompt', `<agent name="a">${LLM}<prompt> </prompt></agent>`, '<prompt> expects a text'],
    ['a provider', '<agent name="a"><llm api-type=" "/></agent>', 'api-type=" "'],
    ['a model', '<agent name="a"><llm api-type="offline" model=""/></agent>', 'model=""'],
    ['a tool', `<agent name="a">${LLM}<tools><tool name=""/></tools></agent>`, 'name=""'],
    ['a server', `<agent name="a">${LLM}<mcp-server name=" "/></agent>`, 'name=" "'],
    ['an approval', `<agent name="a">${LLM}<approvals><tool name=" "/></approvals></agent>`, 'name=" "'],
    ['an agent', `<agent name="a">${LLM}<sub-agent name=""/></agent>`, 'name=""'],
  ])('is refused for %s of an agent file', (_case, xml, what) => {
    expect(() => parseAgent(xml)).toThrow(what);
  });
});
