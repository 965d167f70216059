import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { readFileSync } from 'node:fs';
import { Database } from '../src/persistence/index.js';
import { type MetricDefinition, METRICS } from '../src/telemetry/index.js';
import { FakeLlm } from './support/fake-llm.js';
import { type Jackdaw, startJackdaw } from './support/jackdaw.js';
import { tableCells } from './support/markdown-table.js';
import { scrape, seriesIn } from './support/metrics.js';
import { hasPromtool, promtool } from './support/promtool.js';
import { TestTools } from './support/test.tool.js';

const MODEL = {
  LLM_MODEL: 'gpt-4o',
  LLM_PRICES: '{"gpt-4o": {"input": 10, "output": 100}, "gpt-4o-mini": {"input": 1, "output": 1}}',
};
const RETRIES = {
  LLM_FALLBACK: 'openai:gpt-4o-mini',
  LLM_MAX_ATTEMPTS: '2',
  LLM_RETRY_DELAY_MS: '0',
  LLM_BREAKER_FAILURES: '5',
};

const namesIn = (text: string) => [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name!);

describe('GET /metrics', () => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  let text: string;
  beforeAll(async () => {
    llm = await FakeLlm.start();
    const env = { ...MODEL, ...RETRIES, LLM_MAX_TOKENS: '10', BUDGET_DAY: 'tokens=100000' };
    jackdaw = await startJackdaw({ llm, env, tools: [new TestTools()] });
    llm
      .reply({ calls: [{ name: 'double', arguments: { n: 2 } }], usage: [50, 10] })
      .reply({ text: '4', usage: [60, 5] });
    await jackdaw.chat({ query: 'double 2' });
    llm
      .reply({ calls: [{ name: 'double', arguments: { n: 'x' } }], usage: [10, 1] })
      .reply({ text: 'no', usage: [10, 1] });
    await (await jackdaw.stream({ query: 'double x' })).waitFor('run.completed');
    llm.reply({ status: 500, body: {} }, { status: 500, body: {} }, { text: 'from the other', usage: [1, 1] });
    await jackdaw.chat({ query: 'fall back' });
    llm.always({ status: 400, body: { error: { message: 'no' } } });
    await jackdaw.chat({ query: 'fail' });
    text = await scrape(jackdaw.url);
  });
  afterEach(() => vi.restoreAllMocks());
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
  });

  it('counts runs, tokens, cost, retries, fallbacks and failures', () => {
    const series = seriesIn(text);
    expect(
      Object.fromEntries(
        [...series].filter(([name]) => /^jackdaw_(runs_total|run_f|tok|cost|model|tool_e)/.test(name)),
      ),
    ).toEqual({
      'jackdaw_runs_total{status="completed",agent="default"}': 3,
      'jackdaw_runs_total{status="failed",agent="default"}': 1,
      'jackdaw_run_failures_total{code="MODEL_REFUSED"}': 1,
      'jackdaw_tokens_total{kind="input",model="gpt-4o"}': 130,
      'jackdaw_tokens_total{kind="output",model="gpt-4o"}': 17,
      'jackdaw_tokens_total{kind="input",model="gpt-4o-mini"}': 1,
      'jackdaw_tokens_total{kind="output",model="gpt-4o-mini"}': 1,
      'jackdaw_cost_total{model="gpt-4o"}': expect.closeTo(0.003, 9) as number,
      'jackdaw_cost_total{model="gpt-4o-mini"}': expect.closeTo(0.000002, 9) as number,
      jackdaw_model_cached_total: 0,
      'jackdaw_model_errors_total{provider="openai",code="MODEL_UNAVAILABLE"}': 2,
      'jackdaw_model_errors_total{provider="openai",code="MODEL_REFUSED"}': 1,
      'jackdaw_model_retries_total{provider="openai"}': 1,
      'jackdaw_model_fallbacks_total{from="openai:gpt-4o",to="openai:gpt-4o-mini"}': 1,
      'jackdaw_tool_errors_total{tool="double"}': 1,
    });
  });

  it('measures calls of models and tools, commits, the delay of the queue, and the process', () => {
    const series = seriesIn(text);
    const model = 'gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="gpt-4o"';
    expect(series.get(`gen_ai_client_operation_duration_seconds_count{${model}}`)).toBe(7);
    expect(series.get(`gen_ai_client_operation_duration_seconds_bucket{${model},le="81.92"}`)).toBe(7);
    const streamed = 'gen_ai_provider_name="openai",gen_ai_request_model="gpt-4o"';
    expect(series.get(`gen_ai_client_operation_time_to_first_chunk_seconds_count{${streamed}}`)).toBe(2);
    expect(series.get('jackdaw_tool_duration_seconds_count{tool="double"}')).toBe(2);
    expect(series.get('jackdaw_queue_delay_seconds_count')).toBe(4);
    expect(series.get('jackdaw_commit_duration_seconds_count')).toBeGreaterThanOrEqual(8);
    expect(series.get('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
    expect(series.get('process_cpu_seconds_total')).toBeGreaterThan(0);
  });

  it('reports the present load, circuits, budgets and the storage', () => {
    const series = seriesIn(text);
    expect(series.get('jackdaw_runs_active')).toBe(0);
    expect(series.get('jackdaw_queue_depth')).toBe(0);
    expect(series.get('jackdaw_runs_waiting')).toBe(0);
    expect(series.get('jackdaw_circuit_open{provider="openai",model="gpt-4o"}')).toBe(0);
    expect(series.get('jackdaw_budget_remaining_ratio{unit="tokens",agent=""}')).toBeCloseTo(1 - 149 / 100_000, 9);
    expect(series.get('jackdaw_storage_up')).toBe(1);
  });

  it('contains no id of a run, a session, a tenant or a principal', async () => {
    const { body } = await jackdaw.get('/api/runs?limit=1');
    const [{ id }] = body['runs'] as unknown as [{ id: string }];
    expect(text).not.toContain(id);
    const labels = new Set([...text.matchAll(/[{,](\w+)="/g)].map(([, label]) => label));
    expect([...labels].filter((label) => /id$|tenant|session|principal|user/.test(label!))).toEqual([]);
  });

  it('answers without the values of a database that is not available', async () => {
    vi.spyOn(jackdaw.app.get(Database), 'query').mockRejectedValue(new Error('disk I/O error'));
    const series = seriesIn(await scrape(jackdaw.url));
    expect(series.has('jackdaw_queue_depth')).toBe(false);
    expect(series.get('jackdaw_runs_active')).toBe(0);
  });

  it('has the media type of Prometheus’s text format', async () => {
    const { headers } = await fetch(`${jackdaw.url}/metrics`);
    expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  });

  describe.skipIf(!hasPromtool)('with promtool (.ci/promtool, or PROMTOOL_PATH)', () => {
    it('passes `promtool check metrics`', async () => {
      expect(await promtool(['check', 'metrics'], text)).toEqual({ code: 0, output: '' });
    });

    it('has valid alert rules, which fire when they should', async () => {
      expect(await promtool(['check', 'rules', 'deploy/prometheus/alerts.yml'])).toMatchObject({ code: 0 });
      const { code, output } = await promtool(['test', 'rules', 'test/fixtures/alerts.test.yml']);
      expect({ code, output }).toMatchObject({ code: 0 });
    });
  });

  it.each(['deploy/grafana/jackdaw.json', 'deploy/prometheus/alerts.yml'])('has every metric that %s reads', (file) => {
    const names = namesIn(text);
    const used = readFileSync(file, 'utf8').match(/\b(?:jackdaw|gen_ai|nodejs|process)_\w*[a-z]\b(?=[{[(\s)]|$)/gm)!;
    const metrics = new Set(used.filter((name) => !/^gen_ai_(provider|request|operation)_\w*(name|model)$/.test(name)));
    expect(metrics.size).toBeGreaterThan(8);
    const known = new Set(names.flatMap((name) => [name, `${name}_bucket`]));
    expect([...metrics].filter((name) => !known.has(name))).toEqual([]);
  });

  it('has exactly the metrics of the table in docs/metrics.md', () => {
    const names = namesIn(text);
    const rows = tableCells(readFileSync('docs/metrics.md', 'utf8')).filter(([, type]) =>
      /^(counter|gauge|histogram)$/.test(type ?? ''),
    );
    const documented = rows.map(([name, type, labels, meaning]) => [name, type, labels, meaning]);
    const expected = Object.entries<MetricDefinition>(METRICS).map(([name, { type, help, fixed = {}, open = [] }]) => [
      `\`${name}\``,
      type,
      [...Object.keys(fixed), ...open].map((label) => `\`${label}\``).join(', '),
      help,
    ]);
    expect(documented).toEqual(expected);
    expect(names).toEqual(Object.keys(METRICS));
  });
});
