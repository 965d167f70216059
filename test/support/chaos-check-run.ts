import { isTerminal } from '../../src/run/event/run-event.types.js';
import type { RunEvent } from '../../src/run/event/index.js';
import type { Violation } from './chaos-check.js';
import type { Effect, JournalRun, JournalStep } from './chaos-journal.js';
import { answerTo } from './chaos-plan.js';

const RESULT = /^tool:(\d+):(\d+)$/;
const CLAIM = /^claim:(\d+:\d+)(?::r(\d+))?$/;

/** The rules for one ended run. */
export function runViolations(run: JournalRun, effects: readonly Effect[], outdatedFrom: number): Violation[] {
  const say =
    (kind: Violation['kind']) =>
    (text: string): Violation => ({ kind, runId: run.id, text });
  return [
    ...eventFaults(run).map(say('journal')),
    ...endFaults(run, outdatedFrom).map(say(isEnded(run.status) ? 'end' : 'stuck')),
    ...claimFaults(run).map(say('hidden gap')),
    ...effectFaults(run, effects).map(say('repeated')),
    ...decisionFaults(run, effects).map(say('history')),
  ];
}

/** Numbered without a gap, one end and nothing after it, every call ended once. */
function eventFaults(run: JournalRun): string[] {
  const numbers = run.numbers.some((n, i) => n !== i + 1) ? [`its events are numbered ${run.numbers.join(' ')}`] : [];
  return [...numbers, ...terminalFaults(run), ...completionFaults(run)];
}

function terminalFaults({ events, status }: JournalRun): string[] {
  const ends = events.filter(isTerminal);
  const last = events.at(-1);
  if (ends.length !== (isEnded(status) ? 1 : 0)) return [`it is ${status} with ${ends.length} ends`];
  return isEnded(status) && last?.type !== `run.${status}`
    ? [`it is ${status} and its last event is ${last?.type}`]
    : [];
}

function completionFaults({ events, status }: JournalRun): string[] {
  const completed = Map.groupBy(
    events.filter((event) => event.type === 'tool.completed'),
    ({ call_id }) => call_id,
  );
  const twice = [...completed].filter(([, all]) => all.length > 1);
  const never = isEnded(status) ? callsOf(events).filter((call) => !completed.has(call)) : [];
  return [
    ...twice.map(([call, all]) => `call ${call} was completed ${all.length} times`),
    ...never.map((call) => `call ${call} was never completed`),
  ];
}

function callsOf(events: readonly RunEvent[]): string[] {
  return events.flatMap((event) => (event.type === 'message.completed' ? event.tool_calls.map(({ id }) => id) : []));
}

export function isEnded(status: JournalRun['status']): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/**
 * The only faults are crashes: a run answers, unless it was cancelled, or poisoned by repeated deaths of its process.
 */
function endFaults(run: JournalRun, outdatedFrom: number): string[] {
  if (!isEnded(run.status)) return [`it is ${run.status} after all waits of the check`];
  const end = run.events.at(-1);
  const isRelinquished = isPoisoned(run) || (isOutdated(run) && run.finishedAt! >= outdatedFrom);
  if (isRelinquished || isAnswered(run) || isCancelled(run)) return [];
  return [`it ended with ${JSON.stringify(end)}`];
}

function isAnswered({ events, query }: JournalRun): boolean {
  const end = events.at(-1);
  return end?.type === 'run.completed' && end.result === answerTo(query);
}

/** A run that has not started is ended by the cancel request itself. */
function isCancelled({ status, cancelRequestedAt, epoch }: JournalRun): boolean {
  return status === 'cancelled' && (cancelRequestedAt !== null || epoch === 0);
}

/** Whether the run was abandoned because its processes died in the same step of it. */
export function isPoisoned(run: JournalRun): boolean {
  return failureOf(run) === 'RUN_POISONED';
}

function isOutdated(run: JournalRun): boolean {
  return failureOf(run) === 'RUN_VERSION_UNSUPPORTED';
}

function failureOf({ events }: JournalRun): string | undefined {
  const end = events.at(-1);
  return end?.type === 'run.failed' ? end.error.code : undefined;
}

/**
 * A call that one execution started and another one ended is a gap: a person or the tool must have stated its outcome.
 */
function claimFaults(run: JournalRun): string[] {
  const claims = [...run.steps.values()].filter(({ name }) => CLAIM.test(name));
  return [...Map.groupBy(claims, ({ name }) => CLAIM.exec(name)![1]!)].flatMap(([place, all]) => {
    const ordered = all.toSorted((a, b) => timeOf(a) - timeOf(b));
    return ordered.flatMap((claim, i) => {
      const isClosed = i === ordered.length - 1 ? isLastClosed(run, place, claim) : isExplained(run, claim);
      return isClosed || canFindOut(run, place) ? [] : [`no event has the outcome of ${claim.name}`];
    });
  });
}

/** The number of the invocation that the claim is for. */
function timeOf({ name }: JournalStep): number {
  return Number(CLAIM.exec(name)![2] ?? 1);
}

function isLastClosed(run: JournalRun, place: string, claim: JournalStep): boolean {
  if (isExplained(run, claim)) return true;
  const result = run.steps.get(`tool:${place}`);
  if (result) return result.epoch === claim.epoch || isUnknown(result.result);
  // The run ended before the call did: its last event states the known outcome of each call.
  if (run.epoch === claim.epoch) return true;
  const call = callAt(run, place)?.id;
  return run.events.some((event) => event.type === 'tool.completed' && event.call_id === call && isUnknown(event));
}

function isUnknown(result: unknown): boolean {
  return (result as { code?: string }).code === 'TOOL_OUTCOME_UNKNOWN';
}

/** A person settled it; or it asked a question, and so had no effect. */
function isExplained({ steps }: JournalRun, { name }: JournalStep): boolean {
  const at = name.slice('claim:'.length);
  return steps.has(`answer:settle:${at}`) || steps.has(`suspend:${at}`);
}

/** The tool can determine its outcome itself, even if the run ended before it was asked again. */
function canFindOut(run: JournalRun, place: string): boolean {
  return callAt(run, place)?.name === 'known';
}

function callAt({ events }: JournalRun, place: string) {
  const [iteration, at] = place.split(':').map(Number) as [number, number];
  const reply = events.find((event) => event.type === 'message.completed' && event.iteration === iteration);
  return reply?.type === 'message.completed' ? reply.tool_calls[at - 1] : undefined;
}

/** A call with a recorded result is not repeated, and no result is recorded without a call. */
function effectFaults(run: JournalRun, effects: readonly Effect[]): string[] {
  const faults: string[] = [];
  for (const step of run.steps.values()) {
    if (!RESULT.test(step.name)) continue;
    const { success, result, code } = step.result as { success: boolean; result?: unknown; code?: string };
    const own = effects.filter(({ key }) => key === `${run.id}:${step.name}`);
    const late = own.filter(({ at }) => at > step.createdAt);
    // A cancelled call may still have its effect, as its result states.
    if (late.length > 0 && code !== 'TOOL_CANCELLED')
      faults.push(`${step.name} happened ${late.length} times after its result was recorded`);
    if (success && String(result).startsWith('did ') && own.length === 0)
      faults.push(`${step.name} has the result "${String(result)}", and never happened`);
  }
  return faults;
}

/** A call that needs approval has no effect without it. */
function decisionFaults(run: JournalRun, effects: readonly Effect[]): string[] {
  return effects.flatMap(({ key, tool }) => {
    const place = key.slice(`${run.id}:tool:`.length);
    const isApproved = run.steps.get(`answer:approval:${place}`)?.subject === 'approve';
    return tool === 'approved' && !isApproved ? [`${key} happened without approval`] : [];
  });
}
