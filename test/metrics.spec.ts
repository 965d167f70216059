import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { Database } from '../src/persistence/index.js';
import { type MetricDefinition, METRICS, MetricsListener } from '../src/telemetry/index.js';
import { keyHolder } from './support/api-keys.js';
import { FakeLlm } from './support/fake-llm.js';
import { type Jackdaw, startJackdaw } from './support/jackdaw.js';
import { tableCells } from './support/markdown-table.js';
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

const scrape = async (url: string) => (await fetch(`${url}/metrics`)).text();

/** The values of the series, by name and labels. */
function seriesIn(text: string): ReadonlyMap<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

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

describe('the metrics of a busy server', () => {
  it('count every run while they are scraped', async () => {
    const jackdaw = await startJackdaw();
    try {
      const RUNS = 60;
      const chats = Array.from({ length: RUNS }, () => jackdaw.chat({ query: 'What is 6 * 7?' }));
      const all = Promise.all(chats);
      const seen: number[] = [];
      const completed = async () =>
        seriesIn(await scrape(jackdaw.url)).get('jackdaw_runs_total{status="completed",agent="default"}') ?? 0;
      for (let n = 0; n < 20; n++) seen.push(await completed());
      await all;
      expect(seen).toEqual(seen.toSorted((a, b) => a - b));
      expect(await completed()).toBe(RUNS);
    } finally {
      await jackdaw.stop();
    }
  });

  it('count the agents beyond the limit as one', async () => {
    const agents = Array.from({ length: 40 }, (_, n) => ({
      name: `agent-${n}`,
      instructions: 'x',
      model: { provider: 'offline' },
    }));
    const jackdaw = await startJackdaw({ options: { agents } });
    try {
      for (const { name } of agents) await jackdaw.chat({ query: 'hi', agent: name });
      const series = seriesIn(await scrape(jackdaw.url));
      const ended = [...series].filter(([name]) => name.startsWith('jackdaw_runs_total'));
      expect(ended).toHaveLength(31);
      expect(series.get('jackdaw_runs_total{status="completed",agent="other"}')).toBe(10);
    } finally {
      await jackdaw.stop();
    }
  });
});

describe('access to the metrics', () => {
  const operator = keyHolder('ops', 'acme', 'operator');
  const admin = keyHolder('ann', 'acme', 'admin');
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    const env = { API_KEYS: `${operator.entry},${admin.entry}`, HTTP_PREFIX: '/base', METRICS_PORT: '0' };
    jackdaw = await startJackdaw({ env });
  });
  afterAll(() => jackdaw.stop());
  const origin = () => new URL(jackdaw.url).origin;

  it('needs the scope `operate`', async () => {
    const path = `${origin()}/base/metrics`;
    expect((await fetch(path)).status).toBe(401);
    const refused = await fetch(path, { headers: admin.headers });
    expect([refused.status, await refused.json()]).toMatchObject([403, { code: 'FORBIDDEN', scope: 'operate' }]);
    expect((await fetch(path, { headers: operator.headers })).status).toBe(200);
  });

  it('is below the prefix only', async () => {
    expect((await fetch(`${origin()}/metrics`, { headers: operator.headers })).status).toBe(404);
  });

  it('needs no key on the own port, which has no other path', async () => {
    const url = `http://127.0.0.1:${jackdaw.app.get(MetricsListener, { strict: false }).port}`;
    expect(await scrape(url)).toContain('jackdaw_runs_active 0');
    expect((await fetch(`${url}/api/agents`)).status).toBe(404);
    expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405);
  });
});

describe('METRICS_PORT', () => {
  it('closes at shutdown, also with an open connection of a scraper', async () => {
    const jackdaw = await startJackdaw({ env: { METRICS_PORT: '0' } });
    const { port } = jackdaw.app.get(MetricsListener, { strict: false });
    const agent = new Agent({ keepAlive: true });
    const reply = get({ port, path: '/metrics', agent });
    const [message] = (await once(reply, 'response')) as [NodeJS.ReadableStream];
    expect(await textOf(message)).toContain('jackdaw_info');
    await jackdaw.stop();
    agent.destroy();
    await expect(fetch(`http://127.0.0.1:${port}/metrics`)).rejects.toThrow('fetch failed');
  });

  it('fails the start if it is in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    try {
      await expect(startJackdaw({ env: { METRICS_PORT: String(port) } })).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
      });
    } finally {
      taken.close();
    }
  });
});

describe('METRICS=off', () => {
  it('serves no metrics, and nothing counts them', async () => {
    const jackdaw = await startJackdaw({ env: { METRICS: 'off' } });
    try {
      expect((await fetch(`${jackdaw.url}/metrics`)).status).toBe(404);
      expect(jackdaw.app.get(MetricsListener, { strict: false }).port).toBeUndefined();
    } finally {
      await jackdaw.stop();
    }
  });
});
