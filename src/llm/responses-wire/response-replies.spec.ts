import { describe, expect, it } from 'vitest';
import type { ChatStreamPart } from '../chat/chat.types.js';
import { BadReplyError, MissingApiError, StatusError } from '../wire/wire-failure.error.js';
import { toChatResult } from './reply.mapper.js';
import { StreamReplyBuilder } from './stream-reply.builder.js';

const OWNER = { provider: 'openai', model: 'gpt-5.6-luna' };
const text = (words: string, more: object = {}) => ({
  type: 'message',
  content: [{ type: 'output_text', text: words }],
  ...more,
});
const call = { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'add', arguments: '{"a":1}' };
const thought = { type: 'reasoning', id: 'rs_1', summary: [{ text: 'sum' }], encrypted_content: 'gAAA' };

function response(output: readonly unknown[], more: object = {}) {
  return { object: 'response', status: 'completed', model: 'gpt-5.6', output, ...more };
}

function read(output: readonly unknown[], more: object = {}) {
  return toChatResult(JSON.stringify(response(output, more)), OWNER);
}

/** The result of a stream, and the text and reasoning of its parts. */
function stream(...events: readonly object[]) {
  const reply = new StreamReplyBuilder(OWNER);
  const parts: ChatStreamPart[] = [];
  for (const event of events) reply.add(JSON.stringify(event), parts);
  const said = (type: 'text' | 'reasoning') => parts.map((part) => (part.type === type ? part.text : '')).join('');
  return { reply, text: said('text'), reasoning: said('reasoning') };
}

const delta = (kind: string, index: number, value: string, more: object = {}) => ({
  type: `response.${kind}.delta`,
  output_index: index,
  delta: value,
  ...more,
});
const completed = (output: readonly unknown[] = [], more: object = {}) => ({
  type: 'response.completed',
  response: response(output, more),
});

describe('a response', () => {
  it.each([
    ['max_output_tokens', 'length'],
    ['max_messages', 'length'],
    ['content_filter', 'content_filter'],
    [undefined, 'length'],
  ])('that is incomplete by %s ends with %s, and drops a call without a name', (reason, finishReason) => {
    const cut = { status: 'incomplete', incomplete_details: { reason } };
    const result = read([text('I ad'), { type: 'function_call', id: 'fc_1', arguments: '' }], cut);
    expect(result).toMatchObject({ finishReason, message: { content: 'I ad' } });
    expect(result.message.toolCalls).toBeUndefined();
  });

  it('with a refusal has it as text', () => {
    const refused = { type: 'message', content: [{ type: 'refusal', refusal: 'I cannot.' }] };
    expect(read([refused])).toMatchObject({ finishReason: 'content_filter', message: { content: 'I cannot.' } });
  });

  it('counts cached and reasoning tokens', () => {
    const details = { input_tokens_details: { cached_tokens: 4 }, output_tokens_details: { reasoning_tokens: 5 } };
    const usage = { input_tokens: 10, output_tokens: 7, total_tokens: 17, ...details };
    expect(read([text('a')], { usage }).usage).toEqual({
      promptTokens: 10,
      completionTokens: 7,
      totalTokens: 17,
      cachedTokens: 4,
      reasoningTokens: 5,
    });
  });

  it('joins its messages, and stores the phases and the order of its items', () => {
    const { message } = read([
      text('I look.', { phase: 'commentary' }),
      call,
      text('Done.', { phase: 'final_answer' }),
    ]);
    expect(message.content).toBe('I look.\n\nDone.');
    expect(message.signedReasoning?.blocks).toEqual([
      { value: { type: 'message', phase: 'commentary' }, text: 0, calls: 0 },
      { value: { type: 'function_call', id: 'fc_1' }, text: 7, calls: 0 },
      { value: { type: 'message', phase: 'final_answer' }, text: 7, calls: 1 },
    ]);
  });

  it('stores no state without reasoning and phases, and no reasoning that cannot return', () => {
    expect(read([text('a', { id: 'msg_1' })]).message.signedReasoning).toBeUndefined();
    for (const more of [{ encrypted_content: null }, { status: 'incomplete' }]) {
      const { message } = read([{ ...thought, ...more }, text('a')]);
      expect(message).toEqual({ role: 'assistant', content: 'a', reasoning: 'sum' });
    }
  });

  it('omits nulls of a reasoning item, which a request must not have', () => {
    const { message } = read([{ ...thought, status: null }, text('a')]);
    expect(message.signedReasoning?.blocks[0]?.value).toEqual(thought);
  });

  it.each([
    ['rate_limit_exceeded', 429],
    ['server_error', 500],
    ['invalid_prompt', 400],
    ['image_too_large', 400],
  ])('that failed by %s has the status %i', (code, status) => {
    const failed = { status: 'failed', error: { code, message: 'no' } };
    const error = new StatusError(status, 'no', code);
    expect(() => read([], failed)).toThrow(error);
    const run = () => stream({ type: 'response.failed', response: response([], failed) });
    expect(run).toThrow(expect.objectContaining({ status, kind: code }) as StatusError);
  });

  it.each(['cancelled', 'failed', 'in_progress', 'queued'])('that is %s is no reply', (status) => {
    expect(() => read([text('a')], { status, error: null })).toThrow(BadReplyError);
  });

  it.each([
    ['a chat completion', JSON.stringify({ object: 'chat.completion', choices: [] })],
    ['HTML', '<!doctype html>'],
    ['another object', '{}'],
  ])('is missing at an address that answers with %s', (_name, body) => {
    expect(() => toChatResult(body, OWNER)).toThrow(MissingApiError);
    expect(() => new StreamReplyBuilder(OWNER).addWhole(body)).toThrow(MissingApiError);
  });

  it.each(['', '{"object":"response","outp', '{"error":{"message":"busy"}}'])(
    'is not missing at an address that answers with %j',
    (body) => {
      expect(() => toChatResult(body, OWNER)).toThrow(BadReplyError);
    },
  );
});

describe('a streamed response', () => {
  it('has the text of its deltas if the last events of items are missing', () => {
    const { reply, text: said } = stream(
      { type: 'response.output_item.added', output_index: 1, item: { ...call, arguments: '' } },
      delta('output_text', 0, 'I '),
      delta('function_call_arguments', 1, '{"a"'),
      delta('output_text', 0, 'add.'),
      delta('function_call_arguments', 1, ':1}'),
      completed(),
    );
    expect(said).toBe('I add.');
    expect(reply.result().message).toMatchObject({
      content: 'I add.',
      toolCalls: [{ id: 'c', name: 'add', arguments: '{"a":1}' }],
    });
  });

  it('has the items of its last event if there are no others', () => {
    const { reply, ...said } = stream(completed([thought, text('a'), call]));
    expect(said).toEqual({ text: 'a', reasoning: 'sum' });
    expect(reply.result()).toEqual(read([thought, text('a'), call]));
  });

  it('separates messages and parts of a summary as the whole response does', () => {
    const items = [
      { ...thought, summary: [{ text: 'one' }, { text: 'two' }] },
      text('a'),
      { ...thought, id: 'rs_2', summary: [{ text: 'three' }] },
      text('b'),
    ];
    const summary = (index: number, part: number, value: string) =>
      delta('reasoning_summary_text', index, value, { summary_index: part });
    const { reply, ...said } = stream(
      summary(0, 0, 'o'),
      summary(0, 0, 'ne'),
      summary(0, 1, 'two'),
      delta('output_text', 1, 'a'),
      summary(2, 0, 'three'),
      delta('output_text', 3, 'b'),
      completed(items),
    );
    expect(said).toEqual({ text: 'a\n\nb', reasoning: 'one\n\ntwo\n\nthree' });
    expect(reply.result()).toEqual(read(items));
  });

  it('has the text of open reasoning, and returns it', () => {
    const open = { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'hm' }] };
    const { reply, reasoning } = stream(
      delta('reasoning_text', 0, 'hm', { content_index: 0 }),
      completed([open, text('a')]),
    );
    expect(reasoning).toBe('hm');
    expect(reply.result().message).toMatchObject({
      reasoning: 'hm',
      signedReasoning: { blocks: [{ value: open }, {}] },
    });
  });

  it('finds items by their id where a server sends no place', () => {
    const { reply } = stream(
      { type: 'response.output_item.added', item: { ...call, arguments: '' } },
      { type: 'response.function_call_arguments.delta', item_id: 'fc_1', delta: '{"a":1}' },
      completed(),
    );
    expect(reply.result().message.toolCalls).toEqual([{ id: 'c', name: 'add', arguments: '{"a":1}' }]);
  });

  it('is incomplete until its last event, also after [DONE]', () => {
    const { reply } = stream(delta('output_text', 0, 'a'));
    reply.add('[DONE]', []);
    expect([reply.isComplete, reply.length]).toEqual([false, 1]);
    reply.add(JSON.stringify({ type: 'response.incomplete', response: response([], { status: 'incomplete' }) }), []);
    expect([reply.isComplete, reply.result().finishReason]).toEqual([true, 'length']);
  });

  it('is missing if its first event is one of another API', () => {
    const run = () => stream({ object: 'chat.completion.chunk', choices: [] });
    expect(run).toThrow(MissingApiError);
    expect(() => stream({ type: 'error', code: 'rate_limit_exceeded', message: 'slow' })).toThrow(StatusError);
  });
});
