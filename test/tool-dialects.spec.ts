import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ToolRegistry } from '../src/tool/index.js';
import { Tool } from '../src/tool/method/index.js';
import type { FakeRequest } from './support/fake-llm.types.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { nestedSchema } from './support/nested-schema.js';

const READ = { effect: 'read' as const };
const KIMI = 'openai-compatible:kimi-k2.6';
const OTHER = 'openai:gpt-4o';
/** The name of `3d_view` in requests to Moonshot. */
const RENAMED = /^t_3d_view_[0-9a-f]{10}$/;

class Tools {
  calls = 0;

  @Tool({ name: '3d_view', description: 'Shows a view.', ...READ })
  view(): string {
    this.calls++;
    return 'a view';
  }

  @Tool({ description: 'Takes a deep value.', ...READ, input: nestedSchema(11) })
  deep(): string {
    return 'deep';
  }
}

const tools = new Tools();
let llm: FakeLlm;
let jackdaw: Jackdaw;

beforeAll(async () => {
  const model = { provider: 'openai-compatible' };
  const strict = (request: FakeRequest) => (request.model.startsWith('kimi') ? 'moonshot' : 'openai');
  llm = await FakeLlm.start({ strict });
  jackdaw = await startJackdaw({
    tools: [tools],
    options: {
      agents: [
        { name: 'few', model, tools: ['3d_view', 'deep'] },
        { name: 'crowd', model, tools: ['many_*'], limits: { maxTools: 1_000 } },
      ],
    },
    env: {
      ...llm.envOf('openai-compatible'),
      LLM_MODEL: 'kimi-k2.6',
      OPENAI_API_KEY: 'k',
      OPENAI_BASE_URL: llm.url,
      LOG_LEVEL: 'warn',
    },
  });
  const registry = jackdaw.app.get(ToolRegistry);
  for (let n = 0; n < 129; n++) {
    registry.register({ name: `many_${n}`, description: 'Does it.', ...READ, handler: () => 'done' });
  }
});
afterEach(() => {
  llm.reset();
  tools.calls = 0;
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

function namesIn(request: FakeRequest | undefined): (string | undefined)[] {
  return (request?.tools ?? []).map((tool) => tool.function.name);
}

function calledIn(request: FakeRequest | undefined): unknown[] {
  return (request?.messages ?? []).flatMap(({ tool_calls: calls = [] }) => calls.map((call) => call.function.name));
}

/** The model calls the tool by the name that the request gives it. */
function callFirst({ tools: [first] = [] }: FakeRequest) {
  return { calls: [{ id: 'call_0', name: first?.function.name ?? '' }] };
}

describe.each(['streamed', 'whole'])('a tool name that the provider rejects, in a %s reply', (form) => {
  const ask = async (body: object): Promise<void> => {
    if (form === 'whole') expect((await jackdaw.chat(body)).status).toBe(200);
    else await (await jackdaw.stream(body)).all();
  };

  it('is renamed in requests, and calls, events and the session have its own', async () => {
    const sessionId = `own-name-${form}`;
    llm.reply(callFirst).reply({ text: 'seen' }).reply({ text: 'again' }).reply({ text: 'other' });
    await ask({ query: 'look', agent: 'few', sessionId });
    expect(tools.calls).toBe(1);
    await ask({ query: 'and now?', agent: 'few', sessionId });
    await ask({ query: 'and you?', agent: 'few', sessionId, model: OTHER });
    expect(llm.broken).toEqual([]);

    const [first, second, third, fourth] = llm.requests;
    expect(namesIn(first)).toEqual([expect.stringMatching(RENAMED)]);
    for (const later of [second, third]) {
      expect(namesIn(later)).toEqual(namesIn(first));
      expect(calledIn(later)).toEqual(namesIn(first));
    }
    expect(namesIn(fourth)).toEqual(['3d_view', 'deep']);
    expect(calledIn(fourth)).toEqual(['3d_view']);
    const { body } = await jackdaw.get(`/api/runs?sessionId=${sessionId}`);
    const runs = body['runs'] as unknown as { run_id: string }[];
    const events = await jackdaw.events(runs.at(-1)!.run_id);
    expect(events.find(({ event }) => event === 'tool.started')?.data).toMatchObject({ tool: '3d_view' });
  });
});

describe('a forced call of a renamed tool', () => {
  it('names the tool as the request does', async () => {
    llm.reply(callFirst).reply({ text: 'seen' });
    const body = {
      query: 'look',
      agent: 'few',
      model: 'openai-compatible:kimi-k2-0905',
      toolChoice: { name: '3d_view' },
    };
    expect((await jackdaw.chat(body)).status).toBe(200);
    expect(llm.requests[0]?.['tool_choice']).toEqual({
      type: 'function',
      function: { name: namesIn(llm.requests[0])[0] },
    });
    expect(tools.calls).toBe(1);
  });
});

describe('a tool that the format of the provider cannot express', () => {
  it('is omitted with one warning, and shown in the list of tools and in health', async () => {
    llm.always({ text: 'ok' });
    for (const query of ['one', 'two']) expect((await jackdaw.chat({ query, agent: 'few' })).status).toBe(200);
    expect(llm.broken).toEqual([]);
    const warnings = jackdaw.log.filter(({ msg }) => String(msg).includes('omit the tool "deep"'));
    expect(warnings.filter(({ msg }) => String(msg).includes('model kimi-k2.6 '))).toHaveLength(1);
    const reason = 'its schema is nested more than 10 levels deep';
    const { body: tool } = await jackdaw.get('/api/tools/deep');
    expect(tool['omitted']).toContainEqual({ model: KIMI, reason });
    expect((await jackdaw.get('/api/tools/3d_view')).body).not.toHaveProperty('omitted');
    const { body: health } = await jackdaw.get('/api/agent/health');
    expect(health['info']).toMatchObject({ model: { omitted_tools: { [KIMI]: 1 } } });
    expect((await jackdaw.chat({ query: 'x', agent: 'few', model: OTHER })).status).toBe(200);
    expect(namesIn(llm.requests.at(-1))).toEqual(['3d_view', 'deep']);
  });
});

describe('an agent with more tools than the provider accepts', () => {
  it('fails before the request, with the limit, the number, the agent and the remedy', async () => {
    const { status, body } = await jackdaw.chat({ query: 'x', agent: 'crowd', model: KIMI });
    expect([status, body]).toMatchObject([
      422,
      { code: 'MODEL_TOO_MANY_TOOLS', limit: 128, tools: 129, agent: 'crowd' },
    ]);
    expect(body['detail']).toMatch(/"crowd".*129 tools.*at most 128.*"tools"/s);
    expect(llm.requests).toEqual([]);
  });

  it('runs with as many as the limit', async () => {
    jackdaw.app.get(ToolRegistry).unregister('many_0');
    llm.reply({ text: 'ok' });
    expect((await jackdaw.chat({ query: 'x', agent: 'crowd' })).status).toBe(200);
    expect(llm.requests[0]?.tools).toHaveLength(128);
  });
});
