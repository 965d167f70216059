import { AsyncLocalStorage } from 'node:async_hooks';
import { hash } from 'node:crypto';

/** A position in a trace, as in the header `traceparent` of W3C Trace Context. */
export interface TraceParent {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  readonly isSampled: boolean;
}

const TRACE_PARENT = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:$|-)/;
/** Length of version 00; later versions may be longer. */
const LENGTH = 55;

/** Parses a `traceparent`, also of later versions. @returns undefined for an invalid one, which must be ignored */
export function parseTraceParent(text: unknown): TraceParent | undefined {
  const [, version, traceId, spanId, flags] = typeof text === 'string' ? (TRACE_PARENT.exec(text) ?? []) : [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (version === '00' && String(text).length !== LENGTH) return undefined;
  return { traceId, spanId, isSampled: Number.parseInt(flags, 16) % 2 === 1 };
}

/** The header of a position, in version 00. */
export function toTraceParent({ traceId, spanId, isSampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-0${Number(isSampled)}`;
}

/** The id of the trace of a run without a `traceparent`. */
export function traceIdOf(rootRunId: string): string {
  return hash('sha256', `trace\n${rootRunId}`).slice(0, 32);
}

/** The id of a span: the same in each process and after a restart. @param name empty for the run itself */
export function spanIdOf(runId: string, name = ''): string {
  return hash('sha256', `span\n${runId}\n${name}`).slice(0, 16);
}

/** The trace of the present work. */
interface TraceScope {
  readonly parent: TraceParent;
  /** Facts for the span of the present step; absent outside of a step. */
  readonly facts?: SpanFacts;
}

/** Facts that lower modules add to the span of the present step. */
export interface SpanFacts {
  provider?: string;
  mcpMethod?: string;
}

const current = new AsyncLocalStorage<TraceScope | undefined>();

/** Runs work as a part of the trace of a request, or of none. */
export function withTraceParent<T>(traceparent: string | null | undefined, work: () => T): T {
  const parent = parseTraceParent(traceparent);
  return parent || current.getStore() ? current.run(parent && { parent }, work) : work();
}

/** Runs the work of a span. @param facts receives facts for the span */
export function withSpan<T>(parent: TraceParent, facts: SpanFacts, work: () => T): T {
  return current.run({ parent, facts }, work);
}

/** The `traceparent` of new runs of the present work, if it is part of a trace. */
export function currentTraceParent(): string | undefined {
  const parent = current.getStore()?.parent;
  return parent && toTraceParent(parent);
}

/** The `traceparent` of outgoing requests; undefined without traces. */
export function outgoingTraceParent(): string | undefined {
  const scope = current.getStore();
  return scope?.facts && toTraceParent(scope.parent);
}

/** Adds facts to the span of the present step, if there is one. */
export function noteOnSpan(facts: SpanFacts): void {
  const scope = current.getStore();
  if (scope?.facts) Object.assign(scope.facts, facts);
}
