import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ForkWorld } from './support/forks.js';

const world = ForkWorld.prepare();

describe('an edited fork', () => {
  let runId: string;
  beforeEach(async () => {
    ({ runId } = await world.talk());
  });

  it('runs with another user message', async () => {
    const fork = await world.forks.make(runId, 'model:1', { message: 'go slowly' });
    expect(world.llm.requests).toHaveLength(3);
    expect(world.llm.requests[0]!.messages.at(-1)).toMatchObject({ role: 'user', content: 'go slowly' });
    const messages = await world.jackdaw.messages(fork.sessionId);
    expect(messages.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual(['hi', 'go slowly']);
  });

  it('uses another model and other parameters from its step on', async () => {
    const edit = { model: { name: 'third-model', parameters: { temperature: 0.5 } } };
    const fork = await world.forks.make(runId, 'tool:2:1', edit);
    expect(world.llm.requests.map(({ model, temperature }) => [model, temperature])).toEqual([['third-model', 0.5]]);
    const { steps, status, definition } = await world.forks.journal(fork.id);
    expect(status).toBe('completed');
    expect(definition).toMatchObject({ name: 'default', model: { provider: 'openai', ...edit.model } });
    expect(steps.filter(({ kind }) => kind === 'model').map(({ subject }) => subject)).toEqual([
      'third-model',
      'third-model',
      'third-model',
    ]);
    const before = await world.forks.journal(runId);
    expect(steps.slice(0, 5).map(({ result }) => result)).toEqual(before.steps.slice(0, 5).map(({ result }) => result));
    expect(before.steps[1]!.subject).toBe('first-model');
  });

  it.each([
    [{ value: [1, null], aB_c: {} }, '{"value":[1,null],"aB_c":{}}'],
    ['a text', 'a text'],
    [null, 'null'],
    [false, 'false'],
  ])('resumes after a given tool result: %j', async (toolResult, shown) => {
    const fork = await world.forks.make(runId, 'tool:1:1', { toolResult });
    expect(world.tools.called).toEqual([
      ['shout', 'x'],
      ['double', { n: 5 }],
    ]);
    expect(world.llm.requests).toHaveLength(2);
    const result = world.llm.requests[0]!.messages.find(({ tool_call_id }) => tool_call_id === 'a');
    expect(result).toMatchObject({ role: 'tool', content: shown });
    const { steps, events } = await world.forks.journal(fork.id);
    const recorded = { tool: 'double', success: true, result: toolResult, execution_time_ms: 0 };
    expect(steps.find(({ name }) => name === 'tool:1:1')).toMatchObject({ subject: 'double', result: recorded });
    const published = events.filter(({ data }) => data['call_id'] === 'a').map(({ data }) => data);
    expect(published).toEqual([
      { type: 'tool.started', iteration: 1, call_id: 'a', tool: 'double', arguments: '{"n":1}' },
      { type: 'tool.completed', iteration: 1, call_id: 'a', ...recorded },
    ]);
  });

  it('cuts a given result to the limit of a real result', async () => {
    await world.forks.make(runId, 'tool:2:1', { toolResult: 'x'.repeat(200_000) });
    expect(String(world.llm.lastRequest.messages.at(-1)!.content).length).toBeLessThan(70_000);
  });

  it('runs another agent', async () => {
    const fork = await world.forks.make(runId, 'tool:1:2', { agent: 'brief' });
    expect(world.llm.requests.map(({ model }) => model)).toEqual(['second-model', 'second-model']);
    expect(world.llm.lastRequest.messages[0]).toMatchObject({
      role: 'system',
      content: expect.stringContaining('Be brief.'),
    });
    expect((await world.jackdaw.get(`/api/runs/${fork.id}`)).body).toMatchObject({
      agent: 'brief',
      status: 'completed',
    });
  });

  it('reads recorded replies in their protocol although the other agent uses another one', async () => {
    const fork = await world.forks.make(runId, 'tool:2:1', { agent: 'texter' });
    expect(await world.forks.outcome(fork.id)).toEqual({ ...(await world.forks.outcome(runId)), agent: 'texter' });
    const anew = await world.forks.make(runId, 'model:1', { agent: 'texter' });
    expect((await world.forks.journal(anew.id))['definition']).toMatchObject({ protocol: 'react' });
  });

  it('selects history by the memory rules of its agent', async () => {
    const fork = await world.forks.make(runId, 'model:2', {
      agent: { memory: { maxContextTokens: 1, maxMessages: 3 } },
    });
    const [event] = fork.events.slice(-1);
    expect(event!.data).toMatchObject({ memory_state: { max_context_tokens: 1 } });
    const same = await world.forks.make(runId, 'model:2', { agent: { instructions: 'Be loud.' } });
    expect(same.events.at(-1)!.data).toMatchObject({ memory_state: { max_context_tokens: 8000 } });
  });

  it('has other instructions, tools, memory and limits', async () => {
    const agent = {
      instructions: 'Be loud.',
      tools: ['sh*'],
      memory: { enabled: false },
      limits: { maxIterations: 2 },
    };
    const fork = await world.forks.make(runId, 'model:2', { agent });
    expect(world.llm.requests).toHaveLength(1);
    expect(world.llm.lastRequest.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'tool',
    ]);
    expect(world.llm.lastRequest.messages[0]).toMatchObject({ content: expect.stringContaining('Be loud.') });
    expect(world.llm.lastRequest.tools?.map(({ function: { name } }) => name)).toEqual(['shout']);
    expect((await world.forks.journal(fork.id))['definition']).toMatchObject({
      name: 'default',
      tools: ['shout'],
      limits: { maxIterations: 2, maxResultBytes: 65_536 },
    });
  });

  it('resumes a run that reached its iteration limit', async () => {
    const limited = await world.forks.make(runId, 'tool:1:1', { agent: { limits: { maxIterations: 1 } } });
    expect(limited.events.at(-1)!.data['finish_reason']).toBe('iteration_limit');
    world.reset();
    const edit = { agent: { limits: { maxIterations: 10 } } };
    const fork = await world.forks.make(limited.id, 'tool:1:1', edit);
    expect(world.llm.requests).toHaveLength(2);
    expect((await world.jackdaw.get(`/api/runs/${fork.id}`)).body).toMatchObject({
      result: 'the end',
      finish_reason: 'stop',
    });
  });
});

describe('an invalid fork', () => {
  let runId: string;
  beforeAll(async () => {
    ({ runId } = await world.talk());
  });

  it.each([
    ['an unknown step', { fromStep: 'tool:1:3' }, 'fromStep', /model:1, tool:1:1, tool:1:2, model:2/],
    ['a step after the end of the run', { fromStep: 'model:4' }, 'fromStep', /model:3/],
    ['a missing step', {}, 'fromStep', /fromStep/],
    [
      'a message for a step after the first',
      { fromStep: 'model:2', edit: { message: 'x' } },
      'edit.message',
      /model:1/,
    ],
    ['a blank message', { fromStep: 'model:1', edit: { message: ' ' } }, 'edit.message', /blank/],
    ['a tool result for a model step', { fromStep: 'model:2', edit: { toolResult: 1 } }, 'edit.toolResult', /tool:1:1/],
    [
      'an unknown provider',
      { fromStep: 'model:1', edit: { model: { provider: 'unknown' } } },
      'edit.model.provider',
      /unknown/,
    ],
    [
      'a provider without a key',
      { fromStep: 'model:1', edit: { model: { provider: 'glm' } } },
      'edit.model.provider',
      /GLM_API_KEY|glm/,
    ],
    [
      'a model name with a NUL',
      { fromStep: 'model:1', edit: { model: { name: 'a\u0000b' } } },
      'edit.model.name',
      /control/,
    ],
    [
      'invalid parameters',
      { fromStep: 'model:1', edit: { model: { parameters: { temperature: 9 } } } },
      'edit.model.parameters.temperature',
      /temperature/,
    ],
    [
      'an unknown tool',
      { fromStep: 'model:1', edit: { agent: { tools: ['doubel'] } } },
      'edit.agent.tools.0',
      /double/,
    ],
    [
      'tools that its agent does not have',
      { fromStep: 'model:1', edit: { agent: { tools: '*' } } },
      'edit.agent.tools',
      /forecast/,
    ],
    ['a different agent name', { fromStep: 'model:1', edit: { agent: { name: 'x' } } }, 'edit.agent', /name/],
    [
      'limits out of range',
      { fromStep: 'model:1', edit: { agent: { limits: { maxIterations: 0 } } } },
      'edit.agent.limits.maxIterations',
      /maxIterations/,
    ],
    [
      'limits that are a number',
      { fromStep: 'model:1', edit: { agent: { limits: 3 } } },
      'edit.agent.limits',
      /limits/,
    ],
    ['an agent that is a number', { fromStep: 'model:1', edit: { agent: 7 } }, 'edit.agent', /agent/],
    ['an unknown edit', { fromStep: 'model:1', edit: { mesage: 'x' } }, 'edit.mesage', /mesage/],
    ['an invalid session id', { fromStep: 'model:1', sessionId: 'a b' }, 'sessionId', /sessionId/],
  ])('is refused with its reason: %s', async (_case, body, field, reason) => {
    const answer = await world.forks.post(runId, body);
    expect([answer.status, answer.body['code']]).toEqual([400, 'VALIDATION_FAILED']);
    const errors = answer.body['errors'] as unknown as { field: string; message: string }[];
    expect(errors.map((error) => error.field)).toContain(field);
    expect(answer.body['detail']).toMatch(reason);
    expect(world.llm.requests).toHaveLength(0);
  });

  it('is refused if the run or the agent does not exist', async () => {
    expect((await world.forks.post('unknown', { fromStep: 'model:1' })).body).toMatchObject({
      status: 404,
      code: 'RUN_NOT_FOUND',
    });
    const answer = await world.forks.post(runId, { fromStep: 'model:1', edit: { agent: 'unknown' } });
    expect(answer.body).toMatchObject({ status: 404, code: 'AGENT_NOT_FOUND' });
  });

  it('leaves no run behind', async () => {
    const { body } = await world.jackdaw.get('/api/runs?limit=200');
    const runs = body['runs'] as unknown as { forked_from: string | null }[];
    expect(runs.filter(({ forked_from }) => forked_from === runId)).toEqual([]);
  });
});
