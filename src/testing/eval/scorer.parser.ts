import { AppError } from '../../errors/index.js';
import { isJsonObject } from '../../kernel/json/index.js';
import { nearNames } from '../../kernel/text/index.js';
import type { Scorer } from './eval.types.js';
import { cost, latency, steps } from './limit-scorer.js';
import { rubric } from './rubric-scorer.js';
import { contains, exact } from './text-scorer.js';
import { trajectory } from './trajectory-scorer.js';
import { json, number, schema } from './value-scorer.js';

/** The scorers of Jackdaw, by their type in a file. */
export const score = { exact, contains, json, schema, number, trajectory, rubric, cost, latency, steps } as const;

type Type = keyof typeof score;

const COMMON = ['type', 'name', 'passAt', 'isTracked'];
const OPTIONS: Readonly<Record<Type, readonly string[]>> = {
  exact: ['ignoreSpace', 'ignoreCase'],
  contains: ['values', 'ignoreSpace', 'ignoreCase'],
  json: ['path'],
  schema: ['schema'],
  number: ['path', 'tolerance', 'relative'],
  trajectory: ['mode', 'arguments', 'calls'],
  rubric: ['rubric', 'judge'],
  cost: ['max'],
  latency: ['max'],
  steps: ['max'],
};

/** A scorer of a file: `"exact"`, or `{ "type": "exact", "ignoreSpace": true }`. @throws AppError `VALIDATION_FAILED` */
export function parseScorer(given: unknown): Scorer {
  const members = typeof given === 'string' ? { type: given } : given;
  if (!isJsonObject(members)) throw invalid('a scorer must be the name of a type, or { "type": … }');
  const { type, ...options } = members as Readonly<Record<string, unknown>>;
  const types = Object.keys(score);
  if (typeof type !== 'string' || !types.includes(type))
    throw invalid(`the scorer type "${String(type)}" is unknown: ${near(String(type), types)}`);
  const known = [...COMMON, ...OPTIONS[type as Type]];
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) throw invalid(`the scorer "${type}" has no option "${unknown}": ${near(unknown, known)}`);
  return (score[type as Type] as (options: object) => Scorer)(options);
}

function near(name: string, known: readonly string[]): string {
  const [found] = nearNames(name, known);
  return found === undefined ? `use ${known.join(', ')}` : `did you mean "${found}"?`;
}

function invalid(fault: string): AppError {
  return new AppError('VALIDATION_FAILED', `${fault[0]!.toUpperCase()}${fault.slice(1)}.`.replace('?.', '?'));
}
