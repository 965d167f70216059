import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createAgent } from '../src/index.js';
import { AgentFolder } from './support/agent-folder.js';
import { FakeLlm } from './support/fake-llm.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { openAiBody } from './support/providers/openai.js';
import { TestTools } from './support/test.tool.js';

/** Models with an effort, and the provider whose rules the fake enforces. */
const STRICT = { anthropic: 'anthropic', azure: 'azure', deepseek: 'deepseek', glm: 'glm', ollama: 'ollama' } as const;
type Provider = keyof typeof STRICT;

let llm: FakeLlm;
let jackdaw: Jackdaw | undefined;
beforeAll(async () => {
  llm = await FakeLlm.start({ strict: ({ model }) => strictOf(model) });
});
afterEach(async () => {
  await jackdaw?.stop();
  jackdaw = undefined;
  llm.reset();
});
afterAll(() => llm.close());

function strictOf(model: string): 'openai' | 'gemini' | 'vllm' | Provider {
  if (model.startsWith('claude')) return 'anthropic';
  if (model.startsWith('deepseek')) return 'deepseek';
  if (model.startsWith('glm')) return 'glm';
  if (model.startsWith('gemini')) return 'gemini';
  if (model.startsWith('house')) return 'vllm';
  return model.startsWith('qwen') ? 'ollama' : 'openai';
}

async function start(provider: string, model: string, env: Record<string, string> = {}): Promise<Jackdaw> {
  llm.always({ text: 'fine' });
  jackdaw = await startJackdaw({ env: { ...llm.envOf(provider), LLM_MODEL: model, ...env }, tools: [new TestTools()] });
  return jackdaw;
}

/** The fields of the effort in the last request. */
function sent(): Record<string, unknown> {
  const { reasoning_effort, thinking, output_config } = llm.lastRequest;
  return JSON.parse(JSON.stringify({ reasoning_effort, thinking, output_config })) as Record<string, unknown>;
}

const NO_TOOLS = { toolChoice: 'none' } as const;
const ADAPTIVE = { type: 'adaptive', display: 'summarized' };

describe('the effort of a request', () => {
  it.each<[string, string, string, object]>([
    ['openai', 'gpt-5.6-luna', 'high', { reasoning_effort: 'high' }],
    ['openai', 'gpt-5', 'max', { reasoning_effort: 'high' }],
    ['openai', 'gpt-5.1', 'minimal', { reasoning_effort: 'low' }],
    ['openai', 'gpt-5.1', 'none', { reasoning_effort: 'none' }],
    ['azure', 'gpt-5', 'minimal', { reasoning_effort: 'minimal' }],
    ['anthropic', 'claude-haiku-5-5', 'minimal', { output_config: { effort: 'low' }, thinking: ADAPTIVE }],
    ['anthropic', 'claude-haiku-5-5', 'none', { thinking: { type: 'disabled' } }],
    ['anthropic', 'claude-sonnet-4-5', 'medium', { thinking: { type: 'enabled', budget_tokens: 16_000 } }],
    ['deepseek', 'deepseek-v4-flash', 'max', { thinking: { type: 'enabled' }, reasoning_effort: 'max' }],
    ['deepseek', 'deepseek-v4-flash', 'none', { thinking: { type: 'disabled' } }],
    ['glm', 'glm-4.7', 'low', { thinking: { type: 'enabled' } }],
    ['glm', 'glm-5.3', 'medium', { thinking: { type: 'enabled' }, reasoning_effort: 'high' }],
    ['glm', 'glm-4.7', 'none', { thinking: { type: 'disabled' } }],
    ['ollama', 'qwen3', 'minimal', { reasoning_effort: 'low' }],
    ['ollama', 'qwen3', 'none', { reasoning_effort: 'none' }],
    ['openai-compatible', 'gemini-2.5-flash', 'xhigh', { reasoning_effort: 'high' }],
    ['openai-compatible', 'house-model', 'xhigh', { reasoning_effort: 'xhigh' }],
  ])('is mapped for %s, %s and %s', async (provider, model, effort, expected) => {
    const app = await start(provider, model);
    const { body } = await app.chat({ query: 'x', parameters: { effort }, ...NO_TOOLS });
    expect(body['result']).toBe('fine');
    expect(sent()).toEqual(expected);
    expect(llm.broken).toEqual([]);
  });

  it.each([
    ['openai', 'gpt-4o', 'low', 'the model gpt-4o of openai takes no effort'],
    ['anthropic', 'claude-3-5-haiku-latest', 'low', 'takes no effort'],
    ['openai', 'gpt-5', 'none', 'takes an effort of minimal, low, medium, high only'],
    ['anthropic', 'claude-opus-5-5', 'none', 'takes an effort of low, medium, high, xhigh, max only'],
  ])('is 400 for a model without it: %s %s %s', async (provider, model, effort, why) => {
    const app = await start(provider, model);
    const reply = await app.chat({ query: 'x', parameters: { effort } });
    expect([reply.status, JSON.stringify(reply.body)]).toEqual([400, expect.stringContaining(why)]);
    expect(llm.requests).toHaveLength(0);
  });

  it.each([
    ['openai', 'gpt-5.6-luna'],
    ['anthropic', 'claude-sonnet-4-5'],
    ['anthropic', 'claude-opus-4-6'],
    ['deepseek', 'deepseek-v4-flash'],
    ['ollama', 'qwen3'],
  ])('is valid in every request of a run with tools: %s, %s', async (provider, model) => {
    const app = await start(provider, model);
    const calls = [{ name: 'double', arguments: { n: 2 } }];
    llm.reply({ reasoning: 'I double.', calls }, { calls }, { text: 'fine' });
    for (const effort of ['high', 'none']) {
      const { body } = await app.chat({ query: 'x', sessionId: 's', parameters: { effort } });
      expect(body['result']).toBe('fine');
    }
    expect(llm.requests).toHaveLength(4);
    expect(llm.broken).toEqual([]);
  });

  it('is 400 for an unknown level', async () => {
    const app = await start('openai', 'gpt-5');
    expect((await app.chat({ query: 'x', parameters: { effort: 'some' } })).status).toBe(400);
  });

  it('beside tools of OpenAI’s chat completions is reported as refused, and omitted if that is allowed', async () => {
    const app = await start('azure', 'gpt-5.6-luna');
    const { body } = await app.chat({ query: 'x', parameters: { effort: 'high' } });
    expect(body['code']).toBe('MODEL_REFUSED');
    expect(body['detail']).toMatch(/refused the parameter effort .*LLM_QUIRKS=drop:effort/);
    await app.stop();
    const other = await start('azure', 'gpt-5.6-luna', { LLM_QUIRKS: 'drop:effort' });
    expect((await other.chat({ query: 'x', parameters: { effort: 'high' } })).body['result']).toBe('fine');
    expect(sent()).toEqual({ reasoning_effort: 'none' });
  });

  it('of an unknown model is adapted after a refusal: reported if it is set, else omitted', async () => {
    const refusal = { status: 400, body: openAiBody({ message: "Unknown parameter: 'reasoning_effort'." }) };
    const app = await start('openai-compatible', 'house-model', { LLM_QUIRKS: 'drop:effort' });
    llm.always((request) => (request['reasoning_effort'] === undefined ? { text: 'fine' } : refusal));
    for (let n = 0; n < 2; n++) {
      expect((await app.chat({ query: 'x', parameters: { effort: 'low' } })).body['result']).toBe('fine');
    }
    expect(llm.requests).toHaveLength(3);
    const { body } = await app.get('/api/agent/health');
    expect(body['details']).toMatchObject({
      model: { adaptations: { 'openai-compatible:house-model': ['effort is omitted'] } },
    });
    await app.stop();
    const strict = await start('openai-compatible', 'house-model');
    llm.always(refusal);
    const { body: failed } = await strict.chat({ query: 'x', parameters: { effort: 'low' } });
    expect(failed['code']).toBe('MODEL_REFUSED');
  });
});

describe('a fallback model', () => {
  const DOWN = { status: 503, body: {} };
  const failing = (model: string) => (request: { model: string }) =>
    request.model === model ? DOWN : { text: 'fine' };

  it.each([
    ['gpt-5.6-luna', 'gpt-5.1', 'max', { reasoning_effort: 'high' }, {}],
    ['gpt-5.6-luna', 'gpt-4o', 'max', {}, { dropped: ['effort'] }],
  ])(
    'of %s, %s, gets the effort %s mapped, or drops it with an event',
    async (first, second, effort, fields, event) => {
      const app = await start('openai', first, { LLM_FALLBACK: `openai:${second}` });
      llm.always(failing(first));
      const events = await (await app.stream({ query: 'x', parameters: { effort }, ...NO_TOOLS })).all();
      expect(sent()).toEqual(fields);
      const switched = events.map(({ data }) => data).find(({ type }) => type === 'model.switched');
      expect(switched).toEqual({
        type: 'model.switched',
        iteration: 1,
        from: `openai:${first}`,
        to: `openai:${second}`,
        code: 'MODEL_UNAVAILABLE',
        ...event,
      });
      expect(llm.broken).toEqual([]);
    },
  );
});

describe('the effort of an agent', () => {
  it('comes from the environment, and a request overrides it', async () => {
    const app = await start('openai', 'gpt-5', { LLM_EFFORT: 'low' });
    await app.chat({ query: 'x' });
    expect(sent()).toEqual({ reasoning_effort: 'low' });
    await app.chat({ query: 'x', parameters: { effort: 'high' } });
    expect(sent()).toEqual({ reasoning_effort: 'high' });
  });

  it('stops the start for a model without it', async () => {
    await expect(start('openai', 'gpt-4o', { LLM_EFFORT: 'low' })).rejects.toThrow('gpt-4o of openai takes no effort');
  });

  it('comes from an XML file', async () => {
    const folder = new AgentFolder();
    folder.write('thinker.xml', '<agent name="thinker"><llm api-type="openai" model="gpt-5" effort="medium"/></agent>');
    try {
      const app = await start('openai', 'gpt-5', { AGENTS_DIR: folder.path });
      await app.chat({ query: 'x', agent: 'thinker' });
      expect(sent()).toEqual({ reasoning_effort: 'medium' });
    } finally {
      folder.dispose();
    }
  });

  it('comes from the library, for the agent and for a question', async () => {
    llm.always({ text: 'fine' });
    const agent = await createAgent({
      config: { ...llm.envOf('openai'), LLM_MODEL: 'gpt-5', DATA_DIR: newFolder() },
      model: { parameters: { effort: 'minimal' } },
    });
    try {
      await agent.chat('x');
      expect(sent()).toEqual({ reasoning_effort: 'minimal' });
      await agent.chat('x', { parameters: { effort: 'medium' } });
      expect(sent()).toEqual({ reasoning_effort: 'medium' });
    } finally {
      await agent.close();
    }
  });
});
