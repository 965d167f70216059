import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { MetricRegistry, MetricsListener } from '../src/telemetry/index.js';
import { Tool } from '../src/tool/method/index.js';
import { AgentHost } from './support/agent-host.js';
import { keyHolder } from './support/api-keys.js';
import { FakeLlm } from './support/fake-llm.js';
import { gate, type Jackdaw, startJackdaw } from './support/jackdaw.js';
import { scrape, seriesIn } from './support/metrics.js';
import { freePort } from './support/free-port.js';
import { eventually } from './support/eventually.js';

class PayTools {
  @Tool({ description: 'Pays.', effect: 'read', approval: 'always' })
  pay(): string {
    return 'paid';
  }
}

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

  it('report the runs that execute, are queued, and wait for a person', async () => {
    const llm = await FakeLlm.start();
    const jackdaw = await startJackdaw({ llm, tools: [new PayTools()] });
    const { opened, open } = gate();
    const load = async () => {
      const series = seriesIn(await scrape(jackdaw.url));
      return ['runs_active', 'queue_depth', 'runs_waiting'].map((name) => series.get(`jackdaw_${name}`));
    };
    try {
      llm.reply({ calls: [{ name: 'pay', arguments: '{}' }] });
      expect((await jackdaw.chat({ query: 'pay' })).status).toBe(202);
      llm.reply({ text: 'first', gate: opened }).reply({ text: 'second' });
      const first = jackdaw.chat({ query: 'first', sessionId: 's' });
      await llm.waitForRequest(2);
      await jackdaw.post('/api/agent/runs', { query: 'second', sessionId: 's' });
      expect(await load()).toEqual([1, 1, 1]);
      open();
      await first;
      await eventually(async () => expect(await load()).toEqual([0, 0, 1]));
      const delays = seriesIn(await scrape(jackdaw.url));
      expect(delays.get('jackdaw_queue_delay_seconds_sum')).toBeGreaterThan(0);
      expect(delays.get('jackdaw_runs_waiting_oldest_seconds')).toBeGreaterThan(0);
    } finally {
      open();
      await jackdaw.stop();
      await llm.close();
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

describe('the metrics of an agent of createAgent', () => {
  it('are served on JACKDAW_METRICS_PORT', async () => {
    const agents = new AgentHost();
    const port = await freePort();
    const agent = await agents.start({
      config: { ...agents.environment(), JACKDAW_METRICS_PORT: String(port) },
      builtinTools: true,
    });
    try {
      await agent.chat('What is 6 * 7?');
      const text = await scrape(`http://127.0.0.1:${port}`);
      expect(text).toContain('jackdaw_runs_total{status="completed",agent="default"} 1');
    } finally {
      await agents.stop();
    }
    await expect(fetch(`http://127.0.0.1:${port}/metrics`)).rejects.toThrow('fetch failed');
  });
});

describe('METRICS=off', () => {
  it('serves no metrics, and nothing counts them', async () => {
    const jackdaw = await startJackdaw({ env: { METRICS: 'off' } });
    try {
      expect((await fetch(`${jackdaw.url}/metrics`)).status).toBe(404);
      await jackdaw.chat({ query: 'What is 6 * 7?' });
      expect(await jackdaw.app.get(MetricRegistry, { strict: false }).text()).not.toMatch(/^jackdaw_runs_total/m);
      expect(jackdaw.app.get(MetricsListener, { strict: false }).port).toBeUndefined();
    } finally {
      await jackdaw.stop();
    }
  });
});
