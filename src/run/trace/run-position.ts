import { parseTraceParent, spanIdOf, traceIdOf, type TraceParent, type Tracing } from '../../telemetry/index.js';
import type { RunRecord } from '../run.types.js';

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
