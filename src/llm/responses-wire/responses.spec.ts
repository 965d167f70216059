import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeLlm } from '../../../test/support/fake-llm.js';
import { readStream } from '../../../test/support/fake-llm-stream.js';
import type { ChatRequest, ModelParameters } from '../chat/chat.types.js';
import type { Message } from '../chat/message.types.js';
import { createModelRegistry } from '../model-registry.factory.js';
import type { ModelSettings } from '../model-settings.types.js';
import type { ModelRegistry } from '../model.registry.js';

const MODEL = 'gpt-5.6-luna';
const user: Message = { role: 'user', content: 'add' };
const result = (id: string): Message => ({ role: 'tool', toolCallId: id, name: 'add', content: '3' });
const tool = { name: 'add', description: 'Adds.', inputSchema: { type: 'object', properties: { a: {} } } };
const ask: ChatRequest = { messages: [user], tools: [tool] };
const call = { name: 'add', arguments: { a: 1 } };

let llm: FakeLlm;
let registry: ModelRegistry;
beforeAll(async () => void (llm = await FakeLlm.start({ strict: 'openai' })));
beforeEach(() => {
  llm.reset();
  registry = createModelRegistry();
});
afterEach(() => registry.close());
afterAll(() => llm.close());

function make(more: Partial<ModelSettings> = {}) {
  return registry.create({
    provider: 'openai',
    model: MODEL,
    apiKey: 'k',
    baseUrl: llm.url,
    timeoutMs: 60_000,
    ...more,
  });
}

function body(at = -1): Record<string, unknown> {
  return { ...llm.envelopes.at(at)!.body };
}

const paths = () => llm.envelopes.map(({ path }) => path);

describe('a request', () => {
  it('is stateless, reasons beside tools, and asks for encrypted reasoning and its summary', async () => {
    llm.reply({ text: 'ok' });
    await make().generate({ ...ask, parameters: { maxTokens: 5 }, toolChoice: { name: 'add' } });
    expect(body()).toEqual({
      model: MODEL,
      input: [{ type: 'message', role: 'user', content: 'add' }],
      tools: [{ type: 'function', name: 'add', description: 'Adds.', parameters: tool.inputSchema, strict: false }],
      tool_choice: { type: 'function', name: 'add' },
      max_output_tokens: 16,
      reasoning: { summary: 'auto' },
      include: ['reasoning.encrypted_content'],
      store: false,
    });
    expect(paths()).toEqual(['/v1/responses']);
  });

  it('asks no model without reasoning for it', async () => {
    llm.reply({ text: 'ok' });
    await readStream(make({ model: 'gpt-4o' }).stream({ messages: [user], parameters: { temperature: 0.5, topP: 1 } }));
    expect(body()).toEqual({
      model: 'gpt-4o',
      input: [{ type: 'message', role: 'user', content: 'add' }],
      temperature: 0.5,
      top_p: 1,
      store: false,
      stream: true,
    });
  });

  it('has a strict schema as format, else JSON mode and an instruction', async () => {
    llm.always({ text: '{}' });
    const schema = { type: 'object', properties: {}, required: [], additionalProperties: false };
    await make().generate({ messages: [user], responseFormat: { schema, name: 'sum' } });
    expect(body()['text']).toEqual({ format: { type: 'json_schema', name: 'sum', schema, strict: true } });
    await make().generate({ messages: [user], responseFormat: 'json' });
    expect(body()['text']).toEqual({ format: { type: 'json_object' } });
  });

  it('has images of the user and of results', async () => {
    llm.reply({ text: 'ok' });
    const url = 'https://example.com/a.png';
    const seen = { ...result('a'), images: [{ type: 'image', url }] } as Message;
    const calling: Message = { role: 'assistant', content: '', toolCalls: [{ id: 'a', name: 'add', arguments: '{}' }] };
    const looking: Message = {
      role: 'user',
      content: [
        { type: 'text', text: 'see' },
        { type: 'image', url },
      ],
    };
    await make().generate({ ...ask, messages: [looking, calling, seen] });
    const image = { type: 'input_image', image_url: url, detail: 'auto' };
    expect(body()['input']).toEqual([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'see' }, image] },
      { type: 'function_call', call_id: 'a', name: 'add', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: [{ type: 'input_text', text: '3' }, image] },
    ]);
  });

  it.each<ModelParameters>([{ seed: 1 }, { stop: ['x'] }, { frequencyPenalty: 1 }, { presencePenalty: 1 }])(
    'with %j uses Chat Completions, which have this parameter',
    async (parameters) => {
      llm.always({ text: 'ok' });
      await make({ model: 'gpt-4o' }).generate({ messages: [user], parameters });
      await readStream(make({ model: 'gpt-4o', parameters }).stream({ messages: [user] }));
      expect(paths()).toEqual(['/v1/chat/completions', '/v1/chat/completions']);
    },
  );
});

describe('reasoning items', () => {
  /** The reply to a request with a call of two tools. */
  async function reply(isStreamed: boolean) {
    llm.reply({ reasoning: 'first I think', text: 'I add.', calls: [call, { ...call, id: 'b' }] });
    if (!isStreamed) return (await make().generate(ask)).message;
    const parts = await readStream(make().stream(ask));
    const last = parts.at(-1)!;
    if (last.type !== 'finish') throw new Error('no finish');
    return last.result.message;
  }

  it.each([false, true])('return unchanged, at their place (streamed: %j)', async (isStreamed) => {
    const message = await reply(isStreamed);
    expect(message).toMatchObject({ reasoning: 'first I think', content: 'I add.' });
    llm.reply({ reasoning: 'done', text: '3' });
    const messages = [user, message, result('call_fake_0'), result('b')];
    const last = await make().generate({ ...ask, messages });
    llm.reply({ text: 'again' });
    await make().generate({ ...ask, messages: [...messages, last.message, user] });
    expect(llm.broken).toEqual([]);
    const input = body()['input'] as { type: string }[];
    const types = 'message reasoning message function_call function_call function_call_output function_call_output';
    expect(input.map(({ type }) => type).join(' ')).toBe(`${types} reasoning message message`);
    const heads = message.signedReasoning!.blocks.map(({ value }) => value);
    expect(input[1]).toEqual(heads[0]);
    expect(input.slice(1, 5)).toMatchObject(heads);
  });

  it('are dropped for another model, and ids with them', async () => {
    const message = await reply(false);
    llm.reply({ text: 'ok' });
    await make({ model: 'gpt-5.7' }).generate({
      ...ask,
      messages: [user, message, result('call_fake_0'), result('b')],
    });
    expect(llm.broken).toEqual([]);
    expect(JSON.stringify(body())).not.toMatch(/"type":"reasoning"|"id":/);
  });

  it('are omitted for one request if the provider cannot read them', async () => {
    const message = await reply(false);
    const [thought, ...rest] = message.signedReasoning!.blocks;
    const value = { ...thought!.value, encrypted_content: 'of another organization' };
    const other = {
      ...message,
      signedReasoning: { ...message.signedReasoning!, blocks: [{ ...thought!, value }, ...rest] },
    };
    llm.always({ text: 'ok' });
    const messages = [user, other, result('call_fake_0'), result('b')];
    expect((await make().generate({ ...ask, messages })).message.content).toBe('ok');
    expect(llm.broken.map(({ rule }) => rule)).toEqual(['responses/encrypted-unchanged']);
    expect(registry.adaptations()).toEqual(new Map());
  });

  it('of a truncated reply without a message are not sent', async () => {
    llm.reply({ reasoning: 'too long', finishReason: 'length' });
    const { message, finishReason } = await make().generate(ask);
    expect(finishReason).toBe('length');
    llm.reply({ text: 'ok' });
    await make().generate({ messages: [user, message, user] });
    expect(llm.broken).toEqual([]);
  });

  it('are not asked for again where the model has none, or no summary of them', async () => {
    llm.always({ text: 'ok' });
    const model = make({ model: 'o1-deployment' });
    const refusal = (param: string, code: string | null, message: string) => ({
      status: 400,
      body: { error: { message, param, code, type: 'invalid_request_error' } },
    });
    llm.reply(
      refusal(
        'reasoning.summary',
        'unsupported_value',
        'Your organization must be verified to generate reasoning summaries.',
      ),
      refusal('include', null, 'Encrypted content is not supported with this model.'),
    );
    await model.generate(ask);
    await model.generate(ask);
    expect(llm.envelopes.map((one) => [one.body['reasoning'], one.body['include']])).toEqual([
      [{ summary: 'auto' }, ['reasoning.encrypted_content']],
      [undefined, ['reasoning.encrypted_content']],
      [undefined, undefined],
      [undefined, undefined],
    ]);
    expect([...registry.adaptations()]).toEqual([
      ['openai:o1-deployment', ['reasoning.summary is omitted', 'include is omitted']],
    ]);
  });
});
