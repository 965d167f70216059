import { afterEach, beforeAll, afterAll, describe, expect, it } from 'vitest';
import { IsInt, IsOptional, IsString } from 'class-validator';
import { z } from 'zod';
import {
  ChatModel,
  ModelFactory,
  Tool,
  type ChatRequest,
  type ChatResult,
  type ChatStreamPart,
  type ModelSettings,
} from '../src/index.js';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeReply } from './support/fake-llm.types.js';
import { type Jackdaw, startJackdaw } from './support/jackdaw.js';

class Search {
  @IsString()
  text!: string;

  @IsOptional()
  @IsInt()
  limit?: number;
}

/** Tools with effects: each executed call is counted. */
class EdgeTools {
  readonly executed: unknown[] = [];

  @Tool({ description: 'Pays.', input: z.object({ amount: z.number().default(5), note: z.string().optional() }) })
  pay(payment: { amount: number; note?: string }): string {
    this.executed.push({ ...payment });
    return 'paid';
  }

  @Tool({ description: 'Finds.' })
  find(search: Search): string {
    this.executed.push(search);
    return 'found';
  }
}

/** A model of the application that returns the arguments of its calls in any form. */
class LooseModel extends ChatModel {
  readonly provider = 'loose';
  readonly name = 'loose-1';
  readonly capabilities = { vision: false, functionCalling: true, jsonMode: false };

  async generate({ messages }: ChatRequest): Promise<ChatResult> {
    const { role, content } = messages.at(-1)!;
    if (role === 'tool')
      return { message: { role: 'assistant', content: 'done' }, finishReason: 'stop', model: 'loose-1' };
    const args = FORMS[content as keyof typeof FORMS] as string;
    const toolCalls = [{ id: 'c', name: 'pay', arguments: args }];
    return { message: { role: 'assistant', content: '', toolCalls }, finishReason: 'tool_calls', model: 'loose-1' };
  }

  async *stream(request: ChatRequest): AsyncGenerator<ChatStreamPart, void> {
    yield { type: 'finish', result: await this.generate(request) };
  }
}

const FORMS = { object: { amount: 7 }, twice: '"{\\"amount\\":7}"', text: '{"amount":7}' } as const;

class LooseFactory extends ModelFactory {
  readonly name = 'loose';
  readonly defaultBaseUrl = undefined;
  readonly defaultModel = 'loose-1';

  create(_settings: ModelSettings): ChatModel {
    return new LooseModel();
  }
}

let llm: FakeLlm;
let jackdaw: Jackdaw;
let tools: EdgeTools;

async function start(env: Record<string, string>): Promise<void> {
  const options = { modelFactories: [new LooseFactory()] };
  jackdaw = await startJackdaw({ env: { ...env, LLM_RETRY_DELAY_MS: '1' }, tools: [EdgeTools], options });
  tools = jackdaw.app.get(EdgeTools);
}

/** Chats as JSON or as a stream. */
async function chat(query: string, isStreaming: boolean, sessionId = `${query}-${isStreaming}`) {
  if (!isStreaming) {
    const { status, body } = await jackdaw.chat({ query, sessionId });
    return { status, result: body['result'] as unknown, code: body['code'] as unknown, shown: null };
  }
  const stream = await jackdaw.stream({ query, sessionId });
  const { data } = (await stream.all()).at(-1)!;
  const error = data['error'] as { code: string; message: string } | undefined;
  return { status: stream.status, result: data['result'], code: error?.code, shown: stream.deltas() };
}

beforeAll(async () => void (llm = await FakeLlm.start()));
afterEach(() => {
  llm.reset();
  tools.executed.length = 0;
});
afterAll(() => llm.close());

describe('with an OpenAI-compatible provider', () => {
  beforeAll(() => start({ ...llm.envOf('openai-compatible'), LLM_MODEL: 'm-1', LLM_MAX_ATTEMPTS: '3' }));
  afterAll(() => jackdaw.stop());

  const payment = { id: 'c', name: 'pay', arguments: { amount: 50 } };
  const fragment = (args: string) => ({
    choices: [{ delta: { tool_calls: [{ index: 0, id: 'c', function: { name: 'pay', arguments: args } }] } }],
  });

  it.each<[string, FakeReply]>([
    ['was cut at its limit', { calls: [payment], finishReason: 'length' }],
    ['was stopped by a filter', { calls: [payment], finishReason: 'content_filter' }],
  ])('executes no call of a reply that %s', async (_why, reply) => {
    for (const isStreaming of [false, true]) {
      llm.reply(reply);
      await chat('pay', isStreaming);
      expect(tools.executed).toEqual([]);
    }
  });

  it('executes no incomplete call of a stream, whether it ends with [DONE] or closes', async () => {
    llm.reply({ events: [fragment('{"amount":5'), '[DONE]'] }, { text: 'It failed.' });
    expect(await chat('done', true)).toMatchObject({ result: 'It failed.' });
    expect(llm.lastRequest.messages.at(-1)).toMatchObject({
      role: 'tool',
      content: expect.stringContaining('not valid'),
    });
    llm.always({ events: [fragment('{"amount":50}')] });
    expect(await chat('closed', true)).toMatchObject({ code: 'MODEL_BAD_REPLY' });
    expect(tools.executed).toEqual([]);
  });

  it('executes a call before [DONE] without a finish reason once', async () => {
    llm.reply({ events: [fragment('{"amount":50}'), '[DONE]'] }, { text: 'Paid.' });
    expect(await chat('pay', true)).toMatchObject({ result: 'Paid.' });
    expect(tools.executed).toEqual([{ amount: 50 }]);
  });

  it('removes <think> from the answer, the stream and the history', async () => {
    const text = '<think>\nSecret plan.\n</think>\n\nHello!';
    for (const isStreaming of [false, true]) {
      llm.reply({ text }, { text: 'again' });
      expect(await chat('hi', isStreaming)).toMatchObject({ result: 'Hello!', shown: isStreaming ? 'Hello!' : null });
      await chat('more', false, `hi-${isStreaming}`);
      expect(JSON.stringify(llm.lastRequest.messages)).not.toContain('Secret');
    }
  });

  it('does not repeat a request that a flat error of a stream refuses, and repeats others', async () => {
    const flat = (code: number) => ({
      events: [{ choices: [{ delta: { content: 'Hel' } }] }, { object: 'error', message: 'too long', code }],
    });
    llm.reply(flat(400));
    expect(await chat('refused', true)).toMatchObject({ code: 'MODEL_REFUSED' });
    expect(llm.requests).toHaveLength(1);
    llm.reply(flat(503), { text: 'Hello' });
    expect(await chat('repeated', true)).toMatchObject({ result: 'Hello' });
  });

  it('takes null for an optional argument as absent, and passes defaults', async () => {
    const call = (name: string, args: object) => ({ calls: [{ id: 'c', name, arguments: { ...args } }] });
    llm.reply(call('pay', { amount: null, note: null }), { text: 'ok' }, call('find', { text: 'x', limit: null }), {
      text: 'ok',
    });
    await chat('pay', false);
    await chat('find', false);
    expect(tools.executed).toMatchObject([{ amount: 5 }, { text: 'x' }]);
    expect(tools.executed[1]).not.toHaveProperty('limit', null);
    llm.reply(call('find', { text: null }), { text: 'ok' });
    await chat('required', false);
    expect(tools.executed).toHaveLength(2);
  });
});

describe('with Claude', () => {
  beforeAll(() => start({ ...llm.envOf('anthropic'), LLM_MODEL: 'claude-sonnet-4-5' }));
  afterAll(() => jackdaw.stop());

  const use = { calls: [{ id: 'toolu_1', name: 'pay', arguments: { amount: 50 } }] };

  it.each([false, true])('ends a run whose turn after tool results is empty; streaming: %s', async (isStreaming) => {
    llm.reply(use, {}, { text: 'Paid 50.' });
    expect(await chat('continue', isStreaming)).toMatchObject({ status: 200, result: 'Paid 50.' });
    const last = llm.lastRequest.messages.at(-1)!.content as { type: string; text?: string }[];
    expect(last.map(({ type }) => type)).toEqual(['tool_result', 'text']);
    expect(last[1]?.text).toMatch(/^Please continue/);
    expect(tools.executed).toEqual([{ amount: 50 }]);

    llm.reply(use, {}, { text: '\n' });
    const empty = await chat('empty', isStreaming);
    expect([empty.status, String(empty.result).trim()]).toEqual([200, '']);
    expect(tools.executed).toHaveLength(2);
    llm.reply(use, {}, { status: 400, body: { error: { message: 'no user message here' } } });
    expect(await chat('refused', isStreaming)).toMatchObject({ status: 200, result: '' });
    expect(tools.executed).toHaveLength(3);
    llm.reply({ text: 'You are welcome.' });
    expect(await chat('thanks', isStreaming, `empty-${isStreaming}`)).toMatchObject({ result: 'You are welcome.' });
  });
});

describe('with a model of the application', () => {
  beforeAll(() => start({ LLM_PROVIDER: 'loose' }));
  afterAll(() => jackdaw.stop());

  it.each(Object.keys(FORMS))('executes a call with arguments as %s', async (form) => {
    expect(await chat(form, false)).toMatchObject({ result: 'done' });
    expect(tools.executed).toEqual([{ amount: 7 }]);
  });
});
