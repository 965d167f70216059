import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createServer } from 'node:http';
import { AgentBuilder, createAgent, Parameter, registerMcp, unregisterMcp, type Agent } from '../src/index.js';
import { AgentHost } from './support/agent-host.js';
import { FakeLlm } from './support/fake-llm.js';
import { listed, scripted } from './support/mcp/scripted-servers.js';

const TOOL = listed('echo', { inputSchema: { type: 'object', properties: { text: { type: 'string' } } } });

/** The requirements' own examples of use, written for Jackdaw. */
describe('the examples', () => {
  const host = new AgentHost();
  const agents: Agent[] = [];
  let llm: FakeLlm;
  let env: Record<string, string>;

  beforeAll(async () => {
    llm = await FakeLlm.start();
  });
  beforeEach(() => {
    llm.reset();
    env = { DATA_DIR: host.environment().DATA_DIR, LLM_MAX_ATTEMPTS: '1', LLM_BREAKER_FAILURES: '0' };
  });
  afterEach(async () => {
    for (const agent of agents.splice(0)) await agent.close();
    await unregisterMcp('search-tools');
    await unregisterMcp('other-tools');
    await host.stop();
  });
  afterAll(() => llm.close());

  const unchanged = (agent: Agent): Agent => {
    agents.push(agent);
    return agent;
  };

  it('run an agent that is built step by step', async () => {
    const agent = unchanged(
      await new AgentBuilder()
        .withLlm('openai', 'sk-xxx', 'gpt-4', llm.url)
        .withMaxIterations(20)
        .withSystemPrompt('You are a helpful assistant')
        .withConfig(env)
        .build(),
    );
    llm.reply({ text: 'Hello.' });
    const reply = await agent.chat('Hi');
    expect(reply).toMatchObject({ content: 'Hello.', role: 'assistant', finishReason: 'stop', iterations: 1 });
    expect(agent.getConfig()).toMatchObject({
      instructions: 'You are a helpful assistant',
      limits: { maxIterations: 20 },
      model: { provider: 'openai', name: 'gpt-4' },
    });
    expect(llm.lastRequest).toMatchObject({
      model: 'gpt-4',
      messages: [{ content: expect.stringContaining('You are a helpful assistant') }, { content: 'Hi' }],
    });
    expect(llm.envelopes[0]?.headers.authorization).toBe('Bearer sk-xxx');
    expect(JSON.stringify(agent.getConfig())).not.toContain('sk-xxx');
  });

  it('run an agent whose key is sent to its provider only', async () => {
    const elsewhere: string[] = [];
    const server = createServer((request) => elsewhere.push(String(request.headers.authorization))).listen(0);
    const llmOptions = { apiType: 'openai', apiKey: 'sk-xxx', model: 'gpt-4', apiUrl: llm.url };
    const general = { LLM_BASE_URL: `http://127.0.0.1:${(server.address() as { port: number }).port}/v1` };
    const agent = unchanged(
      await createAgent({
        llm: llmOptions,
        config: { ...env, ...general, LLM_API_KEY: 'other', OPENAI_API_KEY: 'mine' },
      }),
    );
    llm.reply({ text: 'Hello.' });
    await agent.chat('Hi');
    server.close();
    expect([llm.envelopes[0]?.headers.authorization, elsewhere]).toEqual(['Bearer sk-xxx', []]);
  });

  it('run a tool that is registered with its parameters', async () => {
    const agent = unchanged(
      await createAgent({ llm: { apiType: 'openai', apiKey: 'k', apiUrl: llm.url }, config: env }),
    );
    agent.registerTool({
      name: 'db_query',
      description: 'Execute SQL query',
      parameters: [Parameter.string('sql', 'The query', true)],
      handler: ({ sql }: { sql: string }) => [{ sql, rows: 1 }],
    });
    llm.reply({ calls: [{ name: 'db_query', arguments: { sql: 'SELECT 1' } }] }, { text: 'One row.' });
    expect(await agent.chat('How many?')).toMatchObject({ content: 'One row.', iterations: 2 });
    expect(await agent.callTool('db_query', { sql: 'SELECT 2' })).toEqual([{ sql: 'SELECT 2', rows: 1 }]);
  });

  it('run an agent with the tools of an MCP server', async () => {
    // Its results are public: else the later calls of the session would wait by the rule of three facts.
    registerMcp(scripted('search-tools', { tools: [TOOL] }, { private: false }));
    registerMcp(scripted('other-tools', { tools: [TOOL] }));
    const agent = unchanged(
      await createAgent({
        llm: { apiType: 'openai', apiKey: 'sk-xxx', model: 'gpt-4-turbo', apiUrl: llm.url },
        prompt: '你是一个专业的AI助手，能够帮助用户查询信息和回答问题。',
        mcp: { enabled: true, name: 'search-tools' },
        config: env,
      }),
    );
    llm.reply({ text: '闭包是函数和它的环境。' });
    expect((await agent.chat('什么是JavaScript闭包？')).content).toBe('闭包是函数和它的环境。');
    expect(llm.lastRequest.tools?.map((tool) => tool.function.name)).toEqual(['search-tools__echo']);
    expect(String(llm.lastRequest.messages[0]?.content)).toContain('你是一个专业的AI助手');

    const call = { calls: [{ name: 'search-tools__echo', arguments: { text: '晴' } }] };
    llm.reply(call, { text: '北京今天晴。' });
    expect(await agent.chat('今天北京的天气如何？')).toMatchObject({ content: '北京今天晴。', iterations: 2 });

    llm.reply(call, { text: '现在的价格是 400 美元。' });
    let text = '';
    for await (const chunk of agent.chatStream('微软股票现在的价格是多少？')) text += chunk;
    expect(text).toBe('现在的价格是 400 美元。');
    expect([agent.hasMcpServer('search-tools'), agent.hasMcpServer('other-tools')]).toEqual([true, false]);
  });

  it('run the same agent with MCP switched off', async () => {
    registerMcp(scripted('search-tools', { tools: [TOOL] }));
    const agent = unchanged(
      await createAgent({
        llm: { apiType: 'openai', apiKey: 'k', apiUrl: llm.url },
        mcp: { enabled: false, name: 'search-tools' },
        config: env,
      }),
    );
    expect(agent.hasMcpServer('search-tools')).toBe(false);
  });
});
