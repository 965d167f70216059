import {
  ATTRIBUTES as A,
  type Attributes,
  type GenAiOperation,
  type Span,
  type SpanFacts,
  spanIdOf,
  type Tracing,
} from '../../telemetry/index.js';
import type { RunItem } from '../event/run-item.factory.js';
import type { TerminalEvent } from '../event/run-event.types.js';
import type { RecordedStep, RunRecord } from '../run.types.js';
import { outerStep, type RunPosition } from './run-span.mapper.js';
import {
  type RecordedReply,
  type RecordedToolResult,
  toUsageAttributes,
  TraceContent,
  usageAttributes,
} from './trace-content.js';

const MS = 1000;

/** A step that starts. */
export interface StartedStep {
  readonly name: string;
  readonly kind: string;
  /** Text of the step's subject. */
  readonly subject: string;
}

interface Start extends StartedStep {
  /** Epoch ms. */
  readonly at: number;
  /** Facts that the journal does not have; only of a step that started in this process. */
  readonly facts?: SpanFacts;
}

/** Makes the spans of a run's steps, and of model calls that have no step, from records of the journal. */
export class StepSpans {
  /** Steps without a record yet, by name: a later span needs their start, or refers to them. */
  private readonly open = new Map<string, Start>();
  /** The step of each tool call by its id, and the reverse. */
  private readonly stepOfCall = new Map<string, string>();
  private readonly callOfStep = new Map<string, string>();
  private readonly content: TraceContent;

  constructor(
    private readonly run: RunRecord,
    private readonly position: RunPosition,
    tracing: Tracing,
  ) {
    this.content = new TraceContent(tracing);
  }

  /** @returns whether the step has a span */
  start(step: StartedStep, at: number, facts: SpanFacts): boolean {
    const isOwn = step.kind === 'model' || step.kind === 'tool';
    // A child run of the call has started before.
    if (isOwn) this.open.set(step.name, { ...step, at: this.open.get(step.name)?.at ?? at, facts });
    return isOwn;
  }

  /** Notes the facts of an event that spans of steps need. */
  learn({ event, at }: RunItem): void {
    if (event.type === 'message.completed') {
      const { iteration, tool_calls } = event;
      for (const [index, { id, arguments: given }] of tool_calls.entries()) {
        // The calls of a workflow's nodes have other places.
        const step = `tool:${iteration}:${index + 1}`;
        this.stepOfCall.set(id, step);
        this.callOfStep.set(step, id);
        this.content.noteArguments(id, given);
      }
    } else if (event.type === 'tool.started') {
      const { call_id, tool, child_run_id, arguments: given } = event;
      this.content.noteArguments(call_id, given);
      const step = this.stepOfCall.get(call_id);
      if (child_run_id !== undefined && step !== undefined) {
        this.open.set(step, { name: step, kind: 'tool', subject: tool, at });
      }
    } else if (event.type === 'node.started') {
      const name = `node:${event.node}`;
      this.open.set(name, { name, kind: 'node', subject: event.kind, at });
    }
  }

  /** The span of a recorded step, if it has one. @param at time of the record, epoch ms */
  ofStep(step: RecordedStep, at: number): Span | undefined {
    const start = this.open.get(step.name);
    this.open.delete(step.name);
    const startedAt = Math.min(start?.at ?? at, step.startedAt ?? at);
    const times = { startedAt, endedAt: at };
    if (step.kind === 'model') return { ...this.base(step, times), ...this.ofModel(step, start?.facts) };
    if (step.kind === 'tool') return { ...this.base(step, times), ...this.ofTool(step, start?.facts) };
    return step.kind === 'node' ? this.ofNode(step, times) : undefined;
  }

  /** The span of a model call that no step records: by a tool, or for the summary of earlier turns. Its start is not recorded. */
  ofUsage({ n, at, event }: RunItem): Span | undefined {
    if (event.type !== 'usage' || (event.call_id === undefined && event.iteration > 0)) return undefined;
    const { model, call_id, completion_tokens, execution_time_ms = 0 } = event;
    const parent = call_id === undefined ? undefined : this.stepOfCall.get(call_id);
    // Embeddings have no reply.
    const operation = completion_tokens === 0 ? 'embeddings' : 'chat';
    return {
      ...this.place(`usage:${n}`, parent),
      ...modelCall(operation, model, { [A.run]: this.run.id, ...usageAttributes(event) }),
      startedAt: at - execution_time_ms,
      endedAt: at,
    };
  }

  /** Spans of the steps that the end of the run has cut off: other spans may refer to them. */
  unfinished(event: TerminalEvent, endedAt: number): Span[] {
    const error = event.type === 'run.failed' ? event.error.code : 'RUN_CANCELLED';
    const spans = [...this.open.values()].map(({ at, ...step }): Span => {
      const base = this.base(step, { startedAt: at, endedAt });
      return { ...base, ...named(step, base.attributes), error };
    });
    this.open.clear();
    return spans;
  }

  private base(step: StartedStep, times: { readonly startedAt: number; readonly endedAt: number }) {
    const place = step.name.slice(step.name.indexOf(':') + 1);
    const attributes: Attributes = { [A.run]: this.run.id, [A.step]: step.name };
    return { ...this.place(step.name, outerStep(step.kind, place)), ...times, attributes };
  }

  private place(name: string, outer: string | undefined) {
    const { traceId, spanId } = this.position.span;
    const { id } = this.run;
    return { traceId, spanId: spanIdOf(id, name), parentId: outer === undefined ? spanId : spanIdOf(id, outer) };
  }

  private ofModel({ name, subject, result, firstTokenMs, attempts }: RecordedStep, facts?: SpanFacts) {
    const reply = JSON.parse(result) as RecordedReply;
    return modelCall('chat', subject, {
      [A.run]: this.run.id,
      [A.step]: name,
      [A.provider]: facts?.provider,
      [A.responseModel]: reply.model,
      [A.finishReasons]: reply.finishReason === undefined ? undefined : [reply.finishReason],
      [A.timeToFirstChunk]: seconds(firstTokenMs),
      [A.attempts]: attempts,
      [A.isCached]: reply.isCached,
      ...toUsageAttributes(reply),
      ...this.content.ofReply(reply),
    });
  }

  private ofTool({ name, subject, result }: RecordedStep, facts?: SpanFacts) {
    const given = JSON.parse(result) as RecordedToolResult;
    const call = this.callOfStep.get(name);
    const step = { name, kind: 'tool', subject };
    const error = given.success ? undefined : given.code;
    return {
      ...named(step, {
        [A.run]: this.run.id,
        [A.step]: name,
        [A.toolCall]: call,
        [A.mcpMethod]: facts?.mcpMethod,
        [A.errorType]: error,
        ...this.content.ofCall(call, given),
      }),
      error,
    };
  }

  private ofNode(
    step: RecordedStep,
    times: { readonly startedAt: number; readonly endedAt: number },
  ): Span | undefined {
    const { status, error } = JSON.parse(step.result) as { status?: string; error?: { code: string } };
    if (status === 'skipped' || step.name.startsWith('node:failed:')) return undefined;
    const base = this.base(step, times);
    return { ...base, ...named(step, { ...base.attributes, [A.errorType]: error?.code }), error: error?.code };
  }
}

type Named = Pick<Span, 'name' | 'kind' | 'attributes'>;

function modelCall(operation: GenAiOperation, model: string, attributes: Attributes): Named {
  return {
    name: `${operation} ${model}`,
    kind: 'client',
    attributes: { [A.operation]: operation, [A.requestModel]: model, ...attributes },
  };
}

/** The span of a step without the facts of its result. */
function named(
  { name, kind, subject }: StartedStep,
  attributes: Attributes,
): Pick<Span, 'name' | 'kind' | 'attributes'> {
  if (kind === 'model') return modelCall('chat', subject, attributes);
  if (kind === 'node')
    return {
      name: `node ${name.slice('node:'.length)}`,
      kind: 'internal',
      attributes: { [A.node]: subject, ...attributes },
    };
  const about = { [A.operation]: 'execute_tool', [A.tool]: subject, [A.toolType]: 'function' };
  return { name: `execute_tool ${subject}`, kind: 'internal', attributes: { ...about, ...attributes } };
}

function seconds(ms: number | null | undefined): number | undefined {
  return ms === undefined || ms === null ? undefined : ms / MS;
}
