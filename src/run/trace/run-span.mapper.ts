import {
  ATTRIBUTES as A,
  type Attributes,
  parseTraceParent,
  type Span,
  spanIdOf,
  traceIdOf,
  type TraceParent,
  type Tracing,
} from '../../telemetry/index.js';
import type { TerminalEvent } from '../event/run-event.types.js';
import type { RunRecord } from '../run.types.js';
import { TraceContent } from './trace-content.js';

/** The place of a run in its trace; the same in each process. */
export interface RunPosition {
  /** The span of the run. */
  readonly span: TraceParent;
  /** The span of the call that started it. */
  readonly parentId: string | undefined;
}

type Placed = Pick<RunRecord, 'id' | 'traceparent'> & {
  readonly lineage: Pick<NonNullable<RunRecord['lineage']>, 'parentRunId' | 'parentStep' | 'rootRunId'> | null;
};

export function positionOf({ id, traceparent, lineage }: Placed, tracing: Tracing): RunPosition {
  const request = parseTraceParent(traceparent);
  const traceId = request?.traceId ?? traceIdOf(lineage?.rootRunId ?? id);
  const isSampled = tracing.isSampled(traceId, request);
  const parentId = lineage ? spanIdOf(lineage.parentRunId, withoutAttempt(lineage.parentStep)) : request?.spanId;
  return { span: { traceId, spanId: spanIdOf(id), isSampled }, parentId };
}

/** All attempts of a workflow's node (`node:<id>~<n>`) are one span. */
function withoutAttempt(step: string): string {
  return step.replace(/~\d+$/, '');
}

/** The node of a step's place in a workflow, `<number>/<node>` and maybe an attempt `~<n>`. */
const OF_NODE = /(?:^|:)\d+\/([^:~]+)/;

/** The step whose span contains the span of a step; undefined if it is the run's. */
export function outerStep(kind: string, place: string): string | undefined {
  // An item of a map is a part of the map's node.
  if (kind === 'node') return place.includes('/') ? `node:${place.slice(0, place.lastIndexOf('/'))}` : undefined;
  const [, node] = OF_NODE.exec(place) ?? [];
  return node === undefined ? undefined : `node:${node}`;
}

interface RunSpanParts {
  readonly position: RunPosition;
  readonly tracing: Tracing;
  readonly links?: Span['links'];
}

/** The span of a run, from its creation to its end. Its tokens are those of the spans below it. */
export function toRunSpan(run: RunRecord, event: TerminalEvent, endedAt: number, parts: RunSpanParts): Span {
  const { span, parentId } = parts.position;
  const { traceId, spanId } = span;
  const error = event.type === 'run.failed' ? event.error.code : undefined;
  const subject = subjectOf(run);
  return {
    traceId,
    spanId,
    parentId,
    name: subject.name,
    kind: 'internal',
    startedAt: run.createdAt,
    endedAt,
    links: parts.links,
    error,
    attributes: {
      ...subject.attributes,
      [A.conversation]: run.sessionId ?? undefined,
      [A.run]: run.id,
      [A.status]: event.type.slice('run.'.length),
      [A.finishReasons]: [event.finish_reason],
      [A.errorType]: error,
      ...new TraceContent(parts.tracing).ofRun(questionIn(run.input), event.result, event.finish_reason),
    },
  };
}

function subjectOf({ kind, agent: subject }: RunRecord): { readonly name: string; readonly attributes: Attributes } {
  // As in `workflow:letters` and `tool:double`.
  const agent = subject.startsWith(`${kind}:`) ? subject.slice(kind.length + 1) : subject;
  if (kind === 'workflow') {
    return { name: `invoke_workflow ${agent}`, attributes: { [A.operation]: 'invoke_workflow', [A.workflow]: agent } };
  }
  if (kind !== 'tool') {
    return { name: `invoke_agent ${agent}`, attributes: { [A.operation]: 'invoke_agent', [A.agent]: agent } };
  }
  // A direct call: the span of its only step is the call.
  return { name: `call ${agent}`, attributes: {} };
}

/** The question in an agent's input; other inputs as they are. */
function questionIn(input: string): string {
  try {
    const { query } = JSON.parse(input) as { readonly query?: unknown };
    return typeof query === 'string' ? query : input;
  } catch {
    return input;
  }
}
