/** Evals: definitions in files, scorers, reports, and evals of guardrails. */
export { evaluate } from './evaluate.js';
export type { EvalOptions } from './evaluate.js';
export type { EvalReport } from './eval-report.types.js';
export type { EvalAnswer, EvalCall, EvalLine, ExpectedCall, Scorer, ScorerContext } from './eval.types.js';
export { loadEval } from './eval-file.loader.js';
export type { EvalDefinition } from './eval-file.loader.js';
export { evaluateGuardrails } from './guardrail/evaluate-guardrails.js';
export { ObedientModel } from './guardrail/obedient-model.js';
export { toJunit } from './junit.mapper.js';
export { score } from './scorer.parser.js';
