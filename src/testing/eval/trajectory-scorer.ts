import { canonicalJson } from '../../kernel/json/index.js';
import type { EvalCall, ExpectedCall, Score, Scorer } from './eval.types.js';
import { common, type CommonOptions, no, shown, yes } from './text-scorer.js';
import { differenceOf } from './value-scorer.js';

/** Compares the arguments of a call. */
export type ArgumentMatch = (actual: unknown, expected: unknown, tool: string) => boolean;

export interface TrajectoryOptions extends CommonOptions {
  /**
   * `strict`: these calls in this order. `unordered`: these calls in any order. `subset`: no other calls than these.
   * `superset` (default): at least these calls.
   */
  readonly mode?: 'strict' | 'unordered' | 'subset' | 'superset';
  /** `subset` (default): the call has the expected arguments, and may have others. */
  readonly arguments?: 'exact' | 'subset' | 'ignore' | ArgumentMatch;
  /** Default: the `calls` of the line. */
  readonly calls?: readonly ExpectedCall[];
}

const MATCHES: Readonly<Record<'exact' | 'subset' | 'ignore', ArgumentMatch>> = {
  exact: (actual, expected) => canonicalJson(actual) === canonicalJson(expected),
  subset: (actual, expected) => differenceOf(actual, expected, '$') === undefined,
  ignore: () => true,
};

/** Compares the calls of the agent with the expected ones. */
export function trajectory(options: TrajectoryOptions = {}): Scorer {
  return common('trajectory', options, ({ line, answer }) =>
    compareCalls(answer.calls, options.calls ?? line.calls ?? [], options),
  );
}

/** The score of calls: 1 if they match, else 0. */
export function compareCalls(
  actual: readonly EvalCall[],
  expected: readonly ExpectedCall[],
  { mode = 'superset', arguments: args = 'subset' }: Pick<TrajectoryOptions, 'mode' | 'arguments'> = {},
): Score {
  const match = typeof args === 'function' ? args : MATCHES[args];
  const fits = (call: EvalCall, wanted: ExpectedCall) =>
    call.tool === wanted.tool &&
    (wanted.arguments === undefined || match(call.arguments, wanted.arguments, wanted.tool));
  const reason = `expected ${mode} ${list(expected)}, received ${list(actual)}`;
  return isMatch(actual, expected, mode, fits) ? yes(reason) : no(reason);
}

type Fits = (call: EvalCall, wanted: ExpectedCall) => boolean;

function isMatch(
  actual: readonly EvalCall[],
  expected: readonly ExpectedCall[],
  mode: TrajectoryOptions['mode'],
  fits: Fits,
): boolean {
  if (mode === 'strict')
    return actual.length === expected.length && actual.every((call, at) => fits(call, expected[at]!));
  const pairs = pairUp(actual, expected, fits);
  const isWhole = mode === 'subset' || pairs === expected.length;
  const isClosed = mode === 'superset' || pairs === actual.length;
  return isWhole && isClosed;
}

/** The largest number of pairs of an actual and an expected call that fit (Kuhn's algorithm). */
function pairUp(actual: readonly EvalCall[], expected: readonly ExpectedCall[], fits: Fits): number {
  const takenBy = new Map<number, number>();
  const assign = (wanted: number, seen: Set<number>): boolean => {
    const free = actual.findIndex((call, at) => {
      if (seen.has(at) || !fits(call, expected[wanted]!)) return false;
      seen.add(at);
      const holder = takenBy.get(at);
      return holder === undefined || assign(holder, seen);
    });
    if (free === -1) return false;
    takenBy.set(free, wanted);
    return true;
  };
  return expected.filter((_, at) => assign(at, new Set())).length;
}

function list(calls: readonly (EvalCall | ExpectedCall)[]): string {
  return (
    calls.map(({ tool, arguments: args }) => `${tool}(${args === undefined ? '…' : shown(args)})`).join(', ') ||
    'no calls'
  );
}
