import { AssertionError } from 'node:assert';
import { type AnswerShape, callsOf } from './eval/eval-asker.js';
import type { EvalCall, ExpectedCall } from './eval/eval.types.js';
import { compareCalls, type TrajectoryOptions } from './eval/trajectory-scorer.js';

/** The calls of a run (`TestAgent.calls`), or the answer of `AgentService`. */
export type MadeCalls = readonly EvalCall[] | AnswerShape;

/**
 * Asserts that a run made these calls of tools.
 * @param made the calls (`TestAgent.calls`), or the answer of `AgentService`
 * @param options by default `strict`: these calls in this order; each has the expected arguments, and may have others
 * @throws AssertionError with both lists, which every test runner shows as a difference
 */
export function expectCalls(
  made: MadeCalls,
  expected: readonly ExpectedCall[],
  options: Pick<TrajectoryOptions, 'mode' | 'arguments'> = {},
): void {
  const calls = 'steps' in made ? callsOf(made) : made;
  const { score, reason } = compareCalls(calls, expected, { mode: 'strict', ...options });
  if (score === 1) return;
  const actual = calls.map(({ tool, arguments: args }) => ({ tool, arguments: args }));
  throw new AssertionError({ message: reason, actual, expected, operator: 'expectCalls' });
}
