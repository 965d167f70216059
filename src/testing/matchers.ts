import type { ExpectedCall } from './eval/eval.types.js';
import { shown } from './eval/text-scorer.js';
import { compareCalls, type TrajectoryOptions } from './eval/trajectory-scorer.js';
import { type MadeCalls, outline, readCalls } from './expect-calls.js';

/** A reply of an agent, an answer of `AgentService` or the REST API, an answer of an eval, or a text. */
type Answer = string | { readonly content: string } | { readonly result: string } | { readonly text: string };

/** The outcome of a matcher, as Jest and Vitest read it. */
interface Outcome {
  readonly pass: boolean;
  readonly message: () => string;
  readonly actual?: unknown;
  readonly expected?: unknown;
}

/** The matchers on `expect`, for the types of a test runner. */
export interface AgentMatchers<Returned = void> {
  /** The run called the tool with these arguments, and maybe others; without `args` with any. */
  toHaveCalled(tool: string, args?: Readonly<Record<string, unknown>>): Returned;
  /** The run made these calls in this order, as `expectCalls`. */
  toHaveCalls(expected: readonly ExpectedCall[], options?: Pick<TrajectoryOptions, 'mode' | 'arguments'>): Returned;
  /** The answer contains the text, or matches the expression. */
  toHaveAnswered(expected: string | RegExp): Returned;
}

/** Matchers for `expect.extend` of Jest and Vitest. Asymmetric matchers, such as `expect.any(Number)`, are valid in arguments. */
export const matchers = {
  toHaveCalled(received: MadeCalls, tool: string, args?: Readonly<Record<string, unknown>>): Outcome {
    const calls = readCalls(received, 'toHaveCalled');
    const expected = [{ tool, ...(args && { arguments: args }) }];
    const { score, reason } = compareCalls(calls, expected, { mode: 'superset' });
    return outcome(score === 1, reason, { actual: calls.map(outline), expected });
  },

  toHaveCalls(
    received: MadeCalls,
    expected: readonly ExpectedCall[],
    options: Pick<TrajectoryOptions, 'mode' | 'arguments'> = {},
  ): Outcome {
    const calls = readCalls(received, 'toHaveCalls');
    const { score, reason } = compareCalls(calls, expected, { mode: 'strict', ...options });
    return outcome(score === 1, reason, { actual: calls.map(outline), expected });
  },

  toHaveAnswered(received: Answer, expected: string | RegExp): Outcome {
    const text = textOf(received);
    const isMatch = typeof expected === 'string' ? text.includes(expected) : text.search(expected) !== -1;
    const wanted = typeof expected === 'string' ? shown(expected) : String(expected);
    return outcome(isMatch, `expected an answer with ${wanted}, received ${shown(text)}`, { actual: text, expected });
  },
};

function outcome(pass: boolean, reason: string, values: Pick<Outcome, 'actual' | 'expected'>): Outcome {
  return { pass, message: () => (pass ? `not ${reason}` : reason), ...values };
}

/** @throws TypeError for a value without an answer */
function textOf(received: Answer): string {
  if (typeof received === 'string') return received;
  const { content, result, text } = (received ?? {}) as Readonly<Record<string, unknown>>;
  const found = [content, result, text].find((value) => typeof value === 'string');
  if (found !== undefined) return found;
  throw new TypeError(
    `toHaveAnswered() needs a reply of an agent, an answer or a text; it received ${shown(received)}.`,
  );
}
