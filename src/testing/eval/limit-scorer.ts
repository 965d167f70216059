import { AppError } from '../../errors/index.js';
import type { EvalAnswer, Scorer } from './eval.types.js';
import { common, type CommonOptions } from './text-scorer.js';

export interface MaxOption extends CommonOptions {
  readonly max: number;
}

/** A score of 1 up to the limit, above it the share `max / value`. */
function limit(type: string, options: MaxOption, unit: string, measure: (answer: EvalAnswer) => number): Scorer {
  const { max } = options;
  if (!(max > 0)) throw new AppError('VALIDATION_FAILED', `The scorer "${type}" needs "max", a number above 0.`);
  return common(type, options, ({ answer }) => {
    const value = measure(answer);
    return { score: value <= max ? 1 : max / value, reason: `${value} of at most ${max}${unit}` };
  });
}

/** The cost of the run and its child runs, in the unit of `LLM_PRICES`. */
export const cost = (options: MaxOption): Scorer => limit('cost', options, '', ({ usage }) => usage.cost);
/** The duration of the run, in ms. */
export const latency = (options: MaxOption): Scorer => limit('latency', options, ' ms', ({ durationMs }) => durationMs);
/** The number of model calls of the run. */
export const steps = (options: MaxOption): Scorer => limit('steps', options, ' steps', (answer) => answer.steps);
