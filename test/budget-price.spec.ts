import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { AppOptions } from '../src/app.module.js';
import { messageOf } from '../src/errors/index.js';
import type { EnvRecord } from '../src/config/index.js';
import { AgentFolder, untilAnswered } from './support/agent-folder.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { says, ScriptedChatModel } from './support/scripted-chat-model.js';

const ENV = {
  LLM_MODEL: 'gpt-4o',
  LLM_PRICES: '{"gpt-4o": {"input": 1, "output": 2}, "openai:local": {"input": 0, "output": 0}}',
};
const COSTED = { ...ENV, BUDGET_DAY: 'cost=5' };
const model = (name: string) => ({ provider: 'openai', name });
const agent = (name: string, more: object = {}) => ({ name, model: model('gpt-4o'), ...more });
const llmNode = (name: string) => ({ name, nodes: [{ id: 'a', type: 'llm' as const, prompt: 'hi' }] });

describe('a budget of cost', () => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw | undefined;
  beforeAll(async () => void (llm = await FakeLlm.start()));
  afterEach(async () => {
    await jackdaw?.stop();
    jackdaw = undefined;
    llm.reset();
  });
  afterAll(() => llm.close());

  async function start(env: EnvRecord, options: AppOptions = {}): Promise<string> {
    try {
      jackdaw = await startJackdaw({ llm, env, options });
      return 'started';
    } catch (error) {
      return messageOf(error);
    }
  }

  it.each<[string, EnvRecord, AppOptions, string]>([
    ['the model of the environment', { ...COSTED, LLM_MODEL: 'gpt-free' }, {}, 'gpt-free'],
    ['the default model of the provider', { ...COSTED, LLM_MODEL: undefined }, {}, 'gpt-5.6-luna'],
    ['a fallback model', { ...COSTED, LLM_FALLBACK: 'openai:gpt-free' }, {}, 'gpt-free'],
    ['the model for embeddings', { ...COSTED, EMBEDDING_MODEL: 'embed-free' }, {}, 'embed-free'],
    ['the model of another agent', COSTED, { agents: [agent('a', { model: model('gpt-free') })] }, 'gpt-free'],
    [
      'the fallback model of another agent',
      COSTED,
      { agents: [agent('a', { model: { ...model('gpt-4o'), fallback: [model('gpt-free')] } })] },
      'gpt-free',
    ],
    [
      'the model of an agent with a budget of its own',
      ENV,
      { agents: [agent('a', { model: model('gpt-free'), budgets: { day: { cost: 1 } } })] },
      'gpt-free',
    ],
    [
      'the model of an indirect sub-agent of an agent with a run budget',
      ENV,
      {
        agents: [
          agent('boss', { subAgents: ['clerk'], budgets: { run: { cost: 1 } } }),
          agent('clerk', { handoffs: ['helper'] }),
          agent('helper', { model: model('gpt-free') }),
        ],
      },
      'gpt-free',
    ],
    [
      'the model of a node in a workflow',
      COSTED,
      { workflows: [{ name: 'w', nodes: [{ id: 'a', type: 'llm', prompt: 'hi', model: { name: 'gpt-free' } }] }] },
      'gpt-free',
    ],
    ['a model of the application', COSTED, { chatModel: new ScriptedChatModel([]) }, 'scripted-1'],
  ])('stops the start if %s has no price', async (_what, env, options, name) => {
    const message = await start(env, options);
    expect(message).toContain(`model ${name} of `);
    expect(message).toContain(`:${name}": {"input": …, "output": …} to LLM_PRICES (0 for a model that costs nothing)`);
  });

  it.each<[string, EnvRecord, AppOptions]>([
    ['that all have a price', COSTED, { agents: [agent('a')], workflows: [llmNode('w')] }],
    ['with a price of 0', { ...COSTED, LLM_MODEL: 'local' }, {}],
    ['beside the offline model', { ...COSTED, LLM_PROVIDER: 'offline', LLM_MODEL: undefined }, {}],
    ['without a cost budget', { ...ENV, BUDGET_DAY: 'tokens=5', LLM_MODEL: 'gpt-free' }, {}],
  ])('permits the start with models %s', async (_what, env, options) => {
    expect(await start(env, options)).toBe('started');
  });

  it('refuses a request and a fork with a model without a price', async () => {
    await start({ ...COSTED, LLM_REQUEST_MODELS: '*' });
    llm.always({ text: 'fine' });
    const refused = await jackdaw!.chat({ query: 'hi', model: 'gpt-free' });
    expect([refused.status, refused.body['code']]).toEqual([403, 'MODEL_NOT_ALLOWED']);
    expect(refused.body['detail']).toContain('LLM_PRICES');
    const { body } = await jackdaw!.chat({ query: 'hi', model: 'local' });
    expect(body['result']).toBe('fine');
    const edit = { fromStep: 'model:1', edit: { model: { name: 'gpt-free' } } };
    const fork = await jackdaw!.post(`/api/runs/${String(body['run_id'])}/fork`, edit);
    expect(fork.status).toBeGreaterThanOrEqual(400);
    expect(fork.status).toBeLessThan(500);
    expect(llm.requests).toHaveLength(1);
  });

  it('refuses a changed definition file with a model without a price', async () => {
    const folder = new AgentFolder();
    const poet = (name: string) =>
      folder.write('poet.xml', `<agent name="poet"><llm api-type="openai" model="${name}"/></agent>`);
    try {
      poet('gpt-4o');
      await start({ ...COSTED, AGENTS_DIR: folder.path });
      poet('gpt-free');
      await untilAnswered(jackdaw!, '/api/agent/health', ({ info }) => info?.['agent_files']?.['broken'] === 1);
      llm.always({ text: 'fine' });
      await jackdaw!.chat({ query: 'hi', agent: 'poet' });
      expect(llm.lastRequest.model).toBe('gpt-4o');
    } finally {
      folder.dispose();
    }
  });

  it("counts an application's own model by its price", async () => {
    const chatModel = new ScriptedChatModel([says('fine'), says('fine')]);
    const prices = '{"scripted:scripted-1": {"input": 100000, "output": 100000}}';
    await start({ ...COSTED, LLM_PRICES: prices, BUDGET_DAY: 'cost=5', BUDGET_REPLY_TOKENS: '10' }, { chatModel });
    expect((await jackdaw!.chat({ query: 'hi' })).body['code']).toBe('BUDGET_EXCEEDED');
    expect(chatModel.requests).toHaveLength(0);
  });
});
