import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Agent, Tool, ToolState } from '../src/index.js';
import { AcmeFactory } from './support/acme.factory.js';
import { AgentHost } from './support/agent-host.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { says } from './support/scripted-chat-model.js';

class CustomTools {
  @Tool({ name: 'weather', description: '查询天气', paramsDescription: '城市名称', effect: 'read' })
  getWeather(city: string): string {
    return `${city}：晴`;
  }
}

/** The requirements' own examples of a server with tools, written for Jackdaw. */
describe('the examples of a server', () => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    llm = await FakeLlm.start();
    jackdaw = await startJackdaw({ llm, tools: [CustomTools], env: { LLM_PROTOCOL: 'react' } });
  });
  beforeEach(() => llm.reset());
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
  });

  const thinking = (thought: string, action: string, input: string) => ({
    text: `Thought: ${thought}\nAction: ${action}\nAction Input: ${input}`,
  });

  it('run calculations in a text protocol, with thoughts, actions and observations', async () => {
    llm.reply(thinking('需要计算', 'calculator', '100 + 200'), { text: 'Thought: 好了\nFinal Answer: 300' });
    const { status, body } = await jackdaw.chat({ query: '计算 100 + 200', includeDetails: true });
    expect([status, body]).toMatchObject([
      200,
      {
        result: '300',
        iterations: 2,
        is_complete: true,
        duration_ms: expect.any(Number),
        steps: [
          { iteration: 1, thought: '需要计算', action: 'calculator', is_finished: false },
          { iteration: 2, action: 'finish', is_finished: true },
        ],
        tool_results: [{ tool: 'calculator', success: true, result: '300', execution_time_ms: expect.any(Number) }],
      },
    ]);
    expect(String(llm.requests[0]?.messages[0]?.content)).toContain('calculator');
    expect(llm.lastRequest.messages.at(-1)?.content).toContain('Observation: 300');
  });

  it('run tools that are methods of any provider', async () => {
    llm.reply(thinking('查天气', 'weather', '北京'), { text: 'Final Answer: 北京今天晴。' });
    const { body } = await jackdaw.chat({ query: '北京天气如何？', includeDetails: true });
    expect(body).toMatchObject({ result: '北京今天晴。', tool_results: [{ tool: 'weather', result: '北京：晴' }] });
  });

  it('continue after a call of an unknown tool, and end with the failure of their model', async () => {
    llm.reply(thinking('?', 'wether', '北京'), { text: 'Final Answer: 不知道。' });
    const { body } = await jackdaw.chat({ query: '天气？', includeDetails: true });
    expect(body).toMatchObject({ result: '不知道。', tool_results: [{ tool: 'wether', success: false }] });
    llm.reply({ status: 401, body: { error: { message: 'Incorrect API key' } } });
    expect(await jackdaw.chat({ query: '你好' })).toMatchObject({ body: { code: 'MODEL_AUTHENTICATION' } });
    expect(await jackdaw.chat({ query: '' })).toMatchObject({ status: 400 });
    expect(await jackdaw.get('/api/agent/health')).toMatchObject({ status: 200 });
  });

  it('run with a custom model provider', async () => {
    const host = new AgentHost();
    const agent = await host.start({
      modelFactories: [new AcmeFactory()],
      config: {
        ...host.environment(),
        LLM_PROVIDER: 'acme',
        LLM_API_KEY: 'k',
        LLM_BASE_URL: llm.url,
        LLM_MODEL: 'acme-1',
      },
    });
    llm.reply({ text: '你好。' });
    expect((await agent.chat('你好')).content).toBe('你好。');
    await host.stop();
  });
});

class Thoughts {
  @Tool({ description: 'Adds a note and returns the number of notes.', input: { type: 'object' }, stateful: true })
  note({ text = '' }: { text?: string }, @ToolState() state: ToolState<{ notes?: readonly string[] }>): number {
    state.update({ notes: [...(state.data.notes ?? []), text] });
    return state.data.notes?.length ?? 0;
  }
}

/** The same for tools that store a state. */
describe('the examples of stateful tools', () => {
  const host = new AgentHost();
  let agent: Agent;
  beforeAll(async () => {
    agent = await host.start({ tools: [Thoughts], builtinTools: ['sequentialthinking'] }, [says('ok')]);
  });
  afterAll(() => host.stop());

  it('run in sessions, each with its own state, and are cleaned up', async () => {
    await agent.createSession({ id: 'one' });
    await agent.createSession({ id: 'two' });
    expect(await agent.callTool('note', { text: 'a' }, 'one')).toBe(1);
    expect(await agent.callTool('note', { text: 'b' }, 'one')).toBe(2);
    expect(await agent.callTool('note', { text: 'c' }, 'two')).toBe(1);
    const session = agent.createStatefulToolSession('note', 'one');
    expect(await session.execute({ text: 'd' })).toBe(3);
    expect(await session.state()).toMatchObject({ data: { notes: ['a', 'b', 'd'] }, version: 3 });
    expect(await session.cleanup()).toBe(true);
    expect(await agent.callTool('note', { text: 'e' }, 'one')).toBe(1);
  });

  it('include sequential thinking as the first one', async () => {
    await agent.createSession({ id: 'thinking' });
    const think = (thoughtNumber: number, thought: string) =>
      agent.callTool(
        'sequentialthinking',
        { thought, thoughtNumber, totalThoughts: 2, nextThoughtNeeded: thoughtNumber < 2 },
        'thinking',
      );
    await think(1, 'First.');
    expect(JSON.stringify(await think(2, 'Second.'))).toContain('2');
  });
});
