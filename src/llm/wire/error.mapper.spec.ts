import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readStream } from '../../../test/support/fake-llm-stream.js';
import { FakeLlm } from '../../../test/support/fake-llm.js';
import type { FakeScript } from '../../../test/support/fake-llm.types.js';
import { AppError } from '../../errors/index.js';
import type { ChatModel } from '../chat/chat-model.js';
import type { ChatRequest } from '../chat/chat.types.js';
import { createModelRegistry } from '../model-registry.factory.js';

const KEY = 'sk-secret-0123456789';
const registry = createModelRegistry();
const ask: ChatRequest = { messages: [{ role: 'user', content: 'Hello' }] };
let llm: FakeLlm;

beforeAll(async () => void (llm = await FakeLlm.start()));
beforeEach(() => llm.reset());
afterAll(async () => {
  await registry.close();
  await llm.close();
});

function modelAt(baseUrl: string): ChatModel {
  const access = { apiKey: KEY, baseUrl, openAiApi: 'chat' as const };
  return registry.create({ provider: 'openai', model: 'm-1', ...access, timeoutMs: 60_000 });
}

async function errorOf(call: Promise<unknown>): Promise<AppError> {
  const thrown = await call.then(
    () => 'nothing was thrown',
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(AppError);
  const error = thrown as AppError;
  expect(error.message).not.toContain(KEY);
  expect(error.message).not.toContain('    at ');
  return error;
}

/** The errors of `generate` and `stream` for the same reply. */
async function failBoth(script: FakeScript): Promise<AppError[]> {
  llm.reply(script, script);
  const model = modelAt(llm.url);
  return [await errorOf(model.generate(ask)), await errorOf(readStream(model.stream(ask)))];
}

function said(message: string) {
  return { error: { message, type: 'some_error', code: null } };
}

describe('an error status', () => {
  it.each([
    [401, 'MODEL_AUTHENTICATION', false],
    [403, 'MODEL_AUTHENTICATION', false],
    [400, 'MODEL_REFUSED', false],
    [404, 'MODEL_REFUSED', false],
    [422, 'MODEL_REFUSED', false],
    [301, 'MODEL_REFUSED', false],
    [408, 'MODEL_TIMEOUT', true],
    [429, 'MODEL_RATE_LIMITED', true],
    [500, 'MODEL_UNAVAILABLE', true],
    [503, 'MODEL_UNAVAILABLE', true],
  ])('%i is %s', async (status, code, isRetryable) => {
    for (const error of await failBoth({ status, body: said('this is why') })) {
      expect(error).toMatchObject({
        code,
        isRetryable,
        details: { provider: 'openai', model: 'm-1', provider_status: status },
      });
      expect(error.message).toContain(`(HTTP ${status}): this is why.`);
      expect(error.message).toContain('openai');
      expect(error.message).toContain('m-1');
    }
    expect(llm.requests).toHaveLength(2);
  });

  it.each<[string, unknown]>([
    ['flat (Mistral, vLLM)', { object: 'error', message: 'this is why', type: 'x', param: null, code: '1910' }],
    [
      'flat, with an object as its message (Mistral)',
      { object: 'error', message: { detail: [{ msg: 'this is why' }] } },
    ],
    ['of FastAPI', { detail: 'this is why' }],
    ['a text', { error: 'this is why' }],
    ['in a list (Gemini)', [{ error: { code: 400, message: 'this is why', status: 'INVALID_ARGUMENT' } }]],
  ])('reports the message of an error that is %s', async (_form, body) => {
    for (const error of await failBoth({ status: 400, body })) {
      expect(error).toMatchObject({ code: 'MODEL_REFUSED', message: expect.stringContaining('this is why') });
      expect(error.message).not.toContain('INVALID_ARGUMENT');
    }
  });

  it('names the variable of the key, and masks keys in the provider’s message', async () => {
    const body = said(`Incorrect API key provided: ${KEY}, Bearer abc.def, sk-proj-zzzz`);
    for (const error of await failBoth({ status: 401, body })) {
      expect(error.message).toContain('OPENAI_API_KEY');
      expect(error.message).toContain('Incorrect API key provided: [redacted], Bearer [redacted], [redacted].');
    }
  });

  it('truncates the provider’s message at 500 characters, and does not quote HTML', async () => {
    const [long] = await failBoth({ status: 400, body: said('x'.repeat(5_000)) });
    expect(long?.message.length).toBeLessThan(700);
    const [html] = await failBoth({ status: 502, body: '<html>nginx</html>' });
    expect(html?.message).toBe('The provider openai could not serve model m-1 (HTTP 502). Try again later.');
    const [empty] = await failBoth({ status: 502, body: '' });
    expect(empty?.message).toBe(html?.message);
  });

  it.each([
    [{ 'retry-after': '2' }, 2_000],
    [{ 'retry-after-ms': '150', 'retry-after': '9' }, 150],
    [{ 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, 0],
  ])('returns the retry delay: %j', async (headers, expected) => {
    for (const error of await failBoth({ status: 429, body: said('slow down'), headers })) {
      expect(error.details).toMatchObject({ retry_after_ms: expected });
    }
  });

  it('is not retryable for an exceeded quota', async () => {
    const body = { error: { message: 'You exceeded your current quota', code: 'insufficient_quota' } };
    const [error] = await failBoth({ status: 429, body });
    expect(error).toMatchObject({ code: 'MODEL_RATE_LIMITED', isRetryable: false });
  });
});

describe('an invalid reply', () => {
  const cases: [string, FakeScript, string][] = [
    ['HTML', { status: 200, body: '<!doctype html><p>Login' }, 'an HTML page instead of JSON'],
    ['an empty body', { status: 200, body: '' }, ''],
    ['no choices', { status: 200, body: { choices: [] } }, ''],
    ['null', { status: 200, body: null }, 'JSON that is not a reply'],
    ['broken JSON', { events: ['{"choices":[{'] }, 'something that is not JSON'],
    ['an error inside', { status: 200, body: { error: { message: 'upstream died' } } }, 'an error: upstream died'],
    ['a call without a name', { calls: [{ arguments: {} }] }, 'a tool call without a name'],
    ['an interrupted reply', { text: 'a', finishReason: 'network_error' }, 'network_error'],
  ];
  it.each(cases)('is reported as MODEL_BAD_REPLY: %s', async (_name, script, words) => {
    for (const error of await failBoth(script)) {
      expect(error).toMatchObject({ code: 'MODEL_BAD_REPLY', isRetryable: true });
      expect(error.message).toContain(words);
    }
  });

  it('has the status of an error object in a reply with status 200', async () => {
    for (const error of await failBoth({ status: 200, body: { error: { code: 429, message: 'busy' } } })) {
      expect(error.code).toBe('MODEL_RATE_LIMITED');
    }
  });

  it('includes a stream that ends, resets or fails before its finish reason', async () => {
    const cut: FakeScript[] = [
      { text: 'one two three', cutAfter: 2 },
      { text: 'one two three', resetAfter: 2 },
      { events: [{ choices: [{ delta: { content: 'one' } }] }, { error: { message: 'overloaded' } }] },
      { events: ['[DONE]'] },
    ];
    for (const script of cut) {
      llm.reply(script);
      const error = await errorOf(readStream(modelAt(llm.url).stream(ask)));
      expect(error).toMatchObject({ code: 'MODEL_BAD_REPLY', isRetryable: true });
    }
  });
});

describe('no reply', () => {
  it('has a code for a reset connection', async () => {
    for (const error of await failBoth({ reset: true })) {
      expect(error).toMatchObject({ code: 'MODEL_UNREACHABLE', isRetryable: true });
    }
  });

  it('has a code for a refused connection or an unknown host', async () => {
    const gone = await FakeLlm.start();
    const { url } = gone;
    await gone.close();
    const refused = await errorOf(modelAt(url).generate(ask));
    expect(refused).toMatchObject({ code: 'MODEL_UNREACHABLE', isRetryable: true });
    expect(refused.message).toContain(`at ${new URL(url).origin}`);
    expect(refused.message).toContain('ECONNREFUSED');
    const lost = await errorOf(modelAt('http://no-such-host.invalid/v1').generate(ask));
    expect(lost.code).toBe('MODEL_UNREACHABLE');
  });
});
