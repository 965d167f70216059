import type { ErrorObject } from 'ajv/dist/2020.js';
import { ExactInteger, fieldMistake, type FieldMistake } from '../../common/index.js';

/** How many problems the model is told of at once. */
export const MAX_PROBLEMS = 10;
const MAX_LISTED = 30;
const MAX_SHOWN_CHARACTERS = 60;

/** Says in plain English which arguments are wrong and why. */
export function toReason(errors: readonly ErrorObject[]): string {
  const problems = [...new Set(outermost(errors).map((error) => problemOf(error, errors)))];
  const shown = problems.slice(0, MAX_PROBLEMS).join('; ');
  return problems.length > MAX_PROBLEMS ? `${shown}; and ${problems.length - MAX_PROBLEMS} more` : shown;
}

/** The same, apart. @param root what the paths are of, if they do not begin with it */
export function toMistakes(errors: readonly ErrorObject[], root = ''): FieldMistake[] {
  return outermost(errors)
    .slice(0, MAX_PROBLEMS)
    .map((error) => {
      const params = error.params as Record<string, string | undefined>;
      const key = params['missingProperty'] ?? params['additionalProperty'] ?? params['unevaluatedProperty'];
      const keys = [...keysOf(error.instancePath), ...(key === undefined ? [] : [key])];
      const value: unknown = key === undefined ? error.data : (error.data as Record<string, unknown>)[key];
      const field = [...(root === '' ? [] : [root]), ...keys].join('.');
      return fieldMistake(field, problemOf(error, errors), error.keyword, value);
    });
}

/** A failed choice comes with the errors of all its branches, and an `if` with those of its branch: keep one each. */
function outermost(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const choices = errors.filter(isChoice);
  const kept = errors.filter((error) => error.keyword !== 'if' && !choices.some((choice) => isInside(error, choice)));
  return kept.length > 0 ? kept : errors;
}

function isChoice(error: ErrorObject): boolean {
  return error.keyword === 'anyOf' || error.keyword === 'oneOf';
}

function isInside(error: ErrorObject, choice: ErrorObject): boolean {
  return error.schemaPath.startsWith(`${choice.schemaPath}/`) && error.instancePath.startsWith(choice.instancePath);
}

function problemOf(error: ErrorObject, all: readonly ErrorObject[]): string {
  if (isChoice(error)) return choiceProblem(error, all);
  const where = pathOf(error.instancePath);
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case 'required':
      return `${quoted(joinedPath(where, String(params.missingProperty)))} is required`;
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return unknownArgument(joinedPath(where, String(params.additionalProperty ?? params.unevaluatedProperty)), error);
    case 'type':
    case 'enum':
    case 'const':
      return `${nameOf(where)} must be ${wanted(error.keyword, params)}, got ${given(error)}`;
    default:
      return `${nameOf(where)} ${ruleOf(error)}, got ${typeText(error.data)}`;
  }
}

function wanted(keyword: 'type' | 'enum' | 'const', params: Record<string, unknown>): string {
  switch (keyword) {
    case 'type':
      return [params.type].flat().join(' or ');
    case 'enum':
      return `one of ${listed(params.allowedValues as unknown[])}`;
    case 'const':
      return valueText(params.allowedValue);
  }
}

/** Of a value of the wrong type its type says most; of a number that is not the right kind of number, the number. */
function given({ keyword, data, params }: ErrorObject): string {
  if (keyword !== 'type') return valueText(data);
  const types = [(params as { type: unknown }).type].flat();
  if (typeof data === 'number' && !types.includes('integer') && !types.includes('number')) return 'number';
  return typeText(data);
}

function ruleOf({ keyword, message = '' }: ErrorObject): string {
  return keyword === 'false schema' ? 'is not allowed' : message.replace('must NOT', 'must not');
}

/** The type of a value as JSON has it, for the end of a sentence; of a number, the number. */
export function typeText(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (value === null) return 'null';
  if (value instanceof ExactInteger) return value.text;
  if (value === undefined) return 'nothing';
  return Array.isArray(value) ? 'array' : typeof value;
}

function choiceProblem(choice: ErrorObject, all: readonly ErrorObject[]): string {
  const name = nameOf(pathOf(choice.instancePath));
  const inside = all.filter((error) => error !== choice && isInside(error, choice));
  if (inside.length === 0) return `${name} fits ${choice.keyword === 'oneOf' ? 'more than one' : 'none'} of its forms`;
  const reasons = [...new Set(outermost(inside).map((error) => problemOf(error, inside)))];
  return `${name} fits none of its forms (${reasons.slice(0, MAX_PROBLEMS).join(', or ')})`;
}

function unknownArgument(path: string, error: ErrorObject): string {
  const parent = error.parentSchema as { properties?: object } | undefined;
  const known = Object.keys(parent?.properties ?? {});
  return `unknown argument ${quoted(path)} (${known.length > 0 ? `known: ${known.join(', ')}` : 'there are none'})`;
}

/** Turns a JSON pointer into `items[0].name`. */
function pathOf(pointer: string): string {
  return keysOf(pointer).reduce(joinedPath, '');
}

export function keysOf(pointer: string): string[] {
  const keys = pointer.split('/').slice(1);
  return keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** `items[0].name` of `items[0]` and `name`. */
export function joinedPath(path: string, key: string): string {
  if (path === '') return key;
  return /^\d+$/.test(key) ? `${path}[${key}]` : `${path}.${key}`;
}

function nameOf(path: string): string {
  return path === '' ? 'the arguments' : quoted(path);
}

function quoted(path: string): string {
  return JSON.stringify(shortened(path));
}

function listed(values: readonly unknown[]): string {
  const more = values.length > MAX_LISTED ? ', …' : '';
  return values.slice(0, MAX_LISTED).map(valueText).join(', ') + more;
}

function valueText(value: unknown): string {
  return shortened(JSON.stringify(value) ?? String(value));
}

export function shortened(text: string): string {
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text;
}
