import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createAgent } from '../src/index.js';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeMessage } from './support/fake-llm.types.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { TestTools } from './support/test.tool.js';

let llm: FakeLlm;
beforeAll(async () => void (llm = await FakeLlm.start()));
afterEach(() => llm.reset());
afterAll(() => llm.close());

/** Models that accept a temperature and a forced tool call, as far as the provider has such models. */
const MODELS: Readonly<Record<string, string>> = {
  openai: 'gpt-4o',
  anthropic: 'claude-sonnet-4-5',
  azure: 'gpt-4o',
  deepseek: 'deepseek-chat',
  glm: 'glm-4.7',
  ollama: 'qwen3',
  'openai-compatible': 'llama-4',
};
const double: FakeMessage = { calls: [{ id: 'c', name: 'double', arguments: { n: 2 } }] };

describe.each(Object.entries(MODELS))('a chat over %s', (provider, model) => {
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    jackdaw = await startJackdaw({ env: { ...llm.envOf(provider), LLM_MODEL: model }, tools: [new TestTools()] });
  });
  afterAll(() => jackdaw.stop());
  const isAnthropic = provider === 'anthropic';
  const canForce = !['glm', 'ollama'].includes(provider);

  it('sends the model and the parameters of the request', async () => {
    llm.reply({ text: 'ok' });
    const parameters = { temperature: 0.2, maxTokens: 77, stop: ['END'] };
    const { status } = await jackdaw.chat({ query: 'x', model: `${model}-2`, parameters });
    expect(status).toBe(200);
    const limit = ['openai', 'azure'].includes(provider) ? 'max_completion_tokens' : 'max_tokens';
    expect(llm.lastRequest).toMatchObject({
      model: `${model}-2`,
      temperature: 0.2,
      [limit]: 77,
      [isAnthropic ? 'stop_sequences' : 'stop']: ['END'],
    });
  });

  it('sends a temperature of 0.7 by default, and none with topP', async () => {
    llm.always({ text: 'ok' });
    await jackdaw.chat({ query: 'x' });
    expect(llm.lastRequest).toMatchObject({ model, temperature: 0.7 });
    await jackdaw.chat({ query: 'x', parameters: { topP: 0.5 } });
    expect(llm.lastRequest).toMatchObject({ top_p: 0.5 });
    expect(llm.lastRequest['temperature']).toBeUndefined();
  });

  it('offers no tools with the tool choice "none"', async () => {
    llm.reply({ text: 'ok' });
    await jackdaw.chat({ query: 'x', toolChoice: 'none' });
    expect(llm.lastRequest.tools).toBeUndefined();
  });

  it.each(['required', { name: 'double' }])('forces a tool call in the first reply only: %j', async (toolChoice) => {
    llm.reply(double).reply({ text: 'four' });
    const { body } = await jackdaw.chat({ query: 'x', toolChoice });
    expect(body).toMatchObject({ result: 'four', iterations: 2 });
    const [first, second] = llm.requests.map((request) => request['tool_choice']);
    const [any, one] = isAnthropic
      ? [{ type: 'any' }, { type: 'tool', name: 'double' }]
      : ['required', { type: 'function', function: { name: 'double' } }];
    expect(first).toEqual(canForce ? (toolChoice === 'required' ? any : one) : undefined);
    expect(JSON.stringify(llm.requests[0]).includes('Your next reply must call')).toBe(!canForce);
    expect(second).toBeUndefined();
    expect(JSON.stringify(llm.requests[1])).not.toContain('Your next reply must call');
  });

  it('retries a reply without the forced call, and shows nothing of that reply', async () => {
    llm.reply({ text: 'I would rather not.' }).reply(double).reply({ text: 'four' });
    const stream = await jackdaw.stream({ query: 'x', toolChoice: { name: 'double' } });
    await stream.waitFor('run.completed');
    const shown = stream.events.flatMap(({ data }) => (data.type === 'message.delta' ? [data.text] : []));
    expect(shown.join('')).toBe('four');
    expect(llm.requests).toHaveLength(3);
    llm.reply({ text: 'No.' }, { text: 'No!' });
    const { status, body } = await jackdaw.chat({ query: 'x', toolChoice: 'required' });
    expect([status, body]).toMatchObject([
      502,
      { code: 'MODEL_BAD_REPLY', detail: expect.stringContaining('did not call a tool, twice') },
    ]);
  });
});

describe.each(['react', 'xml'])('a chat with the protocol %s', (protocol) => {
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    jackdaw = await startJackdaw({ llm, env: { LLM_PROTOCOL: protocol }, tools: [new TestTools()] });
  });
  afterAll(() => jackdaw.stop());
  const call =
    protocol === 'react'
      ? 'Thought: now\nAction: double\nAction Input: {"n": 2}'
      : '<function_calls><invoke name="double"><parameter name="n">2</parameter></invoke></function_calls>';
  const answer = protocol === 'react' ? 'Final Answer: four' : 'four';

  it('names the tool to call in the prompt, and repeats the request if the call is missing', async () => {
    llm.reply({ text: answer }, { text: call }, { text: answer });
    const { body } = await jackdaw.chat({ query: 'x', toolChoice: { name: 'double' } });
    expect(body).toMatchObject({ result: 'four' });
    const [first, again, last] = llm.requests.map(({ messages }) => JSON.stringify(messages));
    for (const asked of [first, again]) expect(asked).toContain('Your next reply must call the tool \\"double\\".');
    expect(last).not.toContain('Your next reply must call');
  });

  it('describes no tools in the prompt with the tool choice "none"', async () => {
    llm.reply({ text: answer });
    await jackdaw.chat({ query: 'x', toolChoice: 'none' });
    expect(JSON.stringify(llm.lastRequest)).not.toContain('double');
  });
});

describe('a request', () => {
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    const env = { GLM_API_KEY: 'g', GLM_BASE_URL: llm.url, LLM_MODEL: 'gpt-4o' };
    jackdaw = await startJackdaw({ llm, env, tools: [new TestTools()] });
  });
  afterAll(() => jackdaw.stop());

  it('may name another provider that is configured', async () => {
    llm.reply({ text: 'ok' });
    const { body } = await jackdaw.chat({ query: 'x', model: 'glm:glm-4.7' });
    expect(body).toMatchObject({ result: 'ok', model: 'glm-4.7' });
    expect(llm.envelopes[0]?.headers.authorization).toBe('Bearer g');
  });

  it('is journaled with its options, and forked with or without them', async () => {
    llm.always({ text: 'ok' });
    const wanted = { model: 'glm:glm-4.7', parameters: { temperature: 0.1 }, toolChoice: 'none' };
    const run = await jackdaw.post('/api/agent/runs', { query: 'x', ...wanted });
    const runId = String(run.body['run_id']);
    await jackdaw.events(runId);
    const { body } = await jackdaw.get(`/api/runs/${runId}/journal`);
    expect(body['input']).toMatchObject({
      model: { provider: 'glm', name: 'glm-4.7' },
      parameters: { temperature: 0.1 },
      toolChoice: 'none',
    });
    const fork = async (edit?: object) => {
      const forked = await jackdaw.post(`/api/runs/${runId}/fork`, { fromStep: 'model:1', ...(edit && { edit }) });
      await jackdaw.events(String(forked.body['run_id']));
      return llm.lastRequest;
    };
    const same = await fork();
    expect(same).toMatchObject({ model: 'glm-4.7', temperature: 0.1 });
    expect(same.tools).toBeUndefined();
    expect(await fork({ model: { name: 'gpt-4o-mini' } })).toMatchObject({ model: 'gpt-4o-mini', temperature: 0.1 });
    expect(await fork({ model: { parameters: { temperature: 1 } } })).toMatchObject({
      model: 'glm-4.7',
      temperature: 1,
    });
  });

  it.each([
    [{ model: 'deepseek:x' }, 'model', 'DEEPSEEK_API_KEY'],
    [{ model: 'glm:' }, 'model', 'must be a name'],
    [{ model: 'a b' }, 'model', 'without spaces'],
    [{ parameters: { temperature: 3 } }, 'parameters.temperature', 'must not be greater than 2'],
    [{ parameters: { heat: 1 } }, 'parameters.heat', 'not known'],
    [{ parameters: { stop: [''] } }, 'parameters.stop.0', 'longer than or equal to 1'],
    [{ parameters: null }, 'parameters', 'must be an object'],
    [{ model: 'glm:glm-4.7', parameters: { seed: 1 } }, 'parameters.seed', 'glm-4.7 of glm takes no seed'],
    [{ model: 'glm:glm-4.7', parameters: { temperature: 1.5 } }, 'parameters.temperature', 'temperature of 1 at most'],
    [{ model: 'gpt-5.6-luna', parameters: { topP: 1 } }, 'parameters.topP', 'takes no topP'],
    [{ toolChoice: 'all' }, 'toolChoice', '"auto", "none", "required"'],
    [{ toolChoice: { name: 'double', more: 1 } }, 'toolChoice', '"auto", "none", "required"'],
    [{ toolChoice: { name: 'treble' } }, 'toolChoice.name', 'no tool "treble"'],
  ])('is refused with %j', async (wanted, field, words) => {
    for (const path of ['/api/agent/chat', '/api/agent/chat/stream', '/api/agent/runs']) {
      const { status, body } = await jackdaw.post(path, { query: 'x', ...wanted });
      expect([status, body]).toMatchObject([400, { code: 'VALIDATION_FAILED' }]);
      expect(body['errors']).toContainEqual(expect.objectContaining({ field }));
      expect(String(body['detail'])).toContain(words);
    }
    expect(llm.requests).toHaveLength(0);
  });
});

describe('a parameter that the model does not accept', () => {
  it('stops the start', async () => {
    const env = { LLM_TEMPERATURE: '0.5', LLM_SEED: '7' };
    await expect(startJackdaw({ llm, env })).rejects.toMatchObject({
      code: 'AGENT_INVALID',
      message: expect.stringMatching(/gpt-5\.6-luna of openai takes no temperature.*LLM_UNSUPPORTED_PARAMETERS=drop/),
    });
  });
});

describe('createAgent', () => {
  it('accepts default options of its chats, and the capabilities of its model', async () => {
    const agent = await createAgent({
      config: { ...llm.env, DATA_DIR: newFolder(), LLM_MODEL: 'gpt-4o' },
      builtinTools: true,
      model: { parameters: { temperature: 0.1 }, capabilities: { functionCalling: false } },
    });
    llm.reply({ text: 'Final Answer: ok' }).reply({ text: 'ok' });
    await agent.chat('x', { parameters: { seed: 3 } });
    expect(llm.lastRequest).toMatchObject({ model: 'gpt-4o', temperature: 0.1, seed: 3 });
    expect(llm.lastRequest.tools).toBeUndefined();
    expect(JSON.stringify(llm.lastRequest)).toContain('Action Input');
    await agent.chat('x', { model: 'gpt-4.1', toolChoice: 'none' });
    expect(llm.lastRequest).toMatchObject({ model: 'gpt-4.1' });
    await agent.close();
  });
});
