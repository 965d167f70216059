import { AsyncLocalStorage } from 'node:async_hooks';
import type { TracingConfig } from '../tracing.js';
import { Log, messageOf } from '../../errors/index.js';
import { isDoneWithin, parseRetryAfter, VERSION } from '../../kernel/index.js';
import { HttpPoster } from './http-poster.js';
import { toOtlp } from './otlp.mapper.js';
import type { Span } from './span.types.js';

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
