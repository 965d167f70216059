import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

describe.each(['native', 'react', 'xml'])('the offline model with the protocol %s', (protocol) => {
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    jackdaw = await startJackdaw({ env: { LLM_PROTOCOL: protocol } });
  });
  afterAll(() => jackdaw.stop());

  it('calls real tools, several at once, and answers', async () => {
    const one = await jackdaw.chat({ query: '计算 100 + 200', includeDetails: true });
    expect(one.body).toMatchObject({
      result: '300',
      iterations: 2,
      tool_results: [{ tool: 'calculator', success: true, result: '300' }],
    });
    const two = await jackdaw.chat({ query: 'what is 2+2 and 5*5?', includeDetails: true });
    expect(two.body['tool_results']).toMatchObject([{ result: '4' }, { result: '25' }]);
  });

  it('continues from the earlier turns of the session', async () => {
    const sessionId = 'sums';
    await jackdaw.chat({ query: 'what is 6 * 7?', sessionId });
    expect((await jackdaw.chat({ query: 'and times 3?', sessionId })).body).toMatchObject({ result: '126' });
  });

  it('streams words without protocol markup', async () => {
    const stream = await jackdaw.stream({ query: 'who are you?' });
    await stream.waitFor('run.completed');
    const deltas = stream.events.flatMap(({ data }) => (data.type === 'message.delta' ? [data.text] : []));
    expect(deltas.length).toBeGreaterThan(3);
    expect(deltas.join('')).toContain('offline model');
    expect(deltas.join('')).not.toMatch(/Final Answer|Thought:|<\/?invoke/);
  });
});
