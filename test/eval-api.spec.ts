import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { JackdawClient } from '../src/http-client/index.js';
import { compareReports } from '../src/testing/eval/comparison.mapper.js';
import type { EvalReport } from '../src/testing/eval/index.js';
import { keyHolder } from './support/api-keys.js';
import { evalReport } from './support/eval-reports.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

const ROOT = keyHolder('root', 'a', 'admin|operator');
const ANN = keyHolder('ann', 'a', 'user');

let jackdaw: Jackdaw;
let client: JackdawClient;
beforeAll(async () => {
  const keys = [ROOT, ANN].map(({ entry }) => entry).join(',');
  jackdaw = await startJackdaw({ env: { LLM_PROVIDER: 'offline', API_KEYS: keys } });
  client = new JackdawClient({ baseUrl: jackdaw.url, apiKey: ANN.key });
});
afterAll(() => jackdaw.stop());

const store = (report: unknown, { headers } = ANN, others: Readonly<Record<string, string>> = {}) =>
  jackdaw.post('/api/evals', { report }, { ...headers, ...others });

describe('the reports of evals', () => {
  it('are stored, listed without results, read whole, and deleted', async () => {
    const report = evalReport({ name: 'whole' });
    const { id } = await client.evals.create({ report: { ...report, comparison: { baseline: 'x' } } });
    const { results, ...figures } = report;
    const listed = await client.evals.list({ name: 'whole' });
    expect(listed).toEqual({
      evals: [{ id, created_by: 'ann', created_at: expect.any(Number) as number, report: figures }],
      next: null,
    });
    const read = await client.evals.get(id);
    expect(read.report).toEqual({ ...figures, results });
    const baseline = read.report as unknown as EvalReport;
    expect(compareReports(baseline, baseline)).toMatchObject({ lines: 1, passRate: { verdict: 'within noise' } });
    await client.evals.delete(id);
    expect((await jackdaw.get(`/api/evals/${id}`, ANN.headers)).body).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('are listed in pages, newest first', async () => {
    for (let at = 0; at < 5; at++) await store(evalReport({ name: 'pages', id: String(at) }));
    const ids: unknown[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await client.evals.list({ name: 'pages', limit: 2, ...(cursor && { cursor }) });
      ids.push(...page.evals.map(({ report }) => report['id']));
      cursor = page.next;
    }
    expect(new Set(ids)).toEqual(new Set(['0', '1', '2', '3', '4']));
  });

  it('are stored once for each Idempotency-Key', async () => {
    const [first, again] = [
      await store(evalReport(), ANN, { 'idempotency-key': 'once' }),
      await store(evalReport(), ANN, { 'idempotency-key': 'once' }),
    ];
    expect(again.body).toEqual(first.body);
  });

  it('may have 5,000 results', async () => {
    const [result] = evalReport().results;
    const results = Array.from({ length: 5_000 }, (_, at) => ({
      ...result,
      line: `line-${at}`,
      text: 'x'.repeat(300),
    }));
    const { status, body } = await store(evalReport({ results }));
    expect(status).toBe(201);
    const { report } = await client.evals.get(String(body['id']));
    expect(report['results']).toHaveLength(5_000);
  });

  it.each([
    [undefined, 'report'],
    [{}, 'report.name'],
    [evalReport({ passrate: 1 }), 'passrate'],
    [evalReport({ isPassed: 'yes' }), 'report.isPassed'],
    [evalReport({ results: [{ ...evalReport().results[0], scores: { exact: { score: 2, reason: '' } } }] }), 'score'],
  ])('are refused as %j', async (report, field) => {
    const { status, text } = await store(report);
    expect([status, text]).toEqual([400, expect.stringContaining(field)]);
  });

  it('are erased with the person who stored them', async () => {
    const { body } = await store(evalReport({ name: 'erased' }));
    await jackdaw.send('/api/users/ann', { method: 'DELETE', headers: ROOT.headers });
    expect((await jackdaw.get(`/api/evals/${String(body['id'])}`, ROOT.headers)).status).toBe(404);
  });
});
