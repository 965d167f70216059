import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { FakeLlm } from './support/fake-llm.js';
import { type Jackdaw, startJackdaw } from './support/jackdaw.js';
import { scrape, seriesIn } from './support/metrics.js';
import { OtlpCollector } from './support/otlp-collector.js';
import { restoreProcess } from './support/process-defaults.js';
import type { ServerResponse } from 'node:http';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

let llm: FakeLlm;
let collector: OtlpCollector;
let jackdaw: Jackdaw | undefined;

beforeEach(async () => {
  llm = await FakeLlm.start();
  llm.always({ text: 'hello', usage: [5, 1] });
  collector = await OtlpCollector.start();
});
afterEach(async () => {
  await stop();
  await collector.close();
  await llm.close();
});

async function start(env: Readonly<Record<string, string>> = {}): Promise<Jackdaw> {
  jackdaw = await startJackdaw({ llm, env: { LOG_LEVEL: 'warn', ...collector.env, ...env } });
  return jackdaw;
}

async function stop(): Promise<void> {
  await jackdaw?.stop();
  jackdaw = undefined;
  // The log of a process is that of its first application.
  restoreProcess();
}

const dropsIn = (server: Jackdaw) => server.log.filter(({ msg }) => String(msg).startsWith('Spans dropped'));
function answerWith(status: number, headers = {}): (response: ServerResponse) => void {
  return (response) => response.writeHead(status, { 'content-type': 'application/json', ...headers }).end('{}');
}

describe('the export of traces', () => {
  it('sends headers and attributes of the service', async () => {
    const server = await start({
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20abc,x-tenant=a',
      OTEL_SERVICE_NAME: 'desk',
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=ignored,deployment.environment.name=test%20one',
    });
    await server.chat({ query: 'q' });
    await collector.waitFor('invoke_agent default');
    const [{ headers, path, body }] = collector.requests as [(typeof collector.requests)[0]];
    expect(headers).toMatchObject({ authorization: 'Basic abc', 'x-tenant': 'a' });
    expect(path).toBe('/v1/traces');
    expect(body.resourceSpans[0]!.resource.attributes).toEqual([
      { key: 'service.name', value: { stringValue: 'desk' } },
      { key: 'deployment.environment.name', value: { stringValue: 'test one' } },
    ]);
  });

  it('does not let a run wait for a collector that never answers', async () => {
    collector.answer = () => undefined;
    const server = await start();
    await server.chat({ query: 'first' });
    await collector.waitForRequests(1);
    // The request is still open.
    expect(await server.chat({ query: 'second' })).toMatchObject({ status: 200, body: { result: 'hello' } });
    expect(collector.spans).toEqual([]);
  });

  it('does not let a run wait for an unreachable collector', async () => {
    const server = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await closedPort()}` });
    expect(await server.chat({ query: 'q' })).toMatchObject({ status: 200 });
    await stop();
    expect(dropsIn(server)).toHaveLength(1);
  });

  it('drops spans that the collector refuses, counts them, and logs them once', async () => {
    collector.answer = answerWith(500);
    const server = await start();
    await server.chat({ query: 'first' });
    await collector.waitForRequests(1);
    await server.chat({ query: 'second' });
    await collector.waitForRequests(2);
    collector.answer = answerWith(200);
    await server.chat({ query: 'third' });
    // Requests are sent one after another.
    await collector.waitFor('invoke_agent default');
    const series = seriesIn(await scrape(server.url));
    expect(series.get('jackdaw_spans_total{outcome="dropped"}')).toBe(4);
    expect(dropsIn(server)).toMatchObject([
      { msg: 'Spans dropped; the collector failed: it answered with status 500', context: 'Traces' },
    ]);
  });

  it.each([429, 502, 503, 504])('sends spans again after status %i, at the time of Retry-After', async (code) => {
    let count = 0;
    collector.answer = (response) => answerWith(count++ === 0 ? code : 200, { 'retry-after': '0' })(response);
    const server = await start();
    await server.chat({ query: 'q' });
    await collector.waitFor('invoke_agent default');
    expect(dropsIn(server)).toEqual([]);
  });

  it('sends the last spans at a stop', async () => {
    const server = await start({ OTEL_BSP_SCHEDULE_DELAY: '60000' });
    await server.chat({ query: 'q' });
    expect(collector.arrived).toBe(0);
    await stop();
    expect(collector.spans.map(({ name }) => name)).toContain('invoke_agent default');
  });

  it('is off without an endpoint, and with OTEL_SDK_DISABLED', async () => {
    const server = await start({ OTEL_SDK_DISABLED: 'true' });
    await server.chat({ query: 'q' });
    await stop();
    expect(collector.arrived).toBe(0);
    expect(llm.envelopes[0]!.headers).not.toHaveProperty('traceparent');
  });

  it.each(['grpc', 'http/protobuf'])('refuses the protocol %s', async (protocol) => {
    await expect(start({ OTEL_EXPORTER_OTLP_PROTOCOL: protocol })).rejects.toThrow(
      /OTEL_EXPORTER_OTLP_PROTOCOL.*http\/json, the only supported protocol/s,
    );
  });
});

describe('the sampler', () => {
  it.each([
    ['traceidratio of 0', { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }, '01'],
    ['always_off', { OTEL_TRACES_SAMPLER: 'always_off' }, '01'],
    ['a parent that is not sampled', {}, '00'],
  ])('sends nothing with %s, and says so to the model', async (_name, env, flags) => {
    const server = await start(env);
    await server.chat({ query: 'q' }, { traceparent: `00-${TRACE}-${PARENT}-${flags}` });
    expect(llm.envelopes[0]!.headers['traceparent']).toMatch(new RegExp(`^00-${TRACE}-[\\da-f]{16}-00$`));
    await stop();
    expect(collector.arrived).toBe(0);
  });

  it('ignores an invalid traceparent', async () => {
    const server = await start();
    await server.chat({ query: 'q' }, { traceparent: `00-${'0'.repeat(32)}-${PARENT}-01` });
    expect(await collector.waitFor('invoke_agent default')).not.toHaveProperty('parentSpanId');
  });
});

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { readonly port: number };
  server.close();
  await once(server, 'close');
  return port;
}
