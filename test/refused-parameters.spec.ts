import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeReply, FakeRequest } from './support/fake-llm.types.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { openAiBody } from './support/providers/openai.js';

let llm: FakeLlm;
let jackdaw: Jackdaw | undefined;
beforeAll(async () => void (llm = await FakeLlm.start()));
afterEach(async () => {
  await jackdaw?.stop();
  jackdaw = undefined;
  llm.reset();
});
afterAll(() => llm.close());

/** The refusal of a field, as OpenAI's API writes it. */
function refusal(param: string): FakeReply {
  const message = `Unsupported parameter: '${param}' is not supported with this model.`;
  return { status: 400, body: openAiBody({ message, param, code: 'unsupported_parameter' }) };
}

/** Refuses the first of the fields that a request has. */
function refuse(...fields: readonly string[]): void {
  llm.always((request: FakeRequest) => {
    const field = fields.find((name) => request[name] !== undefined);
    return field === undefined ? { text: 'fine' } : refusal(field);
  });
}

async function start(model: string, env: Record<string, string> = {}): Promise<Jackdaw> {
  jackdaw = await startJackdaw({
    env: { ...llm.envOf('openai-compatible'), LLM_MODEL: model, LOG_LEVEL: 'warn', ...env },
  });
  return jackdaw;
}

describe('the default temperature', () => {
  // The first application of a process receives the log of all.
  it('is omitted after a refusal; later requests omit it at once, and the log and health report it', async () => {
    refuse('temperature');
    const app = await start('llama-3.3-70b');
    for (let n = 0; n < 3; n++) expect((await app.chat({ query: 'x' })).body['result']).toBe('fine');
    expect(llm.requests.map((request) => request['temperature'])).toEqual([0.7, undefined, undefined, undefined]);
    const lines = app.log.map(({ msg }) => String(msg)).filter((line) => line.includes('temperature is omitted'));
    expect(lines).toHaveLength(1);
    const { body } = await app.get('/api/agent/health');
    expect(body['details']).toMatchObject({
      model: { adaptations: { 'openai-compatible:llama-3.3-70b': ['temperature is omitted'] } },
    });
  });

  it('goes only to models that are known to take one', async () => {
    llm.always({ text: 'fine' });
    const app = await start('house-model');
    await app.chat({ query: 'x' });
    await app.chat({ query: 'x', model: 'llama-3.3-70b' });
    expect(llm.requests.map((request) => request['temperature'])).toEqual([undefined, 0.7]);
  });
});

describe('a refused field', () => {
  it('is omitted from a stream before its first part', async () => {
    refuse('stream_options');
    const app = await start('house-model');
    const events = await (await app.stream({ query: 'x' })).all();
    expect(events.at(-1)?.data).toMatchObject({ type: 'run.completed', result: 'fine' });
    expect(llm.requests).toHaveLength(2);
    expect(llm.lastRequest).toMatchObject({ stream: true });
  });

  it('is renamed if an equivalent exists, also if it is set', async () => {
    refuse('max_tokens');
    const app = await start('house-model');
    const { body } = await app.chat({ query: 'x', parameters: { maxTokens: 9 } });
    expect(body['result']).toBe('fine');
    expect(llm.lastRequest).toMatchObject({ max_completion_tokens: 9 });
    expect(llm.lastRequest['max_tokens']).toBeUndefined();
  });

  it('fails the request if it is set and has no equivalent, with the parameter and the remedy', async () => {
    refuse('temperature');
    const app = await start('llama-3.3-70b');
    await app.chat({ query: 'x' });
    const { body } = await app.chat({ query: 'x', parameters: { temperature: 0.2 } });
    expect(body['code']).toBe('MODEL_REFUSED');
    expect(body['detail']).toMatch(/refused the parameter temperature for model llama.*LLM_QUIRKS=drop:temperature/);
    expect(llm.requests).toHaveLength(3);
  });

  it.each([
    ['LLM_QUIRKS', 'drop:seed, drop:temperature'],
    ['LLM_UNSUPPORTED_PARAMETERS', 'drop'],
  ])('is omitted although it is set with %s=%s', async (name, value) => {
    refuse('temperature', 'seed', 'random_seed');
    const app = await start('llama-3.3-70b', { [name]: value });
    const { body } = await app.chat({ query: 'x', parameters: { temperature: 0.2, seed: 7, topP: 0.5 } });
    expect(body['result']).toBe('fine');
    expect(llm.requests).toHaveLength(4);
    expect(llm.lastRequest).toMatchObject({ top_p: 0.5 });
  });

  it('of the answer format becomes an instruction', async () => {
    llm.always((request: FakeRequest) =>
      request['response_format'] === undefined
        ? { text: '{"n":1}' }
        : { status: 400, body: openAiBody({ message: 'This response_format type is unavailable now' }) },
    );
    const app = await start('house-model');
    const { body } = await app.chat({ query: 'x', responseFormat: 'json' });
    expect(body['output']).toEqual({ n: 1 });
    expect(String(llm.lastRequest.messages[0]?.content)).toContain('one JSON object');
  });

  it('causes at most four repeats, and counts as one model call', async () => {
    const parameters = { temperature: 1, topP: 1, frequencyPenalty: 1, presencePenalty: 1, seed: 1, stop: ['x'] };
    refuse('temperature', 'top_p', 'frequency_penalty', 'presence_penalty', 'stop');
    const app = await start('llama-3.3-70b', { LLM_UNSUPPORTED_PARAMETERS: 'drop' });
    expect((await app.chat({ query: 'x', parameters })).body['code']).toBe('MODEL_REFUSED');
    expect(llm.requests).toHaveLength(5);
    const { stop: _stop, ...four } = parameters;
    llm.requests.length = 0;
    const { body } = await app.chat({ query: 'x', parameters: four });
    expect(body).toMatchObject({ result: 'fine', usage: { prompt_tokens: 10 } });
    expect(llm.requests).toHaveLength(5);
  });
});

describe('a refusal that names no field of the request', () => {
  it.each([
    ['content', openAiBody({ message: "Invalid 'messages[0].content': bad.", param: 'messages[0].content' })],
    ['a field that was not sent', openAiBody({ message: "Unknown parameter: 'logprobs'.", param: 'logprobs' })],
    ['the tools', openAiBody({ message: "Unknown parameter: 'tools'.", param: 'tools', code: 'unknown_parameter' })],
  ])('is reported at once: %s', async (_what, body) => {
    llm.always({ status: 400, body });
    const app = await start('llama-3.3-70b');
    const reply = await app.chat({ query: 'x' });
    expect(reply.body['code']).toBe('MODEL_REFUSED');
    expect(reply.body['detail']).toMatch(/HTTP 400/);
    expect(llm.requests).toHaveLength(1);
  });
});
