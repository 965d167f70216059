import { ATTRIBUTES as A, type Attributes, type Span, type Tracing } from '../../telemetry/index.js';
import type { TerminalEvent } from '../run-event.types.js';
import type { RunRecord } from '../run.types.js';
import type { RunPosition } from './run-position.js';
import { TraceContent } from './trace-content.js';

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
