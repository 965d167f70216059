import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { JackdawClient } from '../src/http-client/index.js';
import { keyHolder } from './support/api-keys.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { WaitingTools } from './support/waiting.tool.js';
import { callOf } from './support/waiting-run.js';

const ROOT = keyHolder('root', 'a', 'admin');
const ANN = keyHolder('ann', 'a', 'user');
const BOB = keyHolder('bob', 'a', 'user');

let llm: FakeLlm;
let jackdaw: Jackdaw;

beforeAll(async () => {
  llm = await FakeLlm.start();
  jackdaw = await startJackdaw({
    llm,
    tools: [new WaitingTools()],
    options: {
      agents: [
        { name: 'default', model: { provider: 'openai' } },
        { name: 'sums', model: { provider: 'openai' } },
      ],
      workflows: [{ name: 'greet', nodes: [{ id: 'give', type: 'llm' }] }],
    },
    env: { API_KEYS: [ROOT, ANN, BOB].map(({ entry }) => entry).join(',') },
  });
});
beforeEach(() => {
  llm.reset();
  llm.always({ text: 'The sum is 301.' });
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

async function ask(query: string, { headers } = ANN, agent = 'sums'): Promise<string> {
  return String((await jackdaw.chat({ query, agent }, headers)).body['run_id']);
}

const give = (runId: string, body: object, { headers } = ANN) =>
  jackdaw.post(`/api/runs/${runId}/feedback`, body, headers);
const read = (path: string, { headers } = ROOT) => jackdaw.get(`/api${path}`, headers);

describe('feedback', () => {
  it('is given once for each run and person, and read by those who see the run', async () => {
    const runId = await ask('Calculate 100 + 200');
    expect(await give(runId, { score: 1 })).toMatchObject({
      status: 200,
      body: { run_id: runId, agent: 'sums', score: 1 },
    });
    await give(runId, { score: 0.125, comment: 'wrong' });
    await give(runId, { score: 0.5 }, ROOT);
    const { body } = await read(`/runs/${runId}/feedback`, ANN);
    expect(body['feedback']).toMatchObject([
      { given_by: 'root', score: 0.5, comment: null },
      { given_by: 'ann', score: 0.125, comment: 'wrong' },
    ]);
    expect((await give(runId, { score: 1 }, BOB)).body).toMatchObject({ code: 'RUN_NOT_FOUND' });
    expect((await read('/feedback', BOB)).body).toEqual({ feedback: [], next: null });
    const path = `/api/runs/${runId}/feedback`;
    expect((await jackdaw.delete(path, ANN.headers)).status).toBe(204);
    expect((await jackdaw.delete(path, ANN.headers)).status).toBe(404);
  });

  it('is summed by agent and listed by its conditions, page by page', async () => {
    const from = Date.now();
    const ids = [await ask('one'), await ask('two'), await ask('three', ANN, 'default')];
    await give(ids[0]!, { score: 1 });
    await give(ids[1]!, { score: 0, correction: 'The sum is 300.' });
    await give(ids[2]!, { comment: 'fine' });
    const summary = await read(`/feedback/summary?from=${from}`);
    expect(summary.body['agents']).toEqual([
      { agent: 'default', count: 1, scored: 0, mean_score: null, comments: 1, corrections: 0 },
      { agent: 'sums', count: 2, scored: 2, mean_score: 0.5, comments: 0, corrections: 1 },
    ]);
    const listed = async (query: string) => {
      const { body } = await read(`/feedback?from=${from}&${query}`);
      return (body['feedback'] as unknown as { run_id: string }[]).map(({ run_id }) => run_id);
    };
    expect(await listed('maxScore=0.4')).toEqual([ids[1]]);
    expect(await listed('minScore=.5')).toEqual([ids[0]]);
    expect(await listed('agent=default')).toEqual([ids[2]]);
    const first = await read(`/feedback?from=${from}&limit=2`);
    const rest = await read(`/feedback?from=${from}&limit=2&cursor=${String(first.body['next'])}`);
    const both = [first, rest].flatMap(({ body }) => body['feedback'] as unknown as { run_id: string }[]);
    expect(both.map(({ run_id }) => run_id)).toEqual(ids.toReversed());
    expect(rest.body['next']).toBeNull();
  });

  it('makes a dataset of corrections, or of all completed runs', async () => {
    const from = Date.now();
    const corrected = await ask('Calculate 100 + 200');
    await give(corrected, { score: 0, correction: 'The sum is 300.' });
    const greeting = { input: { prompt: 'hello' }, wait: true };
    const { body: flow } = await jackdaw.post('/api/workflows/greet/runs', greeting, ANN.headers);
    const { body } = await read(`/feedback/dataset?from=${from}&corrected=true`);
    const metadata = { agent: 'sums', score: 0, is_corrected: true };
    const line = { id: corrected, input: 'Calculate 100 + 200', expected: 'The sum is 300.', metadata };
    expect(body['lines']).toMatchObject([line]);
    const all = await read(`/feedback/dataset?from=${from}`);
    expect(all.body['lines']).toMatchObject([{ id: flow['run_id'], input: { prompt: 'hello' } }, line]);
  });

  it('is given by the client', async () => {
    const runId = await ask('hello');
    const client = new JackdawClient({ baseUrl: jackdaw.url, apiKey: ANN.key });
    expect(await client.runs.feedback(runId, { score: 1 })).toMatchObject({ given_by: 'ann', score: 1 });
  });

  it('is erased with the person who gave it', async () => {
    const runId = await ask('hello', ROOT);
    await give(runId, { comment: 'of root' }, ROOT);
    const { body } = await jackdaw.send('/api/users/ann', { method: 'DELETE', headers: ROOT.headers });
    expect(body).toMatchObject({ runs: expect.any(Number) as number });
    const { body: left } = await read('/feedback');
    expect((left['feedback'] as unknown as { given_by: string }[]).map((one) => one.given_by)).not.toContain('ann');
    expect((await read(`/runs/${runId}/feedback`)).body['feedback']).toHaveLength(1);
  });

  it('is refused for an open run', async () => {
    llm.always({ calls: [callOf('pay', { to: 'bob', amount: 5 })] });
    const runId = await ask('pay');
    expect((await give(runId, { score: 1 })).body).toMatchObject({ code: 'REQUEST_REFUSED' });
  });

  it.each([
    [{}, 'score'],
    [{ score: 2 }, 'score'],
    [{ score: '1' }, 'score'],
    [{ comment: ' ' }, 'comment'],
    [{ score: 1, stars: 5 }, 'stars'],
  ])('is refused as %j', async (body, field) => {
    const { status, text } = await give(await ask('hello'), body);
    expect([status, text]).toEqual([400, expect.stringContaining(field)]);
  });
});
