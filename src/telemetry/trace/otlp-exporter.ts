import { AsyncLocalStorage } from 'node:async_hooks';
import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { once } from 'node:events';
import { Log, messageOf } from '../../errors/index.js';
import { isDoneWithin, parseRetryAfter, VERSION } from '../../kernel/index.js';
import type { TracingConfig } from '../tracing.js';
import type { Attributes, AttributeValue, Span } from './span.types.js';

/** `SpanKind` and `StatusCode` of opentelemetry/proto/trace/v1/trace.proto. */
const KINDS = { internal: 1, client: 3 } as const;
const STATUS_ERROR = 2;
/** The flags of a link say that the low byte has no more than the sampled bit, and whether its context is remote. */
const HAS_IS_REMOTE = 0x100;

/** The JSON of `ExportTraceServiceRequest`: ids as hex, 64-bit integers as decimal strings, enums as integers. */
export function toOtlp(spans: readonly Span[], resource: Attributes, version: string): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: toKeyValues(resource) },
        scopeSpans: [{ scope: { name: 'jackdaw', version }, spans: spans.map(toOtlpSpan) }],
      },
    ],
  });
}

function toOtlpSpan({ traceId, spanId, parentId, name, kind, startedAt, endedAt, attributes, error, links }: Span) {
  return {
    traceId,
    spanId,
    ...(parentId !== undefined && { parentSpanId: parentId }),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: toNanos(startedAt),
    endTimeUnixNano: toNanos(Math.max(startedAt, endedAt)),
    attributes: toKeyValues(attributes),
    ...(links && { links: links.map((link) => ({ ...link, flags: HAS_IS_REMOTE })) }),
    status: error === undefined ? {} : { code: STATUS_ERROR, message: error },
  };
}

function toNanos(ms: number): string {
  return `${Math.round(ms)}000000`;
}

function toKeyValues(attributes: Attributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: toAnyValue(value) }],
  );
}

function toAnyValue(value: AttributeValue): object {
  if (typeof value === 'string') return { stringValue: value.toWellFormed() };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value !== 'number') return { arrayValue: { values: value.map(toAnyValue) } };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** Longest answer that is read, in bytes. */
const MAX_ANSWER = 65_536;

export interface PostAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Posts JSON to one address, over connections of its own, without redirects. */
export class HttpPoster {
  private readonly url: URL;
  private readonly agent: http.Agent;
  private readonly closing = new AbortController();

  constructor(private readonly config: Pick<TracingConfig, 'url' | 'headers' | 'timeoutMs'>) {
    this.url = new URL(config.url);
    const options = { keepAlive: true, maxSockets: 1 };
    this.agent = this.url.protocol === 'https:' ? new https.Agent(options) : new http.Agent(options);
  }

  /** The address, without a password and a query, which may have a key. */
  get shownUrl(): string {
    return this.url.origin + this.url.pathname;
  }

  /** @throws Error without a whole answer in time */
  async post(body: string): Promise<PostAnswer> {
    const { url, agent } = this;
    const { headers, timeoutMs } = this.config;
    const signal = AbortSignal.any([this.closing.signal, AbortSignal.timeout(timeoutMs)]);
    const { request } = url.protocol === 'https:' ? https : http;
    const sent = request(url, {
      agent,
      signal,
      method: 'POST',
      headers: {
        'user-agent': 'jackdaw',
        ...headers,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      },
    });
    sent.end(body);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    return { status: answer.statusCode ?? 0, headers: answer.headers, text: await textOf(answer) };
  }

  close(): void {
    this.closing.abort();
    this.agent.destroy();
  }
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    if (size < MAX_ANSWER) chunks.push(chunk);
    size += chunk.length;
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Spans of one request; further ones wait. The limits are the defaults of OpenTelemetry's batch processor. */
const BATCH = 512;
export const MAX_QUEUE = 2_048;
/** Requests for one batch. */
const MAX_ATTEMPTS = 5;
const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 30_000;
/** Statuses that the specification of OTLP lets a client retry. */
const TEMPORARY = new Set([429, 502, 503, 504]);

/** Receives each span once: when the collector has it, or when it is dropped. */
export type SpansSettled = (spans: readonly Span[], isExported: boolean) => Promise<void>;

/**
 * Sends spans to a collector by OTLP over HTTP with JSON, in batches. The queue is bounded. Spans that do not fit, or that
 * the collector does not accept in time, are dropped. Runs never wait for it.
 */
export class OtlpExporter {
  private readonly logger = new Log('Traces');
  private readonly http: HttpPoster;
  private readonly outside = AsyncLocalStorage.snapshot();
  private readonly closing = new AbortController();
  private queue: Span[] = [];
  private timer: NodeJS.Timeout | undefined;
  private sending: Promise<void> | undefined;
  /** Whether spans have been dropped since the last successful request; logged once. */
  private isFailing = false;

  constructor(
    private readonly config: TracingConfig,
    private readonly onSettled: SpansSettled,
  ) {
    this.http = new HttpPoster(config);
  }

  add(span: Span): void {
    if (this.queue.length >= MAX_QUEUE || this.closing.signal.aborted) {
      return this.drop([span], this.closing.signal.aborted ? 'the server stops' : `its queue of ${MAX_QUEUE} is full`);
    }
    this.queue.push(span);
    if (this.queue.length >= BATCH) return void this.send();
    // Timers and requests must not belong to the run whose span is the first of a batch.
    this.timer ??= this.outside(() => setTimeout(() => void this.send(), this.config.delayMs).unref());
  }

  /** Sends the queue, and waits until it is empty. */
  flush(): Promise<void> {
    return this.send();
  }

  /** Sends the queue without retries; spans that the collector does not accept within the limit are dropped. */
  async close(limitMs: number): Promise<void> {
    this.closing.abort();
    await isDoneWithin(limitMs, this.send());
    this.http.close();
    await this.sending;
  }

  private send(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.sending ??= this.outside(() => this.sendAll().finally(() => (this.sending = undefined)));
    return this.sending;
  }

  private async sendAll(): Promise<void> {
    while (this.queue.length > 0) {
      const batch = this.queue.slice(0, BATCH);
      const fault = await this.sendBatch(toOtlp(batch, this.config.resource, VERSION));
      this.queue = this.queue.slice(batch.length);
      if (fault !== undefined) this.drop(batch, fault);
      else {
        this.isFailing = false;
        // A crash then repeats the spans of one request at most.
        await this.onSettled(batch, true);
      }
    }
  }

  /** @returns why the collector does not have the batch; undefined if it has it */
  private async sendBatch(body: string): Promise<string | undefined> {
    for (let attempt = 1; ; attempt++) {
      const { fault, delayMs } = await this.attempt(body, attempt);
      if (fault === undefined) return undefined;
      if (delayMs === undefined || attempt >= MAX_ATTEMPTS || this.closing.signal.aborted) return fault;
      await pause(delayMs, this.closing.signal);
    }
  }

  private async attempt(body: string, attempt: number): Promise<Attempt> {
    const backoffMs = Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), MAX_DELAY_MS) * (0.5 + Math.random() / 2);
    try {
      const { status, headers, text } = await this.http.post(body);
      if (status >= 200 && status < 300) return this.accepted(text);
      const fault = `it answered with status ${status}`;
      if (!TEMPORARY.has(status)) return { fault };
      const header = (name: string) => [headers[name]].flat()[0] ?? null;
      return { fault, delayMs: Math.min(parseRetryAfter(header) ?? backoffMs, MAX_DELAY_MS) };
    } catch (error) {
      return { fault: messageOf(error), delayMs: backoffMs };
    }
  }

  /** A partial success must not be retried. */
  private accepted(text: string): Attempt {
    const rejected = /"rejectedSpans"\s*:\s*"?([1-9]\d*)/.exec(text)?.[1];
    if (rejected !== undefined) this.logger.warn({ rejected: Number(rejected) }, 'The collector rejected spans');
    return {};
  }

  private drop(spans: readonly Span[], reason: string): void {
    if (!this.isFailing)
      this.logger.warn({ url: this.http.shownUrl }, `Spans dropped; the collector failed: ${reason}`);
    this.isFailing = true;
    void this.onSettled(spans, false);
  }
}

interface Attempt {
  /** Why it failed. */
  readonly fault?: string;
  /** Time before the next one, in ms; absent if a retry is useless. */
  readonly delayMs?: number;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms).unref();
  signal.addEventListener('abort', () => resolve(), { once: true });
  return promise.finally(() => clearTimeout(timer));
}
