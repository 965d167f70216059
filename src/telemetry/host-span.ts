import type { TraceParent } from './trace-context.js';

/**
 * The registration of `@opentelemetry/api` 1.x, which all its copies in a process share, and the key of the present span
 * in a context (api/src/internal/global-utils.ts, api/src/trace/context-utils.ts). Reading it needs no dependency.
 */
const API = Symbol.for('opentelemetry.js.api.1');
const SPAN = Symbol.for('OpenTelemetry Context Key SPAN');

interface HostContext {
  setValue(key: symbol, value: unknown): HostContext;
}

interface HostApi {
  readonly context?: {
    active(): HostContext;
    with<T>(context: HostContext, work: () => T): T;
  };
}

/**
 * Runs work as a part of a span, so that spans of the application nest under it. Without OpenTelemetry in the application
 * the work runs as it is.
 */
export function withHostSpan<T>(parent: TraceParent, work: () => T): T {
  const { context } = (globalThis as unknown as Record<symbol, HostApi | undefined>)[API] ?? {};
  if (!context) return work();
  return context.with(context.active().setValue(SPAN, new ForeignSpan(parent)), work);
}

/** A span that the application can only refer to: its methods have no effect, as those of the API's own. */
class ForeignSpan {
  constructor(private readonly of: TraceParent) {}

  spanContext() {
    const { traceId, spanId, isSampled } = this.of;
    return { traceId, spanId, traceFlags: Number(isSampled) };
  }

  setAttribute = (): this => this;
  setAttributes = (): this => this;
  addEvent = (): this => this;
  addLink = (): this => this;
  addLinks = (): this => this;
  setStatus = (): this => this;
  updateName = (): this => this;
  end(): void {}
  recordException(): void {}

  isRecording(): boolean {
    return false;
  }
}
