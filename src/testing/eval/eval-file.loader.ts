import { readFileSync } from 'node:fs';
import { basename, dirname, extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AppError, messageOf } from '../../errors/index.js';
import { isJsonObject } from '../../kernel/json/index.js';
import { nearNames } from '../../kernel/text/index.js';
import { parseDataset } from './dataset.parser.js';
import type { EvalLine, Scorer, ScorerFunction } from './eval.types.js';
import type { EvalOptions } from './evaluate.js';
import { parseScorer } from './scorer.parser.js';

/** An eval in a file: JSON, or the default export of a module, which may have scorers of its own. */
export interface EvalDefinition extends Pick<EvalOptions, 'name' | 'repeat' | 'concurrency' | 'gates'> {
  /** Name of the agent; default: the default agent. */
  readonly agent?: string;
  /** Name of a workflow, in place of an agent. */
  readonly workflow?: string;
  /** The path of the dataset, relative to this file, or its lines. */
  readonly dataset: string | readonly EvalLine[];
  readonly scorers: readonly (string | { readonly type: string } | Scorer | ScorerFunction)[];
  /** The path of a report, relative to this file. */
  readonly baseline?: string;
}

const MEMBERS = [
  'name',
  'agent',
  'workflow',
  'dataset',
  'scorers',
  'repeat',
  'concurrency',
  'gates',
  'baseline',
  '$schema',
];
const MODULES = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts'];

/**
 * Loads the file of an eval. Node compiles TypeScript itself, without decorators and enums.
 * @returns options of `evaluate`, without the agent
 * @throws AppError `VALIDATION_FAILED` with the path
 */
export async function loadEval(path: string): Promise<Omit<EvalOptions, 'agent'>> {
  const fail = (fault: string, cause?: unknown) =>
    new AppError('VALIDATION_FAILED', `${path}: ${fault}`.replace(/(?<![.?])$/, '.'), { cause });
  const given = await valueIn(path, fail);
  if (!isJsonObject(given)) throw fail('an eval must be an object, as the default export of a module');
  const unknown = Object.keys(given).find((name) => !MEMBERS.includes(name));
  if (unknown !== undefined) {
    const [near] = nearNames(unknown, MEMBERS);
    throw fail(
      `"${unknown}" is no member of an eval: ${near ? `did you mean "${near}"?` : `use ${MEMBERS.join(', ')}`}`,
    );
  }
  try {
    return toOptions(given, path);
  } catch (error) {
    throw fail(messageOf(error), error);
  }
}

async function valueIn(path: string, fail: (fault: string, cause?: unknown) => AppError): Promise<unknown> {
  const extension = extname(path);
  try {
    if (extension === '.json') return JSON.parse(readFileSync(path, 'utf8')) as unknown;
    if (MODULES.includes(extension))
      return ((await import(pathToFileURL(resolve(path)).href)) as { readonly default?: unknown }).default;
  } catch (error) {
    throw fail(`the eval cannot be loaded: ${messageOf(error)}`, error);
  }
  throw fail(`an eval is a file with the ending .json, ${MODULES.slice(0, -1).join(', ')} or ${MODULES.at(-1)}`);
}

function toOptions(given: Readonly<Record<string, unknown>>, path: string): Omit<EvalOptions, 'agent'> {
  const { agent, workflow, dataset, scorers, baseline, name, $schema: _schema, ...others } = given;
  const beside = (file: string) => resolve(dirname(path), file);
  assertText('name', name);
  assertText('agent', agent);
  assertText('workflow', workflow);
  assertText('baseline', baseline);
  if (typeof dataset !== 'string' && !Array.isArray(dataset))
    throw new Error('"dataset" must be a path or a list of lines');
  if (!Array.isArray(scorers)) throw new Error('"scorers" must be a list');
  return {
    ...others,
    name: name ?? basename(path).replace(/\.[^.]+$/, ''),
    dataset:
      typeof dataset === 'string'
        ? beside(dataset)
        : parseDataset(jsonLines(dataset), 'dataset', workflow !== undefined),
    scorers: scorers.map(toScorer),
    ...(agent !== undefined && { agentName: agent }),
    ...(workflow !== undefined && { workflow }),
    ...(baseline !== undefined && { baseline: beside(baseline) }),
  };
}

function jsonLines(lines: readonly unknown[]): string {
  return lines.map((line) => JSON.stringify(line)).join('\n');
}

function assertText(name: string, value: unknown): asserts value is string | undefined {
  if (value !== undefined && typeof value !== 'string') throw new Error(`"${name}" must be a text`);
}

/** A function, an object with a function, or the declaration of a scorer of ours. */
function toScorer(given: unknown): Scorer | ScorerFunction {
  if (typeof given === 'function') return given as ScorerFunction;
  if (isJsonObject(given) && typeof given['score'] === 'function') return given as unknown as Scorer;
  return parseScorer(given);
}
