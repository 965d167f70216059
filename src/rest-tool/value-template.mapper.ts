import type { JsonValue } from '../kernel/index.js';
import { argumentAt, type Arguments, fillText } from './argument-text.mapper.js';
import { parseTemplate, placeholdersIn, solePlaceholder } from './text-template.parser.js';

/** A JSON value with placeholders in its strings. */
export interface ValueTemplate {
  /** Paths of its arguments. */
  readonly paths: readonly (readonly string[])[];
  /**
   * Fills in arguments. A string that is exactly one placeholder becomes the argument's value, whatever its type. Parts
   * with an absent argument are left out; the result is `undefined` if the whole value is left out.
   */
  fill(args: Arguments): unknown;
}

/** @throws AppError `TOOL_INVALID` */
export function compileValue(value: JsonValue): ValueTemplate {
  if (typeof value === 'string') return compileText(value);
  if (typeof value !== 'object' || value === null) return { paths: [], fill: () => value };
  if (Array.isArray(value)) {
    const members = value.map(compileValue);
    return { paths: pathsOf(members), fill: (args) => present(members.map((member) => member.fill(args))) };
  }
  const fields = Object.entries(value).map(([name, field]) => [name, compileValue(field)] as const);
  return {
    paths: pathsOf(fields.map(([, field]) => field)),
    fill: (args) => {
      const filled = fields.map(([name, field]) => [name, field.fill(args)] as const);
      return Object.fromEntries(filled.filter(([, field]) => field !== undefined));
    },
  };
}

function compileText(text: string): ValueTemplate {
  const template = parseTemplate(text);
  const sole = solePlaceholder(template);
  const paths = placeholdersIn(template).map(({ path }) => path);
  return { paths, fill: (args) => (sole ? argumentAt(args, sole.path) : fillText(template, args)) };
}

function pathsOf(templates: readonly ValueTemplate[]): ValueTemplate['paths'] {
  return templates.flatMap(({ paths }) => paths);
}

function present(values: readonly unknown[]): unknown[] {
  return values.filter((value) => value !== undefined);
}
