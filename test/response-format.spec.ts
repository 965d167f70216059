import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { rmSync } from 'node:fs';
import { z } from 'zod';
import { createAgent } from '../src/index.js';
import { FakeLlm } from './support/fake-llm.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { TestTools } from './support/test.tool.js';

const SCHEMA = {
  type: 'object',
  properties: { cityName: { type: 'string' }, people: { type: 'integer', minimum: 0 } },
  required: ['cityName', 'people'],
  additionalProperties: false,
};
const FORMAT = { schema: SCHEMA, name: 'city' };
const GOOD = { cityName: 'Bern', people: 134_000 };
const BAD = { cityName: 'Bern', people: 'many' };
const WRONG = '"output.people" must be integer, got string';

let llm: FakeLlm;
beforeAll(async () => void (llm = await FakeLlm.start()));
afterEach(() => llm.reset());
afterAll(() => llm.close());

/** The format fields of a request, apart from the instructions in its prompt. */
const NATIVE: Readonly<Record<string, { model: string; json: unknown; schema: unknown; isInPrompt: boolean }>> = {
  openai: {
    model: 'gpt-4o',
    json: { response_format: { type: 'json_object' } },
    schema: { response_format: { type: 'json_schema', json_schema: { name: 'city', strict: true } } },
    isInPrompt: false,
  },
  anthropic: {
    model: 'claude-sonnet-4-5',
    json: {},
    schema: { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
    isInPrompt: false,
  },
  deepseek: {
    model: 'deepseek-chat',
    json: { response_format: { type: 'json_object' } },
    schema: { response_format: { type: 'json_object' } },
    isInPrompt: true,
  },
  glm: {
    model: 'glm-4.7',
    json: { response_format: { type: 'json_object' } },
    schema: { response_format: { type: 'json_object' } },
    isInPrompt: true,
  },
  ollama: {
    model: 'qwen3',
    json: { response_format: { type: 'json_object' } },
    schema: { response_format: { type: 'json_schema', json_schema: { name: 'city', schema: SCHEMA } } },
    isInPrompt: true,
  },
};

describe.each(Object.entries(NATIVE))(
  'a structured answer over %s',
  (provider, { model, json, schema, isInPrompt }) => {
    let jackdaw: Jackdaw;
    beforeAll(async () => {
      const agents = [{ name: 'default', model: { provider, name: model }, tools: [] }];
      jackdaw = await startJackdaw({ env: { ...llm.envOf(provider), LLM_MODEL: model }, options: { agents } });
    });
    afterAll(() => jackdaw.stop());

    it('returns JSON as text and as output', async () => {
      llm.reply({ text: '```json\n{"a": [1]}\n```' });
      const { body } = await jackdaw.chat({ query: 'x', responseFormat: 'json' });
      expect(body).toMatchObject({ output: { a: [1] }, result: '```json\n{"a": [1]}\n```', is_complete: true });
      expect(llm.lastRequest).toMatchObject(json as object);
      expect(JSON.stringify(llm.lastRequest)).toContain('must be one JSON object');
    });

    it('has a wrong answer corrected by the model, which receives the errors', async () => {
      llm.reply({ text: JSON.stringify(BAD) }, { text: JSON.stringify(GOOD) });
      const { body } = await jackdaw.chat({ query: 'x', responseFormat: FORMAT });
      expect(body).toMatchObject({ output: GOOD, result: JSON.stringify(GOOD), iterations: 2 });
      const [first, second] = llm.requests;
      expect(first).toMatchObject(schema as object);
      expect(JSON.stringify(first).includes('must be JSON that fits')).toBe(isInPrompt);
      const [said, shown] = second!.messages.slice(-2);
      expect(JSON.stringify(said)).toContain('many');
      expect(JSON.stringify(shown)).toContain(JSON.stringify(WRONG).slice(1, -1));
    });

    it('fails a run whose answer stays wrong, with the error and its position', async () => {
      llm.always({ text: JSON.stringify(BAD) });
      const { status, body } = await jackdaw.chat({ query: 'x', responseFormat: FORMAT });
      expect([status, body]).toMatchObject([
        502,
        { code: 'OUTPUT_INVALID', detail: expect.stringContaining(WRONG), problem: WRONG, repairs: 2 },
      ]);
      expect(llm.requests).toHaveLength(3);
    });
  },
);

describe('a structured answer of a run', () => {
  let jackdaw: Jackdaw;
  const open = z.object({ cityName: z.string(), people: z.number().int() });
  beforeAll(async () => {
    const model = { provider: 'openai', name: 'gpt-4o' };
    const agents = [
      { name: 'default', model },
      { name: 'city', model, responseFormat: FORMAT },
      ...[1, 2, 10].map((maxIterations) => ({
        name: `city${maxIterations}`,
        model,
        responseFormat: FORMAT,
        limits: { maxIterations },
      })),
      { name: 'zod', model, responseFormat: open },
      { name: 'react', model, protocol: 'react', responseFormat: { schema: open } },
      { name: 'xml', model, protocol: 'xml', responseFormat: 'json' as const },
    ];
    jackdaw = await startJackdaw({ llm, tools: [new TestTools()], options: { agents } });
  });
  afterAll(() => jackdaw.stop());
  const double = { calls: [{ id: 'c', name: 'double', arguments: { n: 2 } }] };

  it('may follow tool calls, and later readers of the run receive the output too', async () => {
    llm.reply(double, { text: JSON.stringify(GOOD) });
    const { body } = await jackdaw.chat({ query: 'x', agent: 'city', sessionId: 'tools' });
    expect(body).toMatchObject({ output: GOOD, iterations: 2 });
    const runId = String(body['run_id']);
    expect((await jackdaw.get(`/api/runs/${runId}`)).body).toMatchObject({ output: GOOD });
    const events = await (await jackdaw.follow(runId)).all();
    expect(events.at(-1)?.data).toMatchObject({ type: 'run.completed', output: GOOD });
  });

  it.each([
    [1, 1],
    [2, 2],
    [10, 3],
  ])('is corrected within a limit of %i model calls', async (maxIterations, calls) => {
    llm.always({ text: JSON.stringify(BAD) });
    const { status, body } = await jackdaw.chat({ query: 'x', agent: `city${maxIterations}` });
    expect([status, body]).toMatchObject([502, { code: 'OUTPUT_INVALID', repairs: calls - 1, iterations: calls }]);
    expect(llm.requests).toHaveLength(calls);
    const isAtLimit = String(body['detail']).includes(`its limit of ${maxIterations} model calls`);
    expect(isAtLimit).toBe(maxIterations < 3);
  });

  it('costs a model call for each correction, which is not available for tools', async () => {
    llm.reply({ text: JSON.stringify(BAD) }).always(double);
    const { body } = await jackdaw.chat({ query: 'x', agent: 'city2' });
    expect(body).toMatchObject({ finish_reason: 'iteration_limit', is_complete: false, iterations: 2 });
    expect(llm.requests).toHaveLength(2);
  });

  it('takes the format of the request before that of the agent, and a fork retains the format of its run', async () => {
    llm.reply({ text: '{"any": null}' }, { text: '{"other": 1}' });
    const { body } = await jackdaw.chat({ query: 'x', agent: 'city', responseFormat: 'json' });
    expect(body['output']).toEqual({ any: null });
    const fork = await jackdaw.post(`/api/runs/${String(body['run_id'])}/fork`, { fromStep: 'model:1' });
    const events = await (await jackdaw.follow(String(fork.body['run_id']))).all();
    expect(events.at(-1)?.data).toMatchObject({ type: 'run.completed', output: { other: 1 } });
  });

  it('accepts a zod schema, sent and checked as a closed JSON Schema', async () => {
    llm.reply({ text: '{"cityName": "Bern", "people": 1, "more": 2}' }, { text: JSON.stringify(GOOD) });
    const { body } = await jackdaw.chat({ query: 'x', agent: 'zod' });
    expect(body['output']).toEqual(GOOD);
    expect(llm.requests[0]).toMatchObject({
      response_format: { json_schema: { name: 'answer', schema: { additionalProperties: false } } },
    });
    expect(JSON.stringify(llm.lastRequest.messages)).toContain('output.more');
  });

  it.each([
    ['react', `Thought: I know\nFinal Answer: ${JSON.stringify(BAD)}`, `Final Answer: ${JSON.stringify(GOOD)}`],
    ['xml', 'Hello!', JSON.stringify(GOOD)],
  ])('is requested in the prompt in %s, and corrected', async (agent, bad, good) => {
    llm.reply({ text: bad }, { text: good });
    const { body } = await jackdaw.chat({ query: 'x', agent, sessionId: agent });
    expect(body).toMatchObject({ output: GOOD, result: JSON.stringify(GOOD) });
    const [first, second] = llm.requests;
    expect(first!['response_format']).toBeUndefined();
    expect(String(first!.messages[0]!.content)).toContain('Your final answer must be');
    expect(String(second!.messages.at(-1)!.content)).toContain('This answer cannot be used');
    expect(await jackdaw.messages(agent)).toMatchObject([
      { role: 'user', content: 'x' },
      { role: 'assistant', content: JSON.stringify(GOOD) },
    ]);
  });

  it.each(['react', 'xml'])('arrives in %s exactly as written', async (agent) => {
    const value = { html: '<b>&amp;</b>', text: 'one\nAction: two' };
    const text = JSON.stringify(value, null, 2);
    llm.reply({ text: agent === 'react' ? `Thought: now\nFinal Answer:\n${text}` : text });
    const { body } = await jackdaw.chat({ query: 'x', agent, responseFormat: 'json' });
    expect(body['output']).toEqual(value);
  });

  it.each(['react', 'xml'])('may be bare JSON in %s, as without tools', async (agent) => {
    const value = { action: 'double', action_input: { n: 2 }, name: 'double', arguments: {} };
    for (const toolChoice of ['auto', 'none']) {
      llm.reply({ text: JSON.stringify(value) });
      const { body } = await jackdaw.chat({ query: 'x', agent, responseFormat: 'json', toolChoice });
      expect(body['output']).toEqual(value);
    }
  });

  it('is streamed as it arrives, and restarts when it is corrected', async () => {
    llm.reply({ text: 'Well, I think' }, { text: JSON.stringify(GOOD) });
    const stream = await jackdaw.stream({ query: 'x', agent: 'city' });
    const shown = (await stream.all()).map(({ data }) => data);
    const restart = shown.findIndex(({ type }) => type === 'step.restarted');
    expect(shown.slice(0, restart).some(({ type }) => type === 'message.delta')).toBe(true);
    expect(
      shown
        .slice(restart)
        .flatMap((data) => (data.type === 'message.delta' ? [data.text] : []))
        .join(''),
    ).toBe(JSON.stringify(GOOD));
    expect(shown.at(-1)).toMatchObject({ type: 'run.completed', output: GOOD });
    expect(shown.filter(({ type }) => type === 'message.completed')).toHaveLength(1);
  });

  it('has no output if it was cut off', async () => {
    llm.reply({ text: '{"cityName": "B', finishReason: 'length' });
    const { body } = await jackdaw.chat({ query: 'x', agent: 'city' });
    expect(body).toMatchObject({ is_complete: false, finish_reason: 'length' });
    expect(body).not.toHaveProperty('output');
  });

  it.each([
    ['xml', 'responseFormat', 'must be "json" or {"schema"'],
    [{}, 'responseFormat.schema', 'its schema must be a JSON Schema'],
    [{ schema: SCHEMA, strict: true }, 'responseFormat', 'it has strict; it may have schema and name'],
    [{ schema: SCHEMA, name: 'a b' }, 'responseFormat.name', 'its name must be'],
    [{ schema: { type: 'objekt' } }, 'responseFormat.schema', 'not a JSON Schema that can be used'],
    [
      { schema: { $ref: 'https://example.com/schema.json' } },
      'responseFormat.schema',
      "can't resolve reference https://example.com/schema.json",
    ],
    [{ schema: { description: 'x'.repeat(70_000) } }, 'responseFormat.schema', 'may have 65536'],
    [{ schema: nested(70) }, 'responseFormat.schema', 'more than 64 levels deep'],
    [null, 'responseFormat', 'must be "json" or {"schema"'],
  ])('refuses an invalid format with 400 before anything is journaled: %j', async (responseFormat, field, message) => {
    const before = await jackdaw.get('/api/runs');
    const { status, body } = await jackdaw.chat({ query: 'x', responseFormat });
    expect([status, body]).toMatchObject([
      400,
      { code: 'VALIDATION_FAILED', errors: [{ field, message: expect.stringContaining(message) }] },
    ]);
    expect((await jackdaw.get('/api/runs')).body).toEqual(before.body);
  });

  it('fails the run instead of an endless check', async () => {
    llm.always({ text: JSON.stringify({ a: `${'a'.repeat(40)}!` }) });
    const schema = { type: 'object', properties: { a: { pattern: '^(?=a)(a+)+$' } } };
    const { status, body } = await jackdaw.chat({ query: 'x', responseFormat: { schema } });
    expect([status, body]).toMatchObject([
      502,
      { code: 'OUTPUT_INVALID', problem: expect.stringContaining('2000 ms') },
    ]);
    const run = await jackdaw.get(`/api/runs/${String(body['run_id'])}`);
    expect(run.body).toMatchObject({ status: 'failed', error: { is_retryable: false, details: { repairs: 0 } } });
    expect(llm.requests).toHaveLength(1);
  });
});

function nested(levels: number): object {
  return levels === 0 ? {} : { not: nested(levels - 1) };
}

it('accepts a Standard Schema from a script, for the agent or for a question, and returns its value', async () => {
  const folder = newFolder();
  const env = { ...llm.env, DATA_DIR: folder };
  const agent = await createAgent({ config: env, responseFormat: z.object({ n: z.number() }) });
  try {
    llm.reply({ text: '{"n": 1}' }, { text: '{"yes": true}' });
    expect((await agent.chat('x')).output).toEqual({ n: 1 });
    const responseFormat = { schema: z.object({ yes: z.boolean() }) };
    expect((await agent.chat('x', { responseFormat })).output).toEqual({ yes: true });
  } finally {
    await agent.close();
    rmSync(folder, { recursive: true });
  }
});

it('refuses an agent with an invalid format at the start', async () => {
  const agents = [{ name: 'a', model: { provider: 'openai' }, responseFormat: { schema: { type: 'objekt' } } }];
  await expect(startJackdaw({ llm, options: { agents } })).rejects.toMatchObject({
    code: 'AGENT_INVALID',
    message: expect.stringContaining('responseFormat'),
  });
});
