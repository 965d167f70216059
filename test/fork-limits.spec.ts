import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AgentDefinitionInput } from '../src/index.js';
import { FakeLlm } from './support/fake-llm.js';
import { Forks } from './support/forks.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

const LIMITS = { maxIterations: 4, runTimeoutMs: 60_000, maxResultBytes: 1000, maxDepth: 1 };
const AGENTS: AgentDefinitionInput[] = [
  {
    name: 'default',
    model: {
      provider: 'openai',
      name: 'gpt-4o',
      parameters: { maxTokens: 100, temperature: 0 },
      fallback: [],
      maxAttempts: 1,
    },
    memory: { maxMessages: 8, maxContextTokens: 800 },
    limits: LIMITS,
  },
  { name: 'large', model: { provider: 'openai', name: 'gpt-4o' }, limits: { maxIterations: 20 } },
];

let llm: FakeLlm;
let jackdaw: Jackdaw;
let forks: Forks;
let runId: string;
beforeAll(async () => {
  llm = await FakeLlm.start();
  jackdaw = await startJackdaw({
    llm,
    env: { LLM_REQUEST_MODELS: 'openai:gpt-4o-*', RUN_QUEUE_LIMIT: '1000', LLM_MAX_ATTEMPTS: '3' },
    options: { agents: AGENTS },
  });
  forks = new Forks(jackdaw);
});
beforeEach(async () => {
  llm.reset();
  llm.always({ text: 'the end' });
  runId = String((await jackdaw.chat({ query: 'go', sessionId: 'source' })).body['run_id']);
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

const post = (edit: object, from = runId) => forks.post(from, { fromStep: 'model:1', edit });

describe('a fork', () => {
  it.each<[string, object, object]>([
    [
      'agent.limits.maxIterations',
      { agent: { limits: { maxIterations: 5 } } },
      { agent: { limits: { maxIterations: 4 } } },
    ],
    [
      'agent.limits.runTimeoutMs',
      { agent: { limits: { runTimeoutMs: 60_001 } } },
      { agent: { limits: { runTimeoutMs: 1000 } } },
    ],
    [
      'agent.limits.maxResultBytes',
      { agent: { limits: { maxResultBytes: 1001 } } },
      { agent: { limits: { maxResultBytes: 64 } } },
    ],
    ['agent.limits.maxDepth', { agent: { limits: { maxDepth: 2 } } }, { agent: { limits: { maxDepth: 0 } } }],
    ['agent.memory.maxMessages', { agent: { memory: { maxMessages: 9 } } }, { agent: { memory: { maxMessages: 8 } } }],
    [
      'agent.memory.maxContextTokens',
      { agent: { memory: { maxContextTokens: 801 } } },
      { agent: { memory: { maxContextTokens: 1 } } },
    ],
    [
      'model.parameters.maxTokens',
      { model: { parameters: { maxTokens: 101 } } },
      { model: { parameters: { maxTokens: 100 } } },
    ],
  ])('cannot exceed %s of its agent', async (field, above, within) => {
    const { status, body } = await post(above);
    expect([status, body['code']]).toEqual([400, 'VALIDATION_FAILED']);
    expect(body['errors']).toMatchObject([
      { field: `edit.${field}`, message: expect.stringMatching(/at most.*"default"/) },
    ]);
    expect((await post(within)).status).toBe(202);
  });

  it('of a run with smaller limits can raise them to those of the registered agent', async () => {
    const small = await forks.make(runId, 'model:1', { agent: { limits: { maxIterations: 1 } } });
    expect((await post({ agent: { limits: { maxIterations: 4 } } }, small.id)).status).toBe(202);
    expect((await post({ agent: { limits: { maxIterations: 5 } } }, small.id)).status).toBe(400);
  });

  it('of another agent has that agent’s limits', async () => {
    const { id } = await forks.make(runId, 'model:1', { agent: 'large' });
    expect((await forks.journal(id))['definition']).toMatchObject({ limits: { maxIterations: 20 } });
    expect((await post({ agent: { limits: { maxIterations: 20 } } }, id)).status).toBe(202);
    expect((await post({ agent: { limits: { maxIterations: 21 } } }, id)).status).toBe(400);
  });

  it('with another model has the agent’s longest reply, attempts and fallback models', async () => {
    const { id } = await forks.make(runId, 'model:1', {
      model: { name: 'gpt-4o-mini', parameters: { temperature: 1 } },
    });
    expect((await forks.journal(id))['definition']).toMatchObject({
      model: { name: 'gpt-4o-mini', parameters: { maxTokens: 100, temperature: 1 }, fallback: [], maxAttempts: 1 },
    });
    expect(JSON.stringify(llm.lastRequest)).toMatch(/max\w*_tokens":100\b/);
  });

  it('cannot use a model that a request may not name', async () => {
    const { status, body } = await post({ model: { name: 'gpt-4.1' } });
    expect([status, body['code']]).toEqual([403, 'MODEL_NOT_ALLOWED']);
  });
});
