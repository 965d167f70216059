import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { checkOtlp, type ExportRequest, type OtlpSpan } from './otlp-rules.js';

/** A received span, with its attributes as values. */
export interface ReceivedSpan extends Omit<OtlpSpan, 'attributes'> {
  readonly attributes: Readonly<Record<string, unknown>>;
}

type Answer = (response: ServerResponse) => void;

/** A collector of traces on loopback. It receives OTLP/JSON by strict rules; broken ones fail the test that reads spans. */
export class OtlpCollector {
  readonly requests: { readonly headers: IncomingHttpHeaders; readonly path: string; readonly body: ExportRequest }[] =
    [];
  /** The requests that arrived, also those that are not answered. */
  arrived = 0;
  /** Whether a request waits for its answer. */
  held = false;
  /** How a request is answered; a span counts as received if the status is 200. */
  answer: Answer = (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  private readonly faults: unknown[] = [];
  private readonly waiters = new Set<() => void>();

  private constructor(private readonly server: Server) {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void this.receive(request, response));
  }

  static async start(port = 0): Promise<OtlpCollector> {
    const server = createServer();
    const collector = new OtlpCollector(server);
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return collector;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** The variables of a server that sends each span at once. */
  get env(): Record<string, string> {
    return { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${this.port}`, OTEL_BSP_SCHEDULE_DELAY: '1' };
  }

  /** All received spans, in order. */
  get spans(): ReceivedSpan[] {
    if (this.faults.length > 0) throw new AggregateError(this.faults, 'The collector received invalid OTLP.');
    return this.requests
      .flatMap(({ body }) => body.resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans)
      .flatMap(({ spans }) => spans)
      .map((span) => ({ ...span, attributes: valuesOf(span.attributes) }));
  }

  /** Waits for a span with this name. */
  async waitFor(name: string, count = 1): Promise<ReceivedSpan> {
    const found = () => this.spans.filter((span) => span.name === name);
    await this.waitUntil(() => this.faults.length > 0 || found().length >= count);
    return found()[count - 1]!;
  }

  /** Waits until `answer` has set `held`. */
  waitForHeld(): Promise<void> {
    return this.waitUntil(() => this.held);
  }

  waitForRequests(count: number): Promise<void> {
    return this.waitUntil(() => this.arrived >= count);
  }

  reset(): void {
    this.requests.length = this.faults.length = this.arrived = 0;
  }

  async close(): Promise<void> {
    if (!this.server.listening) return;
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    this.arrived++;
    this.answer(response);
    if (response.statusCode === 200 && response.writableEnded) this.record(request, Buffer.concat(chunks).toString());
    for (const waiter of this.waiters) waiter();
  }

  private record({ headers, url = '', method }: IncomingMessage, text: string): void {
    try {
      if (method !== 'POST') throw new Error(`The method is ${method}.`);
      if (headers['content-type'] !== 'application/json') throw new Error(`The type is ${headers['content-type']}.`);
      this.requests.push({ headers, path: url, body: checkOtlp(JSON.parse(text)) });
    } catch (error) {
      this.faults.push(error);
    }
  }

  private waitUntil(isDone: () => boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = () => {
      if (!isDone()) return;
      this.waiters.delete(check);
      resolve();
    };
    this.waiters.add(check);
    check();
    return promise;
  }
}

function valuesOf(attributes: OtlpSpan['attributes']): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, toValue(value as Record<string, unknown>)]));
}

function toValue(value: Record<string, unknown>): unknown {
  if ('intValue' in value) return Number(value['intValue']);
  const array = value['arrayValue'] as { readonly values: Record<string, unknown>[] } | undefined;
  return array ? array.values.map(toValue) : Object.values(value)[0];
}

/** Expects one trace without a duplicate span, in which each parent exists, but the given one. */
export function faultsOfTrace(spans: readonly ReceivedSpan[], outer?: string): string[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const traces = new Set(spans.map(({ traceId }) => traceId));
  return [
    ...(traces.size === 1 ? [] : [`${traces.size} traces`]),
    ...(ids.size === spans.length ? [] : [`${spans.length - ids.size} duplicate spans`]),
    ...spans
      .filter(({ parentSpanId: parent }) => parent !== undefined && parent !== outer && !ids.has(parent))
      .map(({ name }) => `the parent of ${name} is missing`),
  ];
}

/** The tokens of all chats. */
export function tokensOf(spans: readonly ReceivedSpan[]): {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
} {
  const sum = (name: string) =>
    spans.filter(({ kind }) => kind === 3).reduce((total, { attributes }) => total + Number(attributes[name] ?? 0), 0);
  return {
    prompt_tokens: sum('gen_ai.usage.input_tokens'),
    completion_tokens: sum('gen_ai.usage.output_tokens'),
  };
}
