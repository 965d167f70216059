import type { ErrorObject } from 'ajv/dist/2020.js';
import { fieldMistake, type FieldMistake, MAX_MISTAKES } from '../../kernel/index.js';
import { ExactInteger } from '../../kernel/json/index.js';

/** Maximum number of problems reported to the model at once. */
export const MAX_PROBLEMS = 10;
const MAX_LISTED = 30;
const MAX_SHOWN_CHARACTERS = 60;

/** Describes in plain English which arguments are invalid and why, by the first `MAX_MISTAKES` errors. */
export function toReason(all: readonly ErrorObject[]): string {
  const errors = all.slice(0, MAX_MISTAKES);
  const problems = [...new Set(outermost(errors).map((error) => problemOf(error, errors)))];
  const shown = problems.slice(0, MAX_PROBLEMS).join('; ');
  return problems.length > MAX_PROBLEMS ? `${shown}; and ${problems.length - MAX_PROBLEMS} more` : shown;
}

/** The same problems as data. @param root first segment of the paths, if not included */
export function toMistakes(all: readonly ErrorObject[], root = ''): FieldMistake[] {
  const errors = all.slice(0, MAX_MISTAKES);
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

/** A failed choice includes the errors of all its branches, and an `if` those of its branch: retains one each. */
function outermost(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const choices = errors.filter(isChoice);
  const retained = errors.filter(
    (error) => error.keyword !== 'if' && !choices.some((choice) => isInside(error, choice)),
  );
  return retained.length > 0 ? retained : errors;
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

/** For a wrong type the type of the value; for a wrong kind of number the number itself. */
function given({ keyword, data, params }: ErrorObject): string {
  if (keyword !== 'type') return valueText(data);
  const types = [(params as { type: unknown }).type].flat();
  if (typeof data === 'number' && !types.includes('integer') && !types.includes('number')) return 'number';
  return typeText(data);
}

function ruleOf({ keyword, message = '' }: ErrorObject): string {
  return keyword === 'false schema' ? 'is not allowed' : message.replace('must NOT', 'must not');
}

/** JSON type of a value, for the end of a sentence; of a number the number itself. */
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
  const known = [...new Set(propertyNames(error.parentSchema))];
  const what = `unknown argument ${quoted(path)}`;
  if (known.length > 0) return `${what} (known: ${known.join(', ')})`;
  return error.instancePath === '' ? `${what} (the tool has no arguments)` : what;
}

/** Names of the properties of a schema and of its parts for the same value. */
function propertyNames(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties, allOf, anyOf, oneOf } = schema as Readonly<Record<string, unknown>>;
  const parts = [allOf, anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
  return [...Object.keys(properties ?? {}), ...parts.flatMap(propertyNames)];
}

/** Converts a JSON pointer to `items[0].name`. */
function pathOf(pointer: string): string {
  return keysOf(pointer).reduce(joinedPath, '');
}

export function keysOf(pointer: string): string[] {
  const keys = pointer.split('/').slice(1);
  return keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Appends a key: `items[0]` and `name` make `items[0].name`. */
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
