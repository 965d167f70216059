import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { AppError, messageOf } from '../../errors/index.js';
import { isJsonObject, type JsonSchema } from '../../kernel/json/index.js';
import type { EvalAnswer, Scorer } from './eval.types.js';
import { common, type CommonOptions, expectedOf, no, shown, valueOf, yes } from './text-scorer.js';

/** A part of a value: `$` is the value, `.name`, `["name"]` and `[0]` select members and items. */
export interface PathOption {
  /** Default: `$`. */
  readonly path?: string;
}

const STEP = /\.([A-Za-z_$][\w$]*)|\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]/gy;
const NUMBER = /[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?/gi;

/** The answer is JSON whose part at `path` contains `expected`: objects may have further members, lists no further items. */
export function json(options: CommonOptions & PathOption = {}): Scorer {
  const steps = parsePath(options.path ?? '$');
  return common('json', options, ({ line, answer }) => {
    const part = partOf(answer, steps);
    const fault = differenceOf(part, expectedOf(line, 'json'), options.path ?? '$');
    return fault === undefined ? yes('contained') : no(fault);
  });
}

/** The answer is JSON that a JSON Schema (2020-12) accepts. */
export function schema(options: CommonOptions & { readonly schema: JsonSchema }): Scorer {
  const validate = compile(options.schema);
  return common('schema', options, ({ answer }) => {
    const value = valueOf(answer);
    if (value === undefined) return no(`the answer is no JSON: ${shown(answer.text)}`);
    return validate.check(value) ? yes('valid') : no(validate.fault());
  });
}

/** The number in the answer, the last one of a text, differs from `expected` at most by a tolerance; default 0. */
export function number(
  options: CommonOptions & PathOption & { readonly tolerance?: number; readonly relative?: number } = {},
): Scorer {
  const { path, tolerance = 0, relative = 0 } = options;
  const steps = path === undefined ? undefined : parsePath(path);
  return common('number', options, ({ line, answer }) => {
    const expected = Number(expectedOf(line, 'number'));
    if (Number.isNaN(expected)) throw new AppError('VALIDATION_FAILED', `Line "${line.id}": "expected" is no number.`);
    const found = numberIn(steps ? partOf(answer, steps) : (answer.output ?? answer.text));
    if (found === undefined) return no(`no number in ${shown(answer.text)}`);
    const allowed = Math.max(tolerance, relative * Math.abs(expected));
    const reason = `expected ${expected} ± ${allowed}, received ${found}`;
    return Math.abs(found - expected) <= allowed ? yes(reason) : no(reason);
  });
}

function numberIn(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  const last = typeof value === 'string' ? value.match(NUMBER)?.at(-1) : undefined;
  return last === undefined ? undefined : Number(last.replaceAll(',', ''));
}

/** @throws AppError `VALIDATION_FAILED` */
function parsePath(path: string): readonly (string | number)[] {
  const steps: (string | number)[] = [];
  let at = 1;
  STEP.lastIndex = 1;
  for (let match = STEP.exec(path); match; match = STEP.exec(path)) {
    const [, name, index, quoted] = match;
    steps.push(index === undefined ? (name ?? (JSON.parse(`"${quoted}"`) as string)) : Number(index));
    at = STEP.lastIndex;
  }
  if (path.startsWith('$') && at === path.length) return steps;
  throw new AppError('VALIDATION_FAILED', `The path "${path}" is not of the form $.name[0]["other name"].`);
}

function partOf(answer: EvalAnswer, steps: readonly (string | number)[]): unknown {
  let part: unknown = valueOf(answer);
  for (const step of steps) {
    const isThere = typeof part === 'object' && part !== null && Object.hasOwn(part, step);
    part = isThere ? (part as Readonly<Record<string | number, unknown>>)[step] : undefined;
  }
  return part;
}

/** A value that a test runner compares itself, such as `expect.any(Number)` of Jest and Vitest. */
interface AsymmetricMatcher {
  asymmetricMatch(actual: unknown): boolean;
}

function isAsymmetric(value: unknown): value is AsymmetricMatcher {
  return typeof (value as Partial<AsymmetricMatcher> | null)?.asymmetricMatch === 'function';
}

/** The first part of the expected value that the actual one lacks; undefined if it contains all. */
export function differenceOf(actual: unknown, expected: unknown, path: string): string | undefined {
  const fault = `${path}: expected ${shown(expected)}, received ${shown(actual)}`;
  if (isAsymmetric(expected)) return expected.asymmetricMatch(actual) ? undefined : fault;
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) return fault;
    return first(expected.map((item, at) => differenceOf(actual[at], item, `${path}[${at}]`)));
  }
  if (isJsonObject(expected)) {
    if (!isJsonObject(actual)) return fault;
    const members = Object.entries(expected);
    return first(
      members.map(([name, value]) => {
        const found = Object.hasOwn(actual, name) ? (actual as Readonly<Record<string, unknown>>)[name] : undefined;
        return differenceOf(found, value, `${path}.${name}`);
      }),
    );
  }
  return Object.is(actual, expected) ? undefined : fault;
}

function first(faults: readonly (string | undefined)[]): string | undefined {
  return faults.find((fault) => fault !== undefined);
}

/** @throws AppError `VALIDATION_FAILED` for a schema that cannot be used */
function compile(given: JsonSchema): { check: (value: unknown) => boolean; fault: () => string } {
  const ajv = new Ajv2020({ allErrors: true, strict: false, logger: false });
  addFormats.default(ajv);
  try {
    const validate = ajv.compile(given);
    return { check: (value) => validate(value), fault: () => ajv.errorsText(validate.errors, { dataVar: '$' }) };
  } catch (cause) {
    throw new AppError('VALIDATION_FAILED', `The schema of a scorer is invalid: ${messageOf(cause)}.`, { cause });
  }
}
