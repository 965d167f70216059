import type { CallMark, EventMark, RunMarks, RunPrefix, StepMark } from './run-fork.types.js';
import { FILE_STEP } from '../files/run-file.mapper.js';
import { COMPACTION, compareStepNames, parseStepName, SCRIPT, type StepPlace } from './step-name.parser.js';

/** A point where every run can be forked. */
export const FIRST_STEP = 'model:1';

/** The points where a run can be forked, in order: its recorded steps, and those that would come next. */
export function forkPoints({ steps, events }: RunMarks): string[] {
  const names = steps
    .map(({ name }) => name)
    .filter((name) => {
      const { iteration, kind, word } = parseStepName(name);
      return iteration !== Infinity && kind !== FILE_STEP && word !== COMPACTION;
    });
  return [...new Set([FIRST_STEP, ...names, ...nextSteps(names, events)])].toSorted(compareStepNames);
}

/** The call of a step, if the run has published it. */
export function callOf({ events }: RunMarks, step: string): CallMark | null {
  const { iteration, call, inner } = parseStepName(step);
  const found = callsByIteration(events).get(iteration)?.[call - 1] ?? null;
  if (!found || inner === 0) return found;
  const id = `${found.id}.${inner}`;
  return events.find((event) => event.iteration === iteration && event.callId === id && event.started)?.started ?? null;
}

/**
 * The records before the step in the order of the loop. A call is one unit: a fork from any of its steps starts the
 * call anew, including its approval. So is a call of a script: the script is executed again, with the copied results of
 * the calls before. Earlier calls without a result start anew too, unless they were claimed, as they
 * may have happened.
 */
export function prefixBefore(marks: RunMarks, fromStep: string): RunPrefix {
  const from = parseStepName(fromStep);
  const isSettled = settledFilter(marks.steps);
  const steps = marks.steps
    .filter(({ name }) => isBefore(name, fromStep, from) && isSettled(name))
    .toSorted((a, b) => compareStepNames(a.name, b.name));
  const isCopied = eventFilter(marks.events, steps, from);
  return { steps: steps.map(({ name }) => name), events: marks.events.filter(isCopied).map(({ n }) => n) };
}

function nextSteps(names: readonly string[], events: readonly EventMark[]): string[] {
  const last = names
    .filter((name) => name.startsWith('model:'))
    .toSorted(compareStepNames)
    .at(-1);
  if (last === undefined) return [];
  const { iteration, retry } = parseStepName(last);
  const calls = callsByIteration(events).get(iteration);
  // A reply without a message event was empty: the model is called again.
  if (!calls) return [`model:${iteration}:r${retry + 1}`];
  if (calls.length === 0) return [];
  const open = calls.map((_call, i) => `tool:${iteration}:${i + 1}`).filter((name) => !names.includes(name));
  return open.length > 0 ? open : [`model:${iteration + 1}`];
}

/** The tool calls of each iteration's message. */
function callsByIteration(events: readonly EventMark[]): ReadonlyMap<number, readonly CallMark[]> {
  const messages = events.filter(({ iteration, calls }) => iteration !== null && calls !== null);
  return new Map(messages.map(({ iteration, calls }) => [iteration!, calls!]));
}

function isBefore(name: string, fromStep: string, from: StepPlace): boolean {
  const place = parseStepName(name);
  if (place.iteration === Infinity) return false;
  if (from.call === 0) return compareStepNames(name, fromStep) < 0;
  if (place.iteration !== from.iteration) return place.iteration < from.iteration;
  if (place.call !== from.call || from.inner === 0) return place.call < from.call;
  return isStartOfScript(place) || (place.inner > 0 && place.inner < from.inner);
}

function isStartOfScript({ kind, word }: StepPlace): boolean {
  return kind === 'value' && word === SCRIPT;
}

/** Whether a place is that of the script whose call is forked. */
function isScriptOf(
  from: StepPlace,
  { iteration, call, inner }: Pick<StepPlace, 'iteration' | 'call' | 'inner'>,
): boolean {
  return from.inner > 0 && inner === 0 && iteration === from.iteration && call === from.call;
}

/** A call in the names of its steps: `1:2`, or `1:2.3` for a call of a script. */
function callPlace({ iteration, call, inner }: Pick<StepPlace, 'iteration' | 'call' | 'inner'>): string {
  return `${iteration}:${call}${inner > 0 ? `.${inner}` : ''}`;
}

/**
 * Whether a step may be copied, given the other steps of its call. Approvals are valid in one run only, and open
 * requests are issued anew.
 */
function settledFilter(steps: readonly StepMark[]): (name: string) => boolean {
  const names = new Set(steps.map(({ name }) => name));
  return (name) => {
    const place = parseStepName(name);
    const { kind, word, call } = place;
    const at = callPlace(place);
    if (call === 0 || isStartOfScript(place) || names.has(`tool:${at}`)) return true;
    return names.has(`claim:${at}`) && kind !== 'value' && word !== 'approval';
  };
}

/** Events are copied with a step at their place; the new run emits events of the whole run itself. */
function eventFilter(
  events: readonly EventMark[],
  copied: readonly StepMark[],
  from: StepPlace,
): (event: EventMark) => boolean {
  const latest = new Map<string, number>();
  for (const { name, at } of copied) {
    latest.set(callPlace(parseStepName(name)), at);
  }
  const callsOf = callsByIteration(events);
  return (event) => {
    const { iteration, calls, at } = event;
    if (iteration === null) return false;
    const [call, inner] = callNumbers(event, callsOf);
    const stepAt = latest.get(callPlace({ iteration, call, inner }));
    if (stepAt === undefined) return false;
    // The script starts before the copied calls, and ends anew.
    if (isScriptOf(from, { iteration, call, inner })) return event.started !== null;
    // A fork between two attempts of one reply: events up to the end of the earlier attempt are its own; the message is
    // the later one's.
    const isBetweenAttempts = from.retry > 0 && from.call === 0 && iteration === from.iteration && call === 0;
    return !isBetweenAttempts || (at <= stepAt && calls === null);
  };
}

/** The numbers of an event's call, and of the call of its script: 0 without a call, -1 when no message has the call. */
function callNumbers(
  { iteration, callId }: EventMark,
  callsOf: ReadonlyMap<number, readonly CallMark[]>,
): readonly [call: number, inner: number] {
  if (callId === null) return [0, 0];
  const calls = callsOf.get(iteration ?? 0) ?? [];
  const index = calls.findIndex(({ id }) => id === callId);
  if (index >= 0) return [index + 1, 0];
  const [, script, inner] = /^(.*)\.(\d{1,9})$/s.exec(callId) ?? [];
  const outer = calls.findIndex(({ id }) => id === script);
  return outer < 0 ? [-1, 0] : [outer + 1, Number(inner)];
}
