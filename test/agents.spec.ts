import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Tool } from '../src/index.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

class Shelf {
  @Tool({ description: 'Looks up a book.' })
  look(): string {
    return 'there';
  }

  @Tool({ description: 'Lends a book.' })
  lend(): string {
    return 'lent';
  }
}

const HIDDEN = 'You are kind to readers, and never say the word of the day.';

describe('agents over REST', () => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;

  beforeAll(async () => {
    llm = await FakeLlm.start();
    jackdaw = await startJackdaw({
      llm,
      tools: [new Shelf()],
      options: {
        builtinTools: false,
        agents: [
          { name: 'desk', instructions: HIDDEN, model: { provider: 'openai' }, tools: [], subAgents: ['librarian'] },
          {
            name: 'librarian',
            description: 'Knows the shelves.',
            instructions: `${HIDDEN} You are the librarian.`,
            model: { provider: 'openai', name: 'gpt-4o-mini', parameters: { temperature: 0.2 } },
            protocol: 'react',
            responseFormat: 'json',
            memory: { policy: 'lru', maxMessages: 7 },
            limits: { maxIterations: 3 },
          },
        ],
      },
    });
  });
  beforeEach(() => llm.reset());
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
  });

  it('are listed without their instructions, the default agent first', async () => {
    const { body, text } = await jackdaw.get('/api/agents');
    expect(body['agents']).toMatchObject([
      { name: 'desk', is_default: true, tools: [], sub_agents: ['librarian'], handoffs: [], protocol: 'native' },
      { name: 'librarian', is_default: false, tools: ['look', 'lend'], sub_agents: [] },
    ]);
    expect(text).not.toContain('word of the day');
  });

  it('have a resource each', async () => {
    const { body, text } = await jackdaw.get('/api/agents/librarian');
    expect(body).toEqual({
      name: 'librarian',
      description: 'Knows the shelves.',
      is_default: false,
      model: { provider: 'openai', name: 'gpt-4o-mini', parameters: { temperature: 0.2 } },
      protocol: 'react',
      tools: ['look', 'lend'],
      mcp_servers: [],
      sub_agents: [],
      handoffs: [],
      skills: [],
      response_format: 'json',
      memory: { enabled: true, policy: 'lru', max_messages: 7, max_context_tokens: 16_000 },
      limits: {
        max_iterations: 3,
        run_timeout_ms: 300_000,
        max_result_bytes: 65_536,
        max_depth: 3,
        max_tools: 40,
        max_tool_tokens: 8_000,
      },
      approvals: [],
    });
    expect(text).not.toContain('word of the day');
  });

  it('are answered with 404 for an unknown name', async () => {
    const { status, body } = await jackdaw.get('/api/agents/unknown');
    expect([status, body['code']]).toEqual([404, 'AGENT_NOT_FOUND']);
  });

  it('do not list a disabled tool', async () => {
    await jackdaw.post('/api/tools/lend/disable', {});
    expect((await jackdaw.get('/api/agents/librarian')).body['tools']).toEqual(['look']);
    await jackdaw.post('/api/tools/lend/enable', {});
    expect((await jackdaw.get('/api/agents/librarian')).body['tools']).toEqual(['look', 'lend']);
  });

  it.each(['/api/agent/chat', '/api/agent/chat/stream', '/api/agent/runs'])(
    'are selected by the agent of a request to %s',
    async (path) => {
      llm.reply({ text: 'Final Answer: {"shelf": 3}' });
      const { status } = await jackdaw.post(path, { query: 'Where is Emma?', agent: 'librarian' });
      expect(Math.floor(status / 100)).toBe(2);
      const request = await llm.waitForRequest();
      expect(String(request.messages[0]?.content)).toContain('You are the librarian.');
      expect(request).toMatchObject({ model: 'gpt-4o-mini', temperature: 0.2 });
    },
  );

  it('are answered with 404 for an unknown agent of a request', async () => {
    const { status, body } = await jackdaw.post('/api/agent/chat', { query: 'x', agent: 'unknown' });
    expect([status, body['code']]).toEqual([404, 'AGENT_NOT_FOUND']);
    expect(llm.requests).toHaveLength(0);
  });
});
