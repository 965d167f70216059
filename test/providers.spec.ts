import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { TestTools } from './support/test.tool.js';

const PROVIDERS = ['openai', 'anthropic', 'azure', 'deepseek', 'glm', 'ollama', 'openai-compatible'];

/** The end of a run whose reply was cut off in the arguments of a call. */
const CUT = { type: 'run.completed', finish_reason: 'length', is_complete: false, iterations: 1 };
/** The model receives the error that the arguments are not JSON. */
const COMPLETED = { type: 'run.completed', finish_reason: 'stop', is_complete: true, iterations: 2 };
const OPENAI_HALVES = { cut: 'length', whole: 'tool_calls', end: COMPLETED };
/** Claude's calls are JSON within JSON: invalid JSON makes the whole reply invalid. */
const BROKEN = { type: 'run.failed', error: { code: 'MODEL_BAD_REPLY', is_retryable: true } };
const HALVES: Readonly<Record<string, typeof OPENAI_HALVES | { cut: string; whole: string; end: typeof BROKEN }>> = {
  anthropic: { cut: 'max_tokens', whole: 'tool_use', end: BROKEN },
};

describe.each(PROVIDERS)('the application over %s', (provider) => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  const tools = new TestTools();
  beforeAll(async () => {
    llm = await FakeLlm.start();
    const env = { ...llm.envOf(provider), LLM_MODEL: provider === 'anthropic' ? 'claude-haiku-5-5' : 'qwen3' };
    jackdaw = await startJackdaw({ env, tools: [tools] });
  });
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
  });

  it('executes parallel calls, publishes the thoughts, and continues the session', async () => {
    llm
      .reply({
        reasoning: 'Two sums at once.',
        calls: [
          { id: 'a', name: 'double', arguments: { n: 21 } },
          { id: 'b', name: 'double', arguments: { n: 4 } },
        ],
      })
      .reply({ text: '42 and 8.' })
      .reply({ text: 'As I said.' });
    const first = await jackdaw.chat({ query: 'double both', sessionId: 's', includeDetails: true });
    expect(first.body).toMatchObject({
      result: '42 and 8.',
      is_complete: true,
      steps: [
        { action: 'double', thought: 'Two sums at once.', action_input: { n: 21 } },
        { action: 'double', action_input: { n: 4 } },
        { action: 'finish' },
      ],
      tool_results: [
        { success: true, result: 42 },
        { success: true, result: 8 },
      ],
      usage: { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 },
    });
    const second = await jackdaw.chat({ query: 'sure?', sessionId: 's' });
    expect(second.body).toMatchObject({ result: 'As I said.' });
    for (const part of ['double both', '42 and 8.', 'sure?'])
      expect(JSON.stringify(llm.lastRequest.messages)).toContain(part);
  });

  it('streams an answer as it arrives', async () => {
    llm.reply({ text: 'one two three four' });
    const stream = await jackdaw.stream({ query: 'count' });
    await stream.waitFor('run.completed');
    const deltas = stream.events.flatMap(({ data }) => (data.type === 'message.delta' ? [data.text] : []));
    expect(deltas).toEqual(['one', ' two', ' three', ' four']);
  });

  it('executes no call with half of its arguments', async () => {
    const { cut, whole, end } = HALVES[provider] ?? OPENAI_HALVES;
    const before = tools.called.length;
    for (const [finishReason, expected] of [[cut, CUT] as const, [whole, end] as const]) {
      const calls = [{ id: 'a', name: 'double', arguments: '{"n": 2' }];
      llm.reply({ calls, finishReason }).always({ text: 'never mind' });
      const stream = await jackdaw.stream({ query: 'double' });
      expect((await stream.all()).at(-1)!.data).toMatchObject(expected);
      llm.reset();
    }
    expect(tools.called.slice(before)).toEqual([]);
  });

  it('fails a run whose reply is invalid or breaks off', async () => {
    // A page may mean that an address lacks the Responses API: Chat Completions are asked next.
    for (let n = provider === 'openai' ? 2 : 1; n > 0; n--) llm.reply({ status: 200, body: '<html>Login</html>' });
    expect(await jackdaw.chat({ query: 'x' })).toMatchObject({ status: 502, body: { code: 'MODEL_BAD_REPLY' } });
    llm.reply({ text: 'one two three', cutAfter: 3 });
    const stream = await jackdaw.stream({ query: 'x' });
    await stream.waitFor('run.failed');
    expect(stream.events.at(-1)?.data).toMatchObject({ error: { code: 'MODEL_BAD_REPLY', is_retryable: true } });
  });
});

describe('signed thoughts of Claude', () => {
  it('return with their calls, in later turns and from an imported session, too', async () => {
    const llm = await FakeLlm.start();
    const jackdaw = await startJackdaw({ env: llm.envOf('anthropic'), tools: [new TestTools()] });
    llm
      .reply({ reasoning: 'Double it.', text: 'I look.', calls: [{ id: 'a', name: 'double', arguments: { n: 1 } }] })
      .always({ reasoning: 'Easy.', text: 'Two.' });
    const { body } = await jackdaw.chat({ query: 'double 1', sessionId: 'signed', includeDetails: true });
    expect(body['steps']).toMatchObject([{ thought: 'Double it.' }, { thought: 'Easy.' }]);
    const { body: session } = await jackdaw.get('/api/sessions/signed/export');
    expect(await jackdaw.post('/api/sessions/import', { session, id: 'copy' })).toMatchObject({ status: 201 });
    for (const sessionId of ['signed', 'copy']) await jackdaw.chat({ query: 'sure?', sessionId });
    const signed = { type: 'thinking', thinking: 'Double it.', signature: 'signed-by-the-fake' };
    for (const { messages } of llm.requests.slice(1)) {
      expect(messages[1]).toMatchObject({ content: [signed, { type: 'text' }, { type: 'tool_use', id: 'a' }] });
    }
    // Without calls they are not sent back.
    expect(JSON.stringify(llm.lastRequest)).not.toContain('Easy.');
    await jackdaw.chat({ query: 'sure?', sessionId: 'copy', model: 'claude-sonnet-5-5' });
    expect(JSON.stringify(llm.lastRequest)).not.toContain('signed-by-the-fake');
    await jackdaw.stop();
    await llm.close();
  });
});
