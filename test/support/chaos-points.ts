import * as fc from 'fast-check';

/** The kinds of journal commits, in the order of a run. */
const COMMITS = [
  'start',
  'take',
  'model',
  'intent',
  'result',
  'question',
  'waiting',
  'answer',
  'end',
  'handover',
] as const;
/** External effects and replies. */
const MARKS = ['read', 'idempotent', 'once', 'acknowledgement', 'event'] as const;

export type Phase = 'before' | 'within' | 'after';
export type Point =
  `${(typeof COMMITS)[number] | 'commit'}.${Phase}` | `${(typeof MARKS)[number]}.${'before' | 'after'}`;

/** Every named point. `within`: the database has received the batch, and has not answered. */
export const POINTS: readonly Point[] = [
  ...COMMITS.flatMap((commit) =>
    (['before', 'within', 'after'] as const).map((phase) => `${commit}.${phase}` as const),
  ),
  ...MARKS.flatMap((mark) => (['before', 'after'] as const).map((phase) => `${mark}.${phase}` as const)),
];

/** One point of each kind, alternating between before, within and after. */
export const SOME_POINTS: readonly Point[] = [
  ...COMMITS.map((commit, i) => `${commit}.${(['before', 'within', 'after'] as const)[i % 3]!}` as const),
  ...MARKS.map((mark, i) => `${mark}.${(['after', 'before'] as const)[i % 2]!}` as const),
];

/** When a process is killed. */
export type Kill =
  /** Kills itself when it reaches the point for the n-th time. */
  | { readonly point: Point; readonly nth: number }
  /** From outside, this time after its start or after it was ready. */
  | { readonly afterMs: number; readonly from: 'start' | 'ready' };

/** The named points, each at a different time of its process's life. */
export function namedKills(points: readonly Point[], seed: number): Kill[] {
  // A process hands over once.
  return fc
    .sample(fc.integer({ min: 1, max: 6 }), { seed, numRuns: points.length })
    .map((nth, i) => ({ point: points[i]!, nth: points[i]!.startsWith('handover') ? 1 : nth }));
}

const PHASES = ['before', 'within', 'after'] as const;
const RANDOM_KILL: fc.Arbitrary<Kill> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ point: fc.constantFrom(...PHASES.map(atCommit)), nth: fc.integer({ min: 1, max: 90 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ afterMs: fc.integer({ min: 0, max: 700 }), from: fc.constant('ready' as const) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ afterMs: fc.integer({ min: 200, max: 1000 }), from: fc.constant('start' as const) }),
  },
);

function atCommit(phase: Phase): Point {
  return `commit.${phase}`;
}

/** Any commit of a process's life, and any moment of it. */
export function randomKills(count: number, seed: number): Kill[] {
  return fc.sample(RANDOM_KILL, { seed, numRuns: count });
}

export function describeKill(kill: Kill): string {
  return 'point' in kill ? `${kill.point}:${kill.nth}` : `${kill.afterMs} ms after ${kill.from}`;
}
