import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AsyncLocalStorage } from 'node:async_hooks';
import { Tool } from '../src/tool/method/index.js';
import { FakeLlm } from './support/fake-llm.js';
import { type Jackdaw, startJackdaw, type StartOptions } from './support/jackdaw.js';
import { ScriptedWeb } from './support/mcp/scripted-web.js';
import { OtlpCollector } from './support/otlp-collector.js';
import { WebServer } from './support/web-server.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const TRACEPARENT = { traceparent: `00-${TRACE}-b7ad6b7169203331-01` };
const API = Symbol.for('opentelemetry.js.api.1');
const SPAN = Symbol.for('OpenTelemetry Context Key SPAN');

let llm: FakeLlm;
let collector: OtlpCollector;
let jackdaw: Jackdaw | undefined;

beforeEach(async () => {
  llm = await FakeLlm.start();
  collector = await OtlpCollector.start();
});
afterEach(async () => {
  await jackdaw?.stop();
  jackdaw = undefined;
  await collector.close();
  await llm.close();
});

/** A run with one call of a tool. @returns the span of the call */
async function callOf(tool: string, args: Readonly<Record<string, unknown>>, options: StartOptions) {
  jackdaw = await startJackdaw({ llm, ...options, env: { ...collector.env, ...options.env } });
  llm.reply({ calls: [{ name: tool, arguments: args }] }).reply({ text: 'done' });
  expect(await jackdaw.chat({ query: 'go' }, TRACEPARENT)).toMatchObject({ status: 200 });
  return collector.waitFor(`execute_tool ${tool}`);
}

describe('the span of a call', () => {
  it('is the parent of the request of a REST tool', async () => {
    const web = await WebServer.start();
    web.json('/stock', { left: 3 });
    const declaration = {
      name: 'stock',
      description: 'Stock.',
      method: 'GET',
      url: `${web.url}/stock`,
      effect: 'read',
    };
    const span = await callOf(
      'stock',
      {},
      {
        env: { OUTGOING_ALLOW: '127.0.0.1' },
        options: { restTools: [declaration as never] },
      },
    );
    expect(web.requests.map(({ headers }) => headers['traceparent'])).toEqual([`00-${TRACE}-${span.spanId}-01`]);
    await web.close();
  });

  it('is the parent of the call of an MCP tool, in its _meta, and has the method', async () => {
    const peer = await ScriptedWeb.start();
    const span = await callOf(
      'web__good',
      {},
      {
        env: { OUTGOING_ALLOW: '127.0.0.1' },
        options: { mcpServers: [{ name: 'web', enabled: true, type: 'http', http: { url: peer.url } }] },
      },
    );
    const sent = peer.bodies.map((body) => JSON.parse(body) as { method: string; params?: { _meta?: object } });
    expect(sent.find(({ method }) => method === 'tools/call')?.params?._meta).toMatchObject({
      traceparent: `00-${TRACE}-${span.spanId}-01`,
    });
    expect(span.attributes).toMatchObject({ 'mcp.method.name': 'tools/call' });
    await jackdaw!.stop();
    jackdaw = undefined;
    await peer.close();
  });

  it('is the present span of the application in the handler of a tool', async () => {
    const seen: unknown[] = [];
    class SpanTools {
      @Tool({ description: 'Looks.', effect: 'read' })
      async look(): Promise<string> {
        await Promise.resolve();
        seen.push(registration.context.active().getValue(SPAN)?.spanContext());
        return 'seen';
      }
    }
    const registration = registerContexts();
    try {
      const span = await callOf('look', {}, { tools: [new SpanTools()] });
      expect(seen).toEqual([{ traceId: TRACE, spanId: span.spanId, traceFlags: 1 }]);
    } finally {
      registration.end();
    }
  });
});

type Context = ReadonlyMap<symbol, { spanContext(): unknown }>;

/** Registers a context manager as `@opentelemetry/api` 1.x does in the process. */
function registerContexts() {
  const current = new AsyncLocalStorage<Context>();
  const toContext = (values: Context): object => ({
    getValue: (key: symbol) => values.get(key),
    setValue: (key: symbol, value: never) => toContext(new Map([...values, [key, value]])),
    values,
  });
  const context = {
    active: () =>
      toContext(current.getStore() ?? new Map()) as { getValue(key: symbol): { spanContext(): unknown } | undefined },
    with: <T>(given: { values: Context }, work: () => T) => current.run(given.values, work),
  };
  const shared = globalThis as unknown as Record<symbol, unknown>;
  shared[API] = { version: '1.9.0', context };
  return { context, end: () => void delete shared[API] };
}
