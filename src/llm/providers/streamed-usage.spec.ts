import { describe, expect, it } from 'vitest';
import { StreamReplyBuilder as AnthropicReply } from './anthropic/stream-reply.builder.js';
import { StreamReplyBuilder as OpenAiReply } from '../openai-wire/stream-reply.builder.js';

type Chunk = Readonly<Record<string, unknown>>;

const text = (content: string, usage?: object): Chunk => ({
  choices: [{ delta: { content } }],
  ...(usage && { usage }),
});
const end = { choices: [{ delta: {}, finish_reason: 'stop' }] };
const counted = (prompt_tokens: unknown, completion_tokens: unknown, total_tokens?: unknown): Chunk => {
  return { prompt_tokens, completion_tokens, total_tokens };
};

function openAiUsage(...chunks: readonly Chunk[]) {
  const reply = new OpenAiReply({ provider: 'openai', model: 'm' });
  for (const chunk of chunks) reply.add(JSON.stringify(chunk), []);
  return reply.result().usage;
}

describe('usage in an OpenAI stream', () => {
  const whole = { promptTokens: 50, completionTokens: 40, totalTokens: 90 };

  it.each<[string, readonly Chunk[]]>([
    ['in its last chunk', [text('a'), end, { choices: [], usage: counted(50, 40, 90) }]],
    ['in every chunk, growing', [text('a', counted(50, 20, 70)), text('b', counted(50, 40, 90)), end]],
    ['with zeros after it', [text('a'), end, { usage: counted(50, 40, 90) }, { usage: counted(0, 0, 0) }]],
    ['split over two chunks', [{ usage: counted(50, 0, 50) }, text('a'), end, { usage: counted(null, 40) }]],
    ['beside its finish reason', [text('a'), { ...end, usage: counted(50, 40, 90) }]],
  ])('is complete %s', (_where, chunks) => {
    expect(openAiUsage(...chunks)).toEqual(whole);
  });

  it('has no completion if text follows the last count', () => {
    expect(openAiUsage(text('a', counted(50, 1, 51)), text('b'), end)).toEqual({
      promptTokens: 50,
      completionTokens: 0,
      totalTokens: 50,
    });
    expect(openAiUsage({ usage: counted(0, 0, 0) }, text('b'), end)).toBeUndefined();
  });

  it('counts a tool call as a part of the reply', () => {
    const call = { index: 0, id: 'c', function: { name: 'add', arguments: '{"a":1}' } };
    const chunks = [text('', counted(50, 1, 51)), { choices: [{ delta: { tool_calls: [call] } }] }, end];
    expect(openAiUsage(...chunks)).toMatchObject({ completionTokens: 0 });
  });
});

describe('usage in an Anthropic stream', () => {
  const usageOf = (start: object, delta?: object) => {
    const reply = new AnthropicReply('m');
    const events = [
      { type: 'message_start', message: { usage: start } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'many words' } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, ...(delta && { usage: delta }) },
      { type: 'message_stop' },
    ];
    for (const event of events) reply.add(JSON.stringify(event), []);
    return reply.result().usage;
  };
  const start = { input_tokens: 20, cache_read_input_tokens: 30, output_tokens: 1 };

  it('adds up the prompt and takes the output count of the end', () => {
    const whole = { promptTokens: 50, completionTokens: 40, totalTokens: 90, cachedTokens: 30 };
    expect(usageOf(start, { output_tokens: 40 })).toEqual(whole);
    expect(usageOf(start, { input_tokens: 20, output_tokens: 40, cache_read_input_tokens: null })).toEqual(whole);
  });

  it('has no completion if only its start has counts', () => {
    expect(usageOf(start)).toMatchObject({ promptTokens: 50, completionTokens: 0 });
    expect(usageOf({ input_tokens: 0, output_tokens: 0 }, { output_tokens: 0 })).toBeUndefined();
  });
});
