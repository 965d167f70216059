import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

describe('the offline model', () => {
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    jackdaw = await startJackdaw();
  });
  afterAll(() => jackdaw.stop());

  async function ask(query: string, sessionId?: string): Promise<Record<string, unknown>> {
    const { status, body } = await jackdaw.chat({ query, includeDetails: true, ...(sessionId && { sessionId }) });
    expect(status).toBe(200);
    return body;
  }

  it.each(['json', { schema: { type: 'object' } }])(
    'announces before a run that it gives no answer as %j',
    async (responseFormat) => {
      for (const path of ['chat', 'chat/stream', 'runs']) {
        const { status, body } = await jackdaw.post(`/api/agent/${path}`, { query: '1+1', responseFormat });
        expect([status, body['code']]).toEqual([422, 'MODEL_CANNOT_FORMAT']);
        expect(String(body['detail'])).toContain('LLM_PROVIDER');
      }
      expect((await jackdaw.get('/api/runs')).body['runs']).toEqual([]);
    },
  );

  it.each([
    ['three plus four', '7', 1],
    ['一百加二十', '120', 1],
    ['what is 2 to the power of 10?', '1024', 1],
    ['80 的 15%', '12', 1],
    ['what is the square root of 144', '12', 1],
    ['计算 1+1 和 2*3', '1+1 = 2, 2*3 = 6', 2],
    ['1/0', expect.stringMatching(/^The tool calculator failed: .*zero/i), 1],
    ['what time is it in Tokyo?', expect.stringMatching(/^Tokyo: [\d-]{10} [\d:]{8} \(UTC\+09:00\)$/), 1],
    ['time in UTC+2', expect.stringMatching(/^UTC\+2: [\d-]{10} [\d:]{8} \(UTC\+02:00\)$/), 1],
    ['time in UTC+5:30', expect.stringMatching(/\(UTC\+05:30\)$/), 1],
    ['今天几号', expect.stringMatching(/^[\d-]{10}（星期.）$/), 1],
    ['reverse "hello"', 'olleh', 1],
    ['把 hello 变成大写', 'HELLO', 1],
    ['how many words in "to be or not"?', '4', 1],
    ['does "banana" contain "nan"?', 'true', 1],
    ['repeat "ab" 3 times', 'ababab', 1],
    ['thanks!', 'You are welcome!', 0],
    ['Write a poem', expect.stringContaining('OPENAI_API_KEY='), 0],
  ])('answers %s', async (query, result, calls) => {
    const body = await ask(query);
    expect(body).toMatchObject({ result, is_complete: true, iterations: calls > 0 ? 2 : 1 });
    expect(body['tool_results']).toHaveLength(calls);
  });

  it('continues from earlier answers of a session', async () => {
    const { session_id, result } = await ask('计算 100 + 200');
    expect(result).toBe('300');
    const session = session_id as string;
    expect(await ask('再乘以 3', session)).toMatchObject({ result: '900' });
    expect(await ask('and plus 10?', session)).toMatchObject({ result: '910' });
    expect(await ask('thanks', session)).toMatchObject({ tool_results: [] });
    expect(await ask('half of that', session)).toMatchObject({ result: '455' });
    expect(await ask('times 3')).toMatchObject({ result: expect.stringContaining('no result yet') });
  });

  it('streams word by word', async () => {
    const stream = await jackdaw.stream({ query: 'hello' });
    const deltas = (await stream.all()).filter(({ event }) => event === 'message.delta');
    expect(deltas.length).toBeGreaterThan(10);
  });
});
