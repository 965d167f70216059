import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AppError } from '../src/errors/index.js';
import { loadConfig } from '../src/config/index.js';
import { KeyPoolRegistry, ModelStackFactory } from '../src/llm/index.js';
import type { CallOptions, ChatModel, ChatRequest, ChatResult } from '../src/llm/chat/index.js';
import { createModelRegistry } from '../src/llm/model-registry.factory.js';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeReply } from './support/fake-llm.types.js';

const PROVIDERS = ['openai', 'anthropic', 'azure', 'deepseek', 'glm', 'ollama', 'openai-compatible'];
const INPUT = { type: 'object', properties: { expression: { type: 'string' } } };
const REQUEST: ChatRequest = {
  messages: [{ role: 'user', content: 'How much is 1 + 1?' }],
  tools: [{ name: 'calculator', description: 'Calculates.', inputSchema: INPUT }],
};
const CALL = { id: 'call_1', name: 'calculator', arguments: { expression: '1 + 1' } };
/** The limit on silence of cases that exceed it; others must not, on a slow machine either. */
const SILENCE_MS = 800;
const PATIENCE_MS = 20_000;

type CallMethod = 'generate' | 'stream';
/** The outcome of the last of two attempts is independent of the first. */
interface Fault {
  readonly reply: FakeReply;
  readonly code: string;
  /** True if the fault is not retried; default false. */
  readonly isFinal?: boolean;
  readonly only?: CallMethod;
  /** Environment variables for this case. */
  readonly env?: Record<string, string>;
  /** True if the fault is detected by a timeout. */
  readonly isSlow?: boolean;
}

interface Case extends Fault {
  readonly name: string;
  readonly method: CallMethod;
}

/** The faults of a missing API: with the Responses API, Chat Completions would be tried next. */
const CHAT = { LLM_OPENAI_API: 'chat' };

const calls = { calls: [CALL] };
const SILENT = { isSlow: true, env: { LLM_TIMEOUT_MS: String(SILENCE_MS) } };
/** Faults of a provider, and the error code of each. */
const FAULTS: Readonly<Record<string, Fault>> = {
  'a limit': { reply: { status: 429, body: {}, headers: { 'retry-after': '0' } }, code: 'MODEL_RATE_LIMITED' },
  'an error of its own': { reply: { status: 500, body: {} }, code: 'MODEL_UNAVAILABLE' },
  'a gateway that is down': { reply: { status: 503, body: 'down' }, code: 'MODEL_UNAVAILABLE' },
  'a refused request': { reply: { status: 400, body: {} }, code: 'MODEL_REFUSED', isFinal: true },
  'a refused key': { reply: { status: 401, body: {} }, code: 'MODEL_AUTHENTICATION', isFinal: true },
  'a forbidden model': { reply: { status: 403, body: {} }, code: 'MODEL_AUTHENTICATION', isFinal: true },
  'an unknown model': { reply: { status: 404, body: {} }, code: 'MODEL_REFUSED', isFinal: true, env: CHAT },
  'a reset before the reply': { reply: { reset: true }, code: 'MODEL_UNREACHABLE' },
  'a reset in the reply': { reply: { ...calls, resetAfter: 3 }, code: 'MODEL_BAD_REPLY' },
  'no first byte': { reply: { hang: true }, code: 'MODEL_TIMEOUT', ...SILENT },
  'a stall in the middle': { reply: { ...calls, stallAfter: 3 }, code: 'MODEL_TIMEOUT', ...SILENT },
  'a cut in the middle': { reply: { ...calls, cutAfter: 3 }, code: 'MODEL_BAD_REPLY' },
  'a page instead of a reply': {
    reply: { status: 200, body: '<html>Welcome</html>' },
    code: 'MODEL_BAD_REPLY',
    env: CHAT,
  },
  'no JSON': {
    reply: { status: 200, body: '{"choices": [', headers: { 'content-type': 'application/json' } },
    code: 'MODEL_BAD_REPLY',
  },
  'JSON that is not a reply': { reply: { status: 200, body: { hello: 'world' } }, code: 'MODEL_BAD_REPLY', env: CHAT },
  'events that are not a reply': { reply: { events: ['{"x":', 'nonsense'] }, code: 'MODEL_BAD_REPLY', only: 'stream' },
  'a line of 50 MB': {
    reply: { events: ['x'.repeat(50_000_000)] },
    code: 'MODEL_BAD_REPLY',
    only: 'stream',
    env: { LLM_TOTAL_TIMEOUT_MS: '0' },
  },
  'a slow drip': {
    reply: { text: 'word '.repeat(200), drip: 40 },
    code: 'MODEL_TIMEOUT',
    only: 'stream',
    isSlow: true,
    env: { LLM_TIMEOUT_MS: String(PATIENCE_MS), LLM_TOTAL_TIMEOUT_MS: '1500' },
  },
};
const TABLE = Object.entries(FAULTS).flatMap(([name, fault]) =>
  (['generate', 'stream'] as const)
    .filter((method) => (fault.only ?? method) === method)
    .map((method): Case => ({ name, method, ...fault })),
);
/** The slow cases run concurrently. */
const SLOW = TABLE.filter(({ isSlow }) => isSlow);

let llm: FakeLlm;
const registry = createModelRegistry();
beforeAll(async () => {
  llm = await FakeLlm.start();
});
afterEach(() => llm.reset());
afterAll(async () => {
  await registry.close();
  await llm.close();
});

function modelOf(provider: string, env: Record<string, string> = {}, from = llm): ChatModel {
  const { config } = loadConfig({
    env: {
      ...from.envOf(provider),
      LLM_MODEL: 'some-model',
      LLM_MAX_ATTEMPTS: '2',
      LLM_RETRY_DELAY_MS: '0',
      LLM_TIMEOUT_MS: String(PATIENCE_MS),
      LLM_TOTAL_TIMEOUT_MS: String(PATIENCE_MS),
      ...env,
    },
  });
  const stack = new ModelStackFactory(registry, new KeyPoolRegistry(config.llm), config.llm, null, null);
  const { llm: given } = config;
  const settings = {
    provider,
    model: 'some-model',
    openAiApi: given.openAiApi,
    timeoutMs: given.timeoutMs,
    totalMs: given.resilience.totalTimeoutMs || 60_000,
    ...given.access[given.provider],
  };
  return stack.create(settings);
}

async function ask(model: ChatModel, method: CallMethod, options: CallOptions = {}): Promise<ChatResult> {
  if (method === 'generate') return model.generate(REQUEST, options);
  let result: ChatResult | undefined;
  for await (const part of model.stream(REQUEST, options)) if (part.type === 'finish') result = part.result;
  return result!;
}

/** A fault of every attempt is reported; a fault of the first attempt alone is retried. */
async function expectFault(provider: string, { name, method, reply, code, isFinal = false, env }: Case, from = llm) {
  const model = modelOf(provider, env, from);
  from.always(reply);
  const failure = await ask(model, method).catch((thrown: unknown) => thrown);
  expect(failure).toBeInstanceOf(AppError);
  const seen = { name, method, failure, requests: from.requests.length };
  expect(seen).toMatchObject({ name, method, failure: { code, isRetryable: !isFinal }, requests: isFinal ? 1 : 2 });
  if (isFinal) return;
  from.reset();
  from.reply(reply, { ...calls });
  expect((await ask(model, method)).message.toolCalls).toMatchObject([
    { name: 'calculator', arguments: JSON.stringify(CALL.arguments) },
  ]);
  expect(from.requests).toHaveLength(2);
}

describe.each(PROVIDERS)('a request to %s', (provider) => {
  it.each(TABLE.filter(({ isSlow }) => !isSlow))('reports $name, to $method', (fault) => expectFault(provider, fault));

  it(`reports silence: ${[...new Set(SLOW.map(({ name }) => name))].join(', ')}`, async () => {
    await Promise.all(
      SLOW.map(async (fault) => {
        const own = await FakeLlm.start();
        try {
          await expectFault(provider, fault, own);
        } finally {
          await own.close();
        }
      }),
    );
  });

  it.each(['generate', 'stream'] as const)('reports that the address refuses connections, to %s', async (method) => {
    const gone = await FakeLlm.start();
    const { url } = gone;
    await gone.close();
    const env: Record<string, string> = provider === 'openai' ? { OPENAI_BASE_URL: url } : { LLM_BASE_URL: url };
    await expect(ask(modelOf(provider, env), method)).rejects.toMatchObject({ code: 'MODEL_UNREACHABLE' });
  });

  it.each(['generate', 'stream'] as const)('accepts unusual replies, to %s', async (method) => {
    const model = modelOf(provider);
    llm.reply({ text: 'fine', finishReason: 'because', usage: null });
    const odd = await ask(model, method);
    expect(odd.message.content).toBe('fine');
    expect(odd.usage).toBeUndefined();
    llm.reply({ calls: [CALL, { ...CALL, arguments: { expression: '2' } }] });
    const { toolCalls = [] } = (await ask(model, method)).message;
    expect(toolCalls).toHaveLength(2);
    expect(new Set(toolCalls.map(({ id }) => id)).size).toBe(2);
  });

  it.each([
    ['generate', { hang: true }],
    ['stream', { hang: true }],
    ['stream', { text: 'never to its end', stallAfter: 2 }],
  ] as const)('aborts the socket on cancel, and makes no further request, to %s: %j', async (method, reply) => {
    const model = modelOf(provider);
    llm.always(reply);
    const controller = new AbortController();
    const asked = ask(model, method, { signal: controller.signal });
    asked.catch(() => undefined);
    await llm.waitForRequest();
    controller.abort(new Error('away'));
    await expect(asked).rejects.toThrow('away');
    await llm.waitForAbort();
    expect(llm.requests).toHaveLength(1);
  });
});
