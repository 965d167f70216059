import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { estimateTokens } from '../src/llm/index.js';
import { ToolRegistry } from '../src/tool/index.js';
import type { FakeReply, FakeRequest } from './support/fake-llm.types.js';
import { FakeLlm } from './support/fake-llm.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';

/** The context window of the model, in tokens. */
const WINDOW = 6_000;
/** Characters of a page, about 550 tokens. */
const PAGE = 2_200;
/** The messages of the providers (platform.openai.com, "Error codes"; platform.claude.com, "Context windows"). */
const TOO_LONG = {
  openai: (tokens: number) => ({
    code: 'context_length_exceeded',
    message: `This model's maximum context length is ${WINDOW} tokens. However, your messages resulted in ${tokens} tokens.`,
  }),
  anthropic: (tokens: number) => ({
    type: 'invalid_request_error',
    message: `prompt is too long: ${tokens} tokens > ${WINDOW} maximum`,
  }),
};

const folder = newFolder();
let llm: FakeLlm;
let jackdaw: Jackdaw | undefined;
let refusals = 0;
beforeAll(async () => void (llm = await FakeLlm.start()));
afterEach(async () => {
  await jackdaw?.stop();
  jackdaw = undefined;
  llm.reset();
  refusals = 0;
});
afterAll(async () => {
  await llm.close();
  rmSync(folder, { recursive: true });
});

function pageText(n: number): string {
  const line = `Page ${n} lists a bird of the family of crows, its nest and its food. `;
  return `${line.repeat(Math.ceil(PAGE / line.length)).slice(0, PAGE - 20)} code-${n * 7919}`;
}

/** Starts an application with the tool `read_page`. @param window the window that a file of models states */
async function start(provider: string, window?: number, env: Record<string, string> = {}): Promise<Jackdaw> {
  const path = join(folder, 'models.json');
  writeFileSync(path, JSON.stringify({ models: window ? { 'house-*': { contextTokens: window } } : {} }));
  const model = { ...llm.envOf(provider), LLM_MODEL: 'house-1', LLM_MODELS_FILE: path, AGENT_MAX_ITERATIONS: '60' };
  jackdaw = await startJackdaw({ env: { ...model, ...env } });
  jackdaw.app.get(ToolRegistry, { strict: false }).register({
    name: 'read_page',
    description: 'Reads a page.',
    effect: 'read',
    parameters: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
    handler: (args) => pageText((args as { n: number }).n),
  });
  return jackdaw;
}

const tokensIn = ({ system, messages, tools }: FakeRequest) =>
  estimateTokens(JSON.stringify([system, messages, tools]));

/** A model with a window: it refuses a longer request as the provider does, and reports the tokens of others. */
function limited(provider: keyof typeof TOO_LONG, script: (request: FakeRequest) => FakeReply): void {
  llm.always((request) => {
    const tokens = tokensIn(request);
    if (tokens > WINDOW) {
      refusals++;
      return { status: 400, body: { type: 'error', error: TOO_LONG[provider](tokens) } };
    }
    return { usage: [tokens, 20], ...script(request) };
  });
}

/** A block of a message of Claude. */
interface Block {
  readonly type: string;
  readonly content?: unknown;
}

/** The texts of the tool results in a request, in the form of OpenAI or of Claude. */
function resultsIn({ messages }: FakeRequest): string[] {
  return messages.flatMap(({ role, content }) => {
    if (role === 'tool') return [String(content)];
    if (!Array.isArray(content)) return [];
    return (content as Block[]).filter(({ type }) => type === 'tool_result').map((block) => String(block.content));
  });
}

const isSummary = (request: FakeRequest) => JSON.stringify(request).includes('You keep the memory of an agent');
let read = 0;
/** Reads a number of pages one after the other, then what `then` says. */
function reading(pages: number, then: () => FakeReply, text = ''): (request: FakeRequest) => FakeReply {
  read = 0;
  return (request) => {
    if (isSummary(request)) return { text: 'The pages 1 to 9 were read.' };
    return read < pages ? { text, calls: [{ name: 'read_page', arguments: { n: ++read } }] } : then();
  };
}

async function compactions(app: Jackdaw, runId: unknown): Promise<Record<string, unknown>[]> {
  const events = await app.events(String(runId));
  return events.filter(({ event }) => event === 'context.compacted').map(({ data }) => data);
}

describe.each(['openai', 'anthropic'] as const)('a run that outgrows the context window, over %s', (provider) => {
  it('leaves out old results before the window is full; the model can read them again', async () => {
    const app = await start(provider, WINDOW);
    const finish: FakeReply[] = [{ calls: [{ name: 'read_result', arguments: { result: 2 } }] }, { text: 'done' }];
    limited(
      provider,
      reading(20, () => finish.shift()!),
    );
    const { body } = await app.chat({ query: 'Read all pages.', sessionId: 's' });
    expect(body).toMatchObject({ result: 'done', iterations: 22 });
    expect(refusals).toBe(0);
    const last = resultsIn(llm.lastRequest);
    expect(last).toHaveLength(21);
    expect(last[1]).toMatch(/^\[Result 2 is left out to save space: \d+ characters\]$/);
    expect(last.at(-1)).toBe(pageText(2));
    expect(last.at(-2)).toBe(pageText(20));
    const [first, ...more] = await compactions(app, body['run_id']);
    expect(first).toMatchObject({ cause: 'window', messages: 0, iteration: 7 });
    expect(more).not.toHaveLength(0);
    const { results } = more.at(-1)!;
    expect(body['memory_state']).toMatchObject({ compacted: { results, messages: 0 } });
    const stored = (await app.messages('s')).filter(({ role }) => role === 'tool');
    expect(stored.slice(0, 20).map(({ content }) => content)).toEqual(
      Array.from({ length: 20 }, (_, i) => pageText(i + 1)),
    );
  });

  it('is compacted once after a refusal if the window is unknown, and knows it from then on', async () => {
    const app = await start(provider);
    limited(
      provider,
      reading(25, () => ({ text: 'done' })),
    );
    const { body } = await app.chat({ query: 'Read all pages.' });
    expect(body).toMatchObject({ result: 'done', iterations: 26 });
    expect(refusals).toBe(1);
    const causes = (await compactions(app, body['run_id'])).map(({ cause }) => cause);
    expect([causes[0], [...new Set(causes.slice(1))]]).toEqual(['refused', ['window']]);
  });

  it('has a summary in place of the middle if notes do not suffice', async () => {
    const app = await start(provider, WINDOW);
    const thoughts = 'I compare this bird with the others of the family, and note its nest. '.repeat(30);
    limited(
      provider,
      reading(14, () => ({ text: 'done' }), thoughts),
    );
    const { body } = await app.chat({ query: 'Read all pages.' });
    expect(body['result']).toBe('done');
    expect(refusals).toBe(0);
    const summaries = llm.requests.filter(isSummary);
    const recorded = (await compactions(app, body['run_id'])).filter(({ messages }) => Number(messages) > 0);
    expect(summaries.length).toBeGreaterThan(0);
    expect(llm.requests).toHaveLength(Number(body['iterations']) + summaries.length);
    const input = llm.lastRequest.messages.find(({ role }) => role === 'user');
    expect(JSON.stringify(input)).toContain('The pages 1 to 9 were read.');
    expect(JSON.stringify(input)).toContain('Read all pages.');
    expect(recorded.at(-1)!['messages']).toBeGreaterThan(4);
    const calls = llm.requests.reduce((sum, request) => sum + tokensIn(request), 0);
    expect((body['usage'] as unknown as { prompt_tokens: number }).prompt_tokens).toBe(calls);
  });
});

describe('a request that is too long for the model', () => {
  it('fails with what to do if nothing can be left out', async () => {
    const app = await start('openai');
    limited('openai', () => ({ text: 'done' }));
    const { status, body } = await app.chat({ query: 'A long question. '.repeat(2_000) });
    expect([status, body['code']]).toEqual([502, 'MODEL_REFUSED']);
    expect(JSON.stringify(body)).toContain('choose a model with a larger context window');
    expect(refusals).toBe(1);
  });

  it('has a summary in place of the history if that is too long', async () => {
    const app = await start('openai', undefined, { AGENT_MEMORY_MAX_CONTEXT_TOKENS: '50000' });
    llm.always({ text: 'I will remember the list of the birds, of their nests and of their food. '.repeat(40) });
    for (let turn = 1; turn <= 8; turn++) await app.chat({ query: `Say more, part ${turn}.`, sessionId: 's' });
    limited('openai', (request) => ({ text: isSummary(request) ? 'They spoke of birds.' : 'done' }));
    const { body } = await app.chat({ query: 'What was it about?', sessionId: 's' });
    expect(body).toMatchObject({ result: 'done', memory_state: { compacted: { results: 0, messages: 16 } } });
    expect(refusals).toBe(1);
    expect(JSON.stringify(llm.lastRequest.messages.at(-1))).toContain('They spoke of birds.');
    expect(await app.messages('s')).toHaveLength(18);
  });

  it('has cut results if the latest ones alone exceed the window', async () => {
    const app = await start('openai', WINDOW);
    const calls = Array.from({ length: 9 }, (_, i) => ({ name: 'read_page', arguments: { n: i + 1 } }));
    const replies: FakeReply[] = [
      { calls },
      { calls: [{ name: 'read_result', arguments: { result: 3, offset: 2_000 } }] },
      { calls: [{ name: 'read_result', arguments: { result: 99 } }] },
      { text: 'done' },
    ];
    limited('openai', () => replies.shift()!);
    const { body } = await app.chat({ query: 'Read nine pages at once.' });
    expect([body['result'], refusals]).toEqual(['done', 0]);
    const results = resultsIn(llm.lastRequest);
    expect(results[2]).toMatch(/\[The rest of result 3, from character \d+ of \d+, is left out\]$/);
    expect(results[9]).toBe(pageText(3).slice(2_000));
    expect(results[10]).toContain('There is no result 99: the results have the numbers 1 to 10.');
  });

  it('leaves the name `read_result` to a tool of the application', async () => {
    const app = await start('openai', WINDOW);
    app.app.get(ToolRegistry, { strict: false }).register({
      name: 'read_result',
      description: 'Reads the result of a match.',
      effect: 'read',
      handler: () => '2:1',
    });
    const finish: FakeReply[] = [
      { calls: [{ name: 'read_result', arguments: {} }] },
      { calls: [{ name: 'read_earlier_result', arguments: { result: 1 } }] },
      { text: 'done' },
    ];
    limited(
      'openai',
      reading(9, () => finish.shift()!),
    );
    await app.chat({ query: 'Read all pages.' });
    expect(resultsIn(llm.lastRequest).slice(-2)).toEqual(['2:1', pageText(1)]);
  });

  it('continues without a summary if the model gives none', async () => {
    const app = await start('openai', WINDOW);
    const thoughts = 'I compare this bird with the others of the family, and note its nest. '.repeat(30);
    const pages = reading(6, () => ({ text: 'done' }), thoughts);
    limited('openai', (request) => (isSummary(request) ? { status: 400, body: { error: {} } } : pages(request)));
    const { body } = await app.chat({ query: 'Read all pages.' });
    expect([body['result'], refusals]).toEqual(['done', 0]);
  });

  it('is cancelled while the model writes the summary', async () => {
    const app = await start('openai', WINDOW);
    const asked = Promise.withResolvers<void>();
    const thoughts = 'I compare this bird with the others of the family, and note its nest. '.repeat(30);
    const pages = reading(14, () => ({ text: 'done' }), thoughts);
    limited('openai', (request) => {
      if (!isSummary(request)) return pages(request);
      asked.resolve();
      return { hang: true };
    });
    const { body } = await app.post('/api/agent/runs', { query: 'Read all pages.', sessionId: 's' });
    await asked.promise;
    const sent = llm.requests.length;
    await app.post(`/api/runs/${String(body['run_id'])}/cancel`);
    expect((await app.events(String(body['run_id']))).at(-1)?.event).toBe('run.cancelled');
    await llm.waitForAbort();
    expect(llm.requests).toHaveLength(sent);
    const roles = (await app.messages('s')).map(({ role }) => role);
    expect(roles.filter((role) => role === 'tool')).toHaveLength(roles.filter((role) => role === 'assistant').length);
  });

  it('leaves the name `read_result` to a deferred tool of the application', async () => {
    const app = await start('openai', WINDOW, { AGENT_MAX_TOOLS: '5' });
    for (const name of ['read_result', 'other_one', 'other_two', 'other_three']) {
      app.app
        .get(ToolRegistry, { strict: false })
        .register({ name, description: 'Reads.', effect: 'read', handler: () => 1 });
    }
    const pages = reading(9, () => ({ text: 'done' }));
    limited('openai', (request) => pages(request));
    await app.chat({ query: 'Read all pages.' });
    const names = llm.lastRequest.tools!.map((tool) => tool.function.name);
    expect(names).toContain('find_tools');
    expect(names.filter((name) => name.startsWith('read_'))).toContain('read_earlier_result');
  });
});
