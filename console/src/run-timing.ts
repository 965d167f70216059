import type { JournalEvent, JournalStep, RunJournal } from './types';

/** A step as a bar of the waterfall. Times are epoch ms. */
export interface Bar {
  readonly step: JournalStep;
  readonly start: number;
  readonly end: number;
  /** Time of the first token of a model call. */
  readonly firstToken: number | null;
  /** Whether the start is recorded; otherwise it is the end of the step before, or comes from the duration. */
  readonly isExact: boolean;
}

/** Something that happened to the run as a whole. */
export interface Marker {
  readonly at: number;
  readonly kind: 'resumed' | 'waiting';
  readonly label: string;
}

/** Time of a run by phase, in ms. Parallel calls count once. */
export interface Phases {
  readonly queue: number;
  readonly model: number;
  readonly tool: number;
  readonly waiting: number;
}

/** Steps that are shown: claims and answers belong to the call of the same name. */
const SHOWN: ReadonlySet<string> = new Set(['model', 'tool', 'node', 'child', 'summary', 'compaction', 'memory']);

/** The bars in the order of their start. */
export function toBars({ steps, created_at, events }: RunJournal): Bar[] {
  const durations = durationsOf(events);
  let previous = created_at;
  return steps
    .toSorted((a, b) => a.created_at - b.created_at)
    .filter(({ kind, name }) => SHOWN.has(kind) || SHOWN.has(name.split(':', 1)[0]!))
    .map((step) => {
      const end = step.created_at;
      const known = step.started_at ?? null;
      const ms = durations.get(step.name) ?? resultMs(step.result);
      const start = known ?? (ms === undefined ? Math.min(previous, end) : end - ms);
      previous = Math.max(previous, end);
      const first = step.first_token_ms ?? null;
      return { step, start, end, firstToken: first === null ? null : start + first, isExact: known !== null };
    })
    .toSorted((a, b) => a.start - b.start);
}

/** The durations that events report, by the step. */
function durationsOf(events: readonly JournalEvent[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const { type, data } of events) {
    if (type === 'message.completed' && data.execution_time_ms !== undefined) {
      found.set(`model:${data.iteration}`, data.execution_time_ms);
    }
  }
  return found;
}

function resultMs(result: unknown): number | undefined {
  const ms = (result as { execution_time_ms?: unknown } | null)?.execution_time_ms;
  return typeof ms === 'number' ? ms : undefined;
}

export function toMarkers(events: readonly JournalEvent[]): Marker[] {
  return events.flatMap(({ type, data, created_at: at }): Marker[] => {
    if (type === 'run.waiting') return [{ at, kind: 'waiting', label: data.reason ?? '' }];
    if (type === 'run.resumed') return [{ at, kind: 'resumed', label: String(data.attempt ?? '') }];
    return [];
  });
}

export function toPhases(bars: readonly Bar[], { created_at, events }: RunJournal): Phases {
  const started = events.find(({ type }) => type === 'run.started')?.created_at ?? created_at;
  const isModel = ({ step }: Bar) => step.kind === 'model' || step.name.startsWith('model:');
  return {
    queue: Math.max(0, Math.min(bars[0]?.start ?? started, Math.max(started, created_at)) - created_at),
    model: covered(bars.filter(isModel)),
    tool: covered(bars.filter((bar) => !isModel(bar))),
    waiting: waitingTime(events),
  };
}

/** The time that at least one of the bars covers. */
function covered(bars: readonly Bar[]): number {
  let total = 0;
  let until = Number.NEGATIVE_INFINITY;
  for (const { start, end } of bars.toSorted((a, b) => a.start - b.start)) {
    total += Math.max(0, end - Math.max(start, until));
    until = Math.max(until, end);
  }
  return total;
}

function waitingTime(events: readonly JournalEvent[]): number {
  let total = 0;
  let since: number | undefined;
  for (const { type, created_at } of events) {
    if (type === 'run.waiting') since = created_at;
    else if (since !== undefined) {
      total += created_at - since;
      since = undefined;
    }
  }
  return total;
}
