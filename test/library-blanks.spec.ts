import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NestFactory } from '@nestjs/core';
import {
  type Agent,
  createAgent,
  enhance,
  type JackdawFeatureOptions,
  JackdawModule,
  parseAgent,
  registerMcp,
} from '../src/index.js';
import { AgentHost } from './support/agent-host.js';
import { ScriptedChatModel } from './support/scripted-chat-model.js';

const BLANKS = ['', ' \n'];
/** Values with a default from the environment or from Jackdaw. */
const MAY_BE_LEFT_OUT = new Set([
  'the name of a model',
  'the id of a new session',
  'a prompt',
  'instructions',
  'the name of an agent',
  'the model of a provider',
  'a key',
  'a prompt in XML',
  'a name in XML',
  // `enhance` treats a missing name as a list of tools, so it refuses with another code.
  'the server of a model',
]);
const ping = { name: 'ping', description: 'Pings.', handler: () => 'pong' };

async function codeOf(doing: () => unknown): Promise<string> {
  try {
    await doing();
    return 'nothing';
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}

describe('a blank or missing value in code', () => {
  const host = new AgentHost();
  let agent: Agent;
  beforeAll(async () => {
    agent = await host.start({}, []);
  });
  afterAll(() => host.stop());

  const calls: readonly [string, string, (blank: string) => unknown][] = [
    ['a message', 'VALIDATION_FAILED', (blank) => agent.chat(blank)],
    ['a message in a session', 'VALIDATION_FAILED', (blank) => agent.session('talk').chat(blank)],
    ['the name of a model', 'VALIDATION_FAILED', (blank) => agent.chat('Hi', { model: blank })],
    ['the name of a tool that is called', 'TOOL_NOT_FOUND', (blank) => agent.callTool(blank)],
    ['the name of a tool that is looked for', 'TOOL_NOT_FOUND', (blank) => agent.getTool(blank)],
    ['the name of a tool that is added', 'TOOL_INVALID', (blank) => agent.registerTool({ ...ping, name: blank })],
    ['the description of a tool', 'TOOL_INVALID', (blank) => agent.registerTool({ ...ping, description: blank })],
    ['the name of a server', 'MCP_SERVER_INVALID', (blank) => agent.connectMcpServer(blank, { command: 'x' })],
    ['the program of a server', 'MCP_SERVER_INVALID', (blank) => agent.connectMcpServer('files', { command: blank })],
    ['the address of a server', 'MCP_SERVER_INVALID', (blank) => agent.connectMcpServer('files', { url: blank })],
    ['the id of a session', 'VALIDATION_FAILED', (blank) => agent.session(blank)],
    ['the id of a new session', 'VALIDATION_FAILED', (blank) => agent.createSession({ id: blank })],
    ['the id of a run', 'RUN_NOT_FOUND', (blank) => agent.approve(blank)],
    ['the server of an agent', 'MCP_SERVER_INVALID', (name) => createAgent({ mcp: { enabled: true, name } })],
    ['a prompt', 'AGENT_INVALID', (prompt) => createAgent({ prompt })],
    ['instructions', 'AGENT_INVALID', (instructions) => createAgent({ instructions })],
    ['the name of an agent', 'AGENT_INVALID', (name) => createAgent({ name, config: host.environment() })],
    ['a provider', 'AGENT_INVALID', (apiType) => createAgent({ llm: { apiType } })],
    [
      'the model of a provider',
      'AGENT_INVALID',
      (model) => createAgent({ llm: { apiType: 'openai', apiKey: 'k', model } }),
    ],
    ['a key', 'AGENT_INVALID', (apiKey) => createAgent({ llm: { apiType: 'openai', apiKey } })],
    [
      'the name of a declared server',
      'MCP_SERVER_INVALID',
      (name) => registerMcp({ name, enabled: true, type: 'http', http: { url: 'http://localhost/mcp' } }),
    ],
    [
      'the server of a model',
      'MCP_SERVER_NOT_FOUND',
      (name) => enhance(new ScriptedChatModel([]), name).generate({ messages: [{ role: 'user', content: 'x' }] }),
    ],
    ['an agent in XML', 'AGENT_INVALID', (xml) => parseAgent(xml)],
    [
      'a prompt in XML',
      'AGENT_INVALID',
      (text) => parseAgent(`<agent name="a"><llm api-type="offline"/><prompt>${text}</prompt></agent>`),
    ],
    ['a name in XML', 'AGENT_INVALID', (name) => parseAgent(`<agent name="${name}"><llm api-type="offline"/></agent>`)],
  ];
  it.each(calls)('is refused for %s if it is blank: %s', async (_what, code, use) => {
    expect([await codeOf(() => use(BLANKS[0]!)), await codeOf(() => use(BLANKS[1]!))]).toEqual([code, code]);
  });

  const missing = calls.filter(([what]) => !MAY_BE_LEFT_OUT.has(what));
  it.each(missing)('is refused for %s if it is missing: %s', async (_what, code, use) => {
    expect(await codeOf(() => use(undefined as unknown as string))).toBe(code);
  });

  it('is refused as an option without effect, by its name', async () => {
    const options = (given: object) => given as { readonly model?: string };
    await expect(agent.chat('Hi', options({ sesionId: 's' }))).rejects.toThrow(
      'sesionId is not an option: did you mean "sessionId"?',
    );
    await expect(agent.session('talk').chat('Hi', options({ onLeave: 'cancel' }))).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
    });
    expect(() => agent.chatStream('Hi', options({ signal: 1 }))).toThrow(
      /^signal is not an option: use one of .*onLeave\.$/,
    );
  });

  const model = { provider: 'offline' };
  const boots: readonly [string, string, (blank: string) => JackdawFeatureOptions][] = [
    ['the name of an agent', 'AGENT_INVALID', (name) => ({ agents: [{ name, model }] })],
    ['a tool of an agent', 'AGENT_INVALID', (tool) => ({ agents: [{ name: 'clerk', model, tools: [tool] }] })],
    [
      'a server',
      'MCP_SERVER_INVALID',
      (name) => ({ mcpServers: [{ name, enabled: false, type: 'stdio', stdio: { command: 'x' } }] }),
    ],
  ];
  it.each(boots)('is refused for %s at the start of an application: %s', async (_what, code, options) => {
    for (const blank of BLANKS) {
      const imports = [
        [JackdawModule.forRoot({ config: host.environment(), ...options(blank) })],
        [JackdawModule.forRoot({ config: host.environment() }), JackdawModule.forFeature(options(blank))],
      ];
      for (const given of imports) {
        const root = { module: class Root {}, imports: given };
        const started = () => NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
        expect(await codeOf(started)).toBe(code);
      }
    }
  });
});
