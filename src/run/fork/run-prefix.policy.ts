import type { CallMark, EventMark, RunMarks, RunPrefix, StepMark } from './run-fork.types.js';
import { compareStepNames, parseStepName, type StepPlace } from './step-name.parser.js';

/** Where every run can be forked, whatever it has recorded. */
export const FIRST_STEP = 'model:1';

/** The steps a run can be forked from, in order: those it has recorded, and those that would come next. */
export function forkPoints({ steps, events }: RunMarks): string[] {
  const names = steps.map(({ name }) => name).filter((name) => parseStepName(name).iteration !== Infinity);
  return [...new Set([FIRST_STEP, ...names, ...nextSteps(names, events)])].toSorted(compareStepNames);
}

/** The call that a step is about, if the run has told it. */
export function callOf({ events }: RunMarks, step: string): CallMark | null {
  const { iteration, call } = parseStepName(step);
  return callsByIteration(events).get(iteration)?.[call - 1] ?? null;
}

/**
 * What comes before the step in the order of the loop. A call is one unit: forked from any of its steps it begins anew,
 * approval included. So does an earlier one that has no result yet, unless it was claimed: then it may have happened.
 */
export function prefixBefore(marks: RunMarks, fromStep: string): RunPrefix {
  const from = parseStepName(fromStep);
  const isSettled = settledFilter(marks.steps);
  const steps = marks.steps
    .filter(({ name }) => isBefore(name, fromStep, from) && isSettled(name))
    .toSorted((a, b) => compareStepNames(a.name, b.name));
  const isKept = eventFilter(marks.events, steps, from);
  return { steps: steps.map(({ name }) => name), events: marks.events.filter(isKept).map(({ n }) => n) };
}

function nextSteps(names: readonly string[], events: readonly EventMark[]): string[] {
  const last = names
    .filter((name) => name.startsWith('model:'))
    .toSorted(compareStepNames)
    .at(-1);
  if (last === undefined) return [];
  const { iteration, retry } = parseStepName(last);
  const calls = callsByIteration(events).get(iteration);
  // A reply that told no message said nothing: it is asked for again.
  if (!calls) return [`model:${iteration}:r${retry + 1}`];
  if (calls.length === 0) return [];
  const open = calls.map((_call, i) => `tool:${iteration}:${i + 1}`).filter((name) => !names.includes(name));
  return open.length > 0 ? open : [`model:${iteration + 1}`];
}

/** What each turn's message asks for. */
function callsByIteration(events: readonly EventMark[]): ReadonlyMap<number, readonly CallMark[]> {
  const messages = events.filter(({ iteration, calls }) => iteration !== null && calls !== null);
  return new Map(messages.map(({ iteration, calls }) => [iteration!, calls!]));
}

function isBefore(name: string, fromStep: string, from: StepPlace): boolean {
  const place = parseStepName(name);
  if (place.iteration === Infinity) return false;
  if (from.call === 0) return compareStepNames(name, fromStep) < 0;
  if (place.iteration !== from.iteration) return place.iteration < from.iteration;
  return place.call < from.call;
}

/**
 * Whether a step may be taken along, as far as the rest of its call goes. Approvals hold for one run only, and what is
 * still open is asked anew, in its own time.
 */
function settledFilter(steps: readonly StepMark[]): (name: string) => boolean {
  const names = new Set(steps.map(({ name }) => name));
  return (name) => {
    const { kind, word, iteration, call } = parseStepName(name);
    if (call === 0 || names.has(`tool:${iteration}:${call}`)) return true;
    return names.has(`claim:${iteration}:${call}`) && kind !== 'value' && word !== 'approval';
  };
}

/** An event goes along with a step at its place; what is about the whole run, the new run tells itself. */
function eventFilter(
  events: readonly EventMark[],
  kept: readonly StepMark[],
  from: StepPlace,
): (event: EventMark) => boolean {
  const latest = new Map<string, number>();
  for (const { name, at } of kept) {
    const { iteration, call } = parseStepName(name);
    latest.set(`${iteration}:${call}`, at);
  }
  const callsOf = callsByIteration(events);
  return (event) => {
    const { iteration, calls, at } = event;
    const call = callNumber(event, callsOf);
    const stepAt = latest.get(`${iteration}:${call}`);
    if (stepAt === undefined) return false;
    // Between two tries of one reply: what was told by the end of the earlier one is its own; the message is the later's.
    const isParted = from.retry > 0 && from.call === 0 && iteration === from.iteration && call === 0;
    return !isParted || (at <= stepAt && calls === null);
  };
}

/** The call that an event is about: 0 when it is about none, -1 when no message asked for it. */
function callNumber({ iteration, callId }: EventMark, callsOf: ReadonlyMap<number, readonly CallMark[]>): number {
  if (callId === null) return 0;
  const index = callsOf.get(iteration ?? 0)?.findIndex(({ id }) => id === callId) ?? -1;
  return index < 0 ? -1 : index + 1;
}
