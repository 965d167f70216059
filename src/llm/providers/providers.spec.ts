import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeLlm } from '../../../test/support/fake-llm.js';
import type { ChatRequest } from '../chat/chat.types.js';
import { createModelRegistry } from '../model-registry.factory.js';

const registry = createModelRegistry();
let llm: FakeLlm;

beforeAll(async () => void (llm = await FakeLlm.start()));
beforeEach(() => llm.reset());
afterAll(async () => {
  await registry.close();
  await llm.close();
});

const afterCall: ChatRequest = {
  messages: [
    { role: 'user', content: '1+1' },
    { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'calculator', arguments: '{}' }] },
    { role: 'tool', toolCallId: 'c', name: 'calculator', content: '2' },
  ],
  tools: [{ name: 'calculator', description: 'Calculates.', inputSchema: { type: 'object' } }],
  parameters: { maxTokens: 7 },
};

async function send(provider: string, model: string) {
  llm.reply({ text: '2', reasoning: 'sum' });
  const access = { apiKey: 'k', baseUrl: llm.url, openAiApi: 'chat' as const };
  const { message } = await registry.create({ provider, model, ...access, timeoutMs: 60_000 }).generate(afterCall);
  expect(message).toEqual({ role: 'assistant', content: '2', reasoning: 'sum' });
  return llm.lastRequest;
}

it('openai limits replies by max_completion_tokens, and disables reasoning beside tools if the API rejects both', async () => {
  const newer = await send('openai', 'gpt-5.6-luna');
  expect(newer).toMatchObject({ max_completion_tokens: 7, reasoning_effort: 'none' });
  expect(newer).not.toHaveProperty('max_tokens');
  expect(await send('openai', 'gpt-4o')).not.toHaveProperty('reasoning_effort');
});

it("openai has its limit of tools at OpenAI's own host only", async () => {
  const tools = Array.from({ length: 129 }, (_, n) => ({ name: `t${n}`, description: 'Does it.', inputSchema: {} }));
  const settings = { provider: 'openai', model: 'gpt-4o', apiKey: 'k', timeoutMs: 60_000 };
  await expect(registry.create(settings).generate({ ...afterCall, tools })).rejects.toMatchObject({
    code: 'MODEL_TOO_MANY_TOOLS',
  });
  llm.reply({ text: '2' });
  await registry.create({ ...settings, baseUrl: llm.url }).generate({ ...afterCall, tools });
  expect(llm.lastRequest.tools).toHaveLength(129);
});

it('deepseek gets reasoning with every call, even if empty', async () => {
  const { messages, ...rest } = await send('deepseek', 'deepseek-v4-flash');
  expect(messages[1]).toMatchObject({ reasoning_content: '', content: null });
  expect(rest).toMatchObject({ max_tokens: 7 });
});

it.each(['glm', 'ollama', 'openai-compatible'])('%s gets the plain wire format', async (provider) => {
  const { messages, ...rest } = await send(provider, 'some-model');
  expect(messages[1]).not.toHaveProperty('reasoning_content');
  expect(rest).toMatchObject({ max_tokens: 7, model: 'some-model' });
  expect(llm.envelopes[0]?.headers.authorization).toBe(provider === 'ollama' ? undefined : 'Bearer k');
});

describe('azure', () => {
  async function at(path: string, apiVersion?: string): Promise<string | undefined> {
    llm.reset();
    llm.reply({ text: 'ok' });
    const baseUrl = new URL(path, llm.url).href;
    const settings = { provider: 'azure', model: 'my gpt', apiKey: 'k', baseUrl, timeoutMs: 60_000 };
    await registry.create({ ...settings, ...(apiVersion && { apiVersion }) }).generate(afterCall);
    expect(llm.envelopes[0]?.headers).toMatchObject({ 'api-key': 'k' });
    expect(llm.envelopes[0]?.headers.authorization).toBeUndefined();
    expect(llm.lastRequest).toMatchObject({ model: 'my gpt', max_completion_tokens: 7 });
    return llm.envelopes[0]?.path;
  }

  it('uses the v1 URL, or the URL of a deployment and a version', async () => {
    expect(await at('/')).toBe('/openai/v1/chat/completions');
    expect(await at('/openai/v1/')).toBe('/openai/v1/chat/completions');
    expect(await at('/', '2024-10-21')).toBe('/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21');
  });

  it('accepts the URL of a deployment as endpoint', async () => {
    const whole = '/openai/deployments/other?api-version=2024-10-21';
    const dated = '/openai/deployments/my%20gpt/chat/completions?api-version=';
    expect(await at(whole)).toBe(`${dated}2024-10-21`);
    expect(await at(whole, '2025-01-01-preview')).toBe(`${dated}2025-01-01-preview`);
    expect(await at('/openai/v1/?api-version=preview&x=%20')).toBe(
      '/openai/v1/chat/completions?api-version=preview&x=%20',
    );
    expect(await at('/gateway/?key=a', '2024-10-21')).toBe(`/gateway${dated.replace('?', '?key=a&')}2024-10-21`);
  });

  it('has embeddings, with a deployment of their own', async () => {
    const baseUrl = new URL('/', llm.url).href;
    const settings = { provider: 'azure', model: 'embed', apiKey: 'k', baseUrl, apiVersion: '2024-10-21' };
    const { vectors } = await registry.createEmbedding({ ...settings, timeoutMs: 60_000 }).embed(['a', 'b']);
    expect(vectors).toHaveLength(2);
  });
});

it('every provider has the same files', () => {
  const folders = readdirSync(new URL('.', import.meta.url), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  expect(folders.length).toBeGreaterThan(5);
  for (const { name } of folders) {
    const files = readdirSync(new URL(name, import.meta.url));
    expect(files).toEqual(expect.arrayContaining([`${name}.factory.ts`, 'capabilities.mapper.ts']));
  }
});
