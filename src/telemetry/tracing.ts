import type { TelemetryConfig } from '../config/namespaces/index.js';
import type { Span, SpanSource } from './trace/span.types.js';
import type { TraceParent } from './trace-context.js';

/** The configuration of traces. */
export type TracingConfig = NonNullable<TelemetryConfig['tracing']>;

/** The parts of traces, which are loaded only with a collector. */
export interface TracingParts {
  readonly config: TracingConfig;
  isSampled(traceId: string, parent?: TraceParent): boolean;
  add(span: Span): void;
  flush(): Promise<void>;
  close(limitMs: number): Promise<void>;
}

/** Receives the sources of spans; it handles its own errors. @param isExported false for dropped spans */
export type SourcesSettled = (sources: readonly SpanSource[], isExported: boolean) => Promise<void>;

/** Sends spans to the configured collector, if there is one. */
export class Tracing {
  private readonly listeners: SourcesSettled[] = [];
  private mask = (text: string): string => text;

  /** @param parts `null` without a collector */
  constructor(private readonly parts: TracingParts | null) {}

  get isOn(): boolean {
    return this.parts !== null;
  }

  /** Whether spans have messages, arguments and results. */
  get hasContent(): boolean {
    return this.parts?.config.hasContent ?? false;
  }

  /** Whether the spans of a trace are sent. */
  isSampled(traceId: string, parent?: TraceParent): boolean {
    return this.parts?.isSampled(traceId, parent) ?? false;
  }

  add(span: Span): void {
    this.parts?.add(span);
  }

  /** Waits until the collector has the queued spans, or they are dropped. */
  async flush(): Promise<void> {
    await this.parts?.flush();
  }

  /** Masks text of messages, arguments and results, as the log does. */
  masked(text: string): string {
    return this.mask(text);
  }

  useMask(mask: (text: string) => string): void {
    this.mask = mask;
  }

  onSettled(listener: SourcesSettled): void {
    this.listeners.push(listener);
  }

  async settled(sources: readonly SpanSource[], isExported: boolean): Promise<void> {
    await Promise.all(this.listeners.map((listener) => listener(sources, isExported)));
  }

  async close(limitMs: number): Promise<void> {
    await this.parts?.close(limitMs);
  }
}
