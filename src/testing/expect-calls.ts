import { AssertionError } from 'node:assert';
import { type AnswerShape, callsOf } from './eval/eval-asker.js';
import type { EvalCall, ExpectedCall } from './eval/eval.types.js';
import { shown } from './eval/text-scorer.js';
import { compareCalls, type TrajectoryOptions } from './eval/trajectory-scorer.js';

/** The calls of a run (`TestAgent.calls`), or the answer of `AgentService`. */
export type MadeCalls = readonly EvalCall[] | AnswerShape;

/**
 * Asserts that a run made these calls of tools.
 * @param made the calls (`TestAgent.calls`), or the answer of `AgentService`
 * @param options by default `strict`: these calls in this order; each has the expected arguments, and may have others
 * @throws AssertionError with both lists, which every test runner shows as a difference; TypeError as `readCalls`
 */
export function expectCalls(
  made: MadeCalls,
  expected: readonly ExpectedCall[],
  options: Pick<TrajectoryOptions, 'mode' | 'arguments'> = {},
): void {
  const calls = readCalls(made, 'expectCalls');
  const { score, reason } = compareCalls(calls, expected, { mode: 'strict', ...options });
  if (score === 1) return;
  throw new AssertionError({ message: reason, actual: calls.map(outline), expected, operator: 'expectCalls' });
}

/**
 * @param user the function that needs the calls, for the message
 * @throws TypeError for a value without calls, such as a reply
 */
export function readCalls(made: MadeCalls, user: string): readonly EvalCall[] {
  if (Array.isArray(made)) return made as readonly EvalCall[];
  if (typeof made === 'object' && made !== null && 'steps' in made) return callsOf(made);
  throw new TypeError(
    `${user}() needs the calls of a run, \`await agent.calls(reply)\`, or an answer of AgentService; it received ${shown(made)}.`,
  );
}

/** A call without its outcome, for a difference. */
export function outline({ tool, arguments: args }: EvalCall): ExpectedCall {
  return { tool, arguments: args as Readonly<Record<string, unknown>> };
}
