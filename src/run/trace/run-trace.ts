import { Log } from '../../errors/index.js';
import {
  type Span,
  type SpanFacts,
  spanIdOf,
  type TraceParent,
  type Tracing,
  withHostSpan,
  withSpan,
} from '../../telemetry/index.js';
import { isTerminal, type TerminalEvent } from '../event/run-event.types.js';
import type { RunItem } from '../event/run-item.factory.js';
import type { RecordedStep, RunRecord } from '../run.types.js';
import { type RunPosition, toRunSpan } from './run-span.mapper.js';
import { type StartedStep, StepSpans } from './step-spans.js';

export type { StartedStep };

const logger = new Log('RunTrace');

/** A recorded step as the journal has it. */
export interface TracedStep extends RecordedStep {
  /** The time of its commit, epoch ms. */
  readonly createdAt: number;
  /** The execution that recorded it; 0 for a copy in a fork. */
  readonly epoch: number;
}

/** The records of earlier executions. */
export interface EarlierRecords {
  readonly steps: readonly TracedStep[];
  readonly items: readonly RunItem[];
  /** Whether the collector may lack the spans of a commit. @param at its time, epoch ms */
  readonly isUnsent: (at: number) => boolean;
}

/** Opens the traces of runs. */
export interface RunTracer {
  /** The span of a run. */
  spanOf(run: RunRecord): TraceParent;
  /** The trace of a run that starts. */
  open(run: RunRecord): RunTrace;
  /** The trace of a run that resumes. */
  reopen(run: RunRecord): Promise<RunTrace>;
}

/** The parts of a trace of a run. */
export interface RunTraceParts {
  readonly tracing: Tracing;
  readonly position: RunPosition;
  /** The run of which this one is a fork. */
  readonly links?: Span['links'];
  /** Called before a span is sent. @param at the time of its commit, epoch ms */
  readonly onSend: (at: number) => void;
}

/** The spans of one execution of a run, made from its records. */
export class RunTrace {
  private readonly spans: StepSpans;

  constructor(
    private readonly run: RunRecord,
    private readonly parts: RunTraceParts,
  ) {
    this.spans = new StepSpans(run, parts.position, parts.tracing);
  }

  /** Runs the action of a step as a part of its span, or of the run's span if it has none. */
  within<T>(step: StartedStep, action: () => Promise<T>): Promise<T> {
    const { span } = this.parts.position;
    const facts: SpanFacts = {};
    const isOwn = this.spans.start(step, Date.now(), facts);
    const parent = isOwn ? { ...span, spanId: spanIdOf(this.run.id, step.name) } : span;
    return withSpan(parent, facts, () => withHostSpan(parent, action));
  }

  /** A batch is durable. @param at the time that the journal has for its steps, epoch ms */
  committed(steps: readonly RecordedStep[], items: readonly RunItem[], at: number): void {
    if (!this.parts.position.span.isSampled) return;
    try {
      this.sendCommitted(steps, items, at);
    } catch (err) {
      logger.warn({ err, run_id: this.run.id }, 'Failed to make the spans of a step; the run continues');
    }
  }

  private sendCommitted(steps: readonly RecordedStep[], items: readonly RunItem[], at: number): void {
    for (const item of items) this.spans.learn(item);
    const isLast = items.some(({ event }) => isTerminal(event));
    for (const step of steps) this.send(this.spans.ofStep(step, at), at, isLast);
    for (const item of items) {
      this.send(this.spans.ofUsage(item), at, isLast);
      if (isTerminal(item.event)) this.end(item.event, at);
    }
  }

  /** Sends the spans of earlier executions that the collector may lack. */
  restore({ steps, items, isUnsent }: EarlierRecords): void {
    const { createdAt, forkedFrom } = this.run;
    for (const item of items) this.spans.learn(item);
    for (const step of steps.toSorted((a, b) => a.createdAt - b.createdAt)) {
      const span = this.spans.ofStep(step, step.createdAt);
      if (step.epoch > 0 && isUnsent(step.createdAt)) this.send(span, step.createdAt);
    }
    for (const item of items) {
      // A fork starts with copies of earlier events.
      const isOwn = forkedFrom === null || item.at >= createdAt;
      if (!isOwn || !isUnsent(item.at)) continue;
      this.send(this.spans.ofUsage(item), item.at);
      if (isTerminal(item.event)) this.end(item.event, item.at);
    }
  }

  private end(event: TerminalEvent, at: number): void {
    for (const span of this.spans.unfinished(event, at)) this.send(span, at, true);
    this.send(toRunSpan(this.run, event, at, this.parts), at, true);
  }

  private send(span: Span | undefined, at: number, isLast = false): void {
    if (!span || !this.parts.position.span.isSampled) return;
    this.parts.onSend(at);
    this.parts.tracing.add({ ...span, source: { runId: this.run.id, at, isLast } });
  }
}
