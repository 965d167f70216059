import { parseExactJson } from '../kernel/index.js';
import type { AuditedEvent, AuditedStep, RunRecord } from '../run/index.js';
import type { JournalEventDto, JournalStepDto, RunJournalDto } from './run-journal.dto.js';

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
): RunJournalDto {
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

function toStep({ position, name, kind, subject, result, epoch, createdAt }: AuditedStep): JournalStepDto {
  return { position, name, kind, subject, result: publicResult(kind, result), epoch, created_at: createdAt };
}

/** Removes the memo that a tool stores with its question; it is private to the tool. */
function publicResult(kind: string, result: string): unknown {
  const value: unknown = parseExactJson(result);
  if (kind !== 'suspend') return value;
  const { memo: _memo, ...visible } = value as Readonly<Record<string, unknown>>;
  return visible;
}

function toEvent({ n, type, data, createdAt }: AuditedEvent): JournalEventDto {
  return { n, type, data: parseExactJson(data), created_at: createdAt };
}
