import { describe, expect, it } from 'vitest';
import { MetricRegistry, type Sample } from './metric.registry.js';
import { MAX_SERIES, maxSeriesOf, type MetricDefinition, type MetricName, METRICS } from './metric-table.js';

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

/** One value for each combination of the values in the table, with `n` for those from outside. */
function labelsOf({ fixed = {}, open = [] }: MetricDefinition, n: number): Record<string, string>[] {
  const outside = Object.fromEntries(open.map((name) => [name, `${name} ${n}`]));
  return Object.entries(fixed).reduce(
    (all, [name, values]) => all.flatMap((labels) => values.map((value) => ({ ...labels, [name]: value }))),
    [outside],
  );
}

describe('MetricRegistry', () => {
  it('has at most 1,000 series, whatever comes from outside', async () => {
    const metrics = new MetricRegistry(true);
    const samples: Sample[] = [];
    for (const [name, definition] of Object.entries<MetricDefinition>(METRICS) as [MetricName, MetricDefinition][]) {
      const given = Array.from({ length: 2_000 }, (_, n) => labelsOf(definition, n)).flat();
      if (definition.type === 'counter') for (const labels of given) metrics.count(name, labels);
      if (definition.type === 'histogram') for (const labels of given) metrics.observe(name, 0.1, labels);
      if (definition.type === 'gauge') for (const labels of given) samples.push([name, 1, labels]);
    }
    metrics.collect(() => samples);
    const lines = linesOf(await metrics.text());
    const most = Object.values<MetricDefinition>(METRICS).reduce((sum, one) => sum + maxSeriesOf(one), 0);
    expect(lines.length).toBe(most);
    expect(most).toBeLessThanOrEqual(MAX_SERIES);
    expect(lines).toContain('jackdaw_runs_total{status="failed",agent="agent 29"} 1');
    expect(lines).toContain('jackdaw_runs_total{status="failed",agent="other"} 1970');
  });

  it('writes a histogram with cumulative buckets', async () => {
    const metrics = new MetricRegistry(true);
    for (const seconds of [0.002, 0.02, 3, 100]) metrics.observe('jackdaw_commit_duration_seconds', seconds);
    const lines = linesOf(await metrics.text()).filter((line) => line.startsWith('jackdaw_commit'));
    expect(lines).toEqual([
      ...[
        ['0.001', 0],
        ['0.005', 1],
        ['0.02', 2],
        ['0.1', 2],
        ['0.5', 2],
        ['1', 2],
        ['5', 3],
        ['10', 3],
        ['60', 3],
        ['+Inf', 4],
      ].map(([le, count]) => `jackdaw_commit_duration_seconds_bucket{le="${le}"} ${count}`),
      'jackdaw_commit_duration_seconds_sum 103.022',
      'jackdaw_commit_duration_seconds_count 4',
    ]);
  });

  it('escapes, shortens and repairs the values of labels', async () => {
    const metrics = new MetricRegistry(true);
    metrics.count('jackdaw_tool_errors_total', { tool: 'a"b\\c\nd' });
    metrics.count('jackdaw_tool_errors_total', { tool: '\uD800' });
    metrics.count('jackdaw_tool_errors_total', { tool: 'x'.repeat(500) });
    expect(await metrics.text()).toContain(
      [
        String.raw`jackdaw_tool_errors_total{tool="a\"b\\c\nd"} 1`,
        'jackdaw_tool_errors_total{tool="\uFFFD"} 1',
        `jackdaw_tool_errors_total{tool="${'x'.repeat(100)}"} 1`,
      ].join('\n'),
    );
  });

  it('reads its sources at each scrape, and leaves out those that fail', async () => {
    const metrics = new MetricRegistry(true);
    let servers = ['a', 'b'];
    metrics.collect(() => servers.map((server): Sample => ['jackdaw_mcp_server_up', 1, { server }]));
    metrics.collect(() => Promise.reject(new Error('no answer')));
    metrics.collect(() => {
      throw new Error('no source');
    });
    expect(await metrics.text()).toContain('jackdaw_mcp_server_up{server="b"} 1');
    servers = ['a'];
    const text = await metrics.text();
    expect(text).toContain('jackdaw_mcp_server_up{server="a"} 1');
    expect(text).not.toContain('server="b"');
  });

  it('shares one reading of the sources among simultaneous scrapes', async () => {
    const metrics = new MetricRegistry(true);
    let readings = 0;
    metrics.collect(async () => {
      readings++;
      return [];
    });
    await Promise.all([metrics.text(), metrics.text(), metrics.text()]);
    expect(readings).toBe(1);
    await metrics.text();
    expect(readings).toBe(2);
  });
});
