import { parseExactJson } from '../../kernel/json/index.js';
import type { RunRecord } from '../../run/index.js';
import type { AuditedEvent, AuditedStep } from '../../run/query/index.js';

/** A recorded step. */
export interface JournalStep {
  /** Counted from 1, in the order of the loop. */
  readonly position: number;
  /** The `fromStep` of a fork, such as `model:1` or `tool:1:2`. */
  readonly name: string;
  readonly kind: string;
  /** The step's model or tool. */
  readonly subject: string;
  readonly result: unknown;
  /** The execution of the run that recorded the step, from 1; 0 for a step copied from another run. */
  readonly epoch: number;
  readonly created_at: number;
  /** `null` for a step without an action, and for steps of earlier versions. */
  readonly started_at: number | null;
  /** Time to the first text of a streamed reply, in ms. */
  readonly first_token_ms: number | null;
  /** Requests to providers for a reply, with retries and fallbacks. */
  readonly attempts: number | null;
}

/** A recorded event. */
export interface JournalEvent {
  /** Number of the event in the run's stream. */
  readonly n: number;
  readonly type: string;
  readonly data: unknown;
  readonly created_at: number;
}

/** A page of a run's journal, as in `GET /api/runs/:id/journal`. Times are epoch ms. */
export interface RunJournalPage {
  readonly run_id: string;
  readonly agent: string;
  readonly status: string;
  readonly session_id: string | null;
  readonly forked_from: string | null;
  readonly loop_version: number;
  readonly created_at: number;
  readonly finished_at: number | null;
  readonly input: unknown;
  readonly definition: unknown;
  readonly steps: JournalStep[];
  readonly events: JournalEvent[];
  /** The `after` of the next page; `null` on the last page. */
  readonly next: number | null;
}

interface JournalView {
  readonly after: number;
  readonly limit: number;
  /** Whether the caller may read the instructions of agents. */
  readonly hasInstructions: boolean;
}

/** @param steps and `events`: up to `limit + 1` entries, one more than the page size if there is a next page */
export function toRunJournal(
  run: RunRecord,
  steps: readonly AuditedStep[],
  events: readonly AuditedEvent[],
  { after, limit, hasInstructions }: JournalView,
): RunJournalPage {
  return {
    run_id: run.id,
    agent: run.agent,
    status: run.status,
    session_id: run.sessionId,
    forked_from: run.forkedFrom,
    loop_version: run.loopVersion,
    created_at: run.createdAt,
    finished_at: run.finishedAt,
    input: parseExactJson(run.input),
    definition: JSON.parse(run.definition, hasInstructions ? undefined : withoutInstructions),
    steps: steps.slice(0, limit).map(toStep),
    events: events.slice(0, limit).map(toEvent),
    next: Math.max(steps.length, events.length) > limit ? after + limit : null,
  };
}

/** Omits the instructions of an agent, or of the agents and models in a workflow. */
function withoutInstructions(key: string, value: unknown): unknown {
  return key === 'instructions' && typeof value === 'string' ? undefined : value;
}

function toStep({ createdAt, startedAt, firstTokenMs, attempts, ...step }: AuditedStep): JournalStep {
  const { position, name, kind, subject, epoch } = step;
  const times = { created_at: createdAt, started_at: startedAt, first_token_ms: firstTokenMs, attempts };
  return { position, name, kind, subject, result: publicResult(kind, step.result), epoch, ...times };
}

/** Removes the memo that a tool stores with its question; it is private to the tool. */
function publicResult(kind: string, result: string): unknown {
  const value: unknown = parseExactJson(result);
  if (kind !== 'suspend') return value;
  const { memo: _memo, ...visible } = value as Readonly<Record<string, unknown>>;
  return visible;
}

function toEvent({ n, type, data, createdAt }: AuditedEvent): JournalEvent {
  return { n, type, data: parseExactJson(data), created_at: createdAt };
}
