import type { JsonValue } from '../kernel/index.js';
import { argumentAt, type Arguments, fillText, scalarTexts, wholeText } from './argument-text.mapper.js';
import { parseTemplate, placeholdersIn, solePlaceholder } from './text-template.parser.js';

export type Pair = readonly [name: string, value: string];

/** One entry of a query or a form, with placeholders in its value. */
export interface PairTemplate {
  readonly paths: readonly (readonly string[])[];
  /** Empty if a required argument is absent. */
  fill(args: Arguments): readonly Pair[];
}

/** @throws AppError `TOOL_INVALID` */
export function compilePair(name: string, value: JsonValue): PairTemplate {
  if (Array.isArray(value)) {
    const members = value.map((member) => compilePair(name, member));
    return { paths: members.flatMap(({ paths }) => paths), fill: (args) => members.flatMap((one) => one.fill(args)) };
  }
  if (typeof value !== 'string') {
    const fixed = scalarTexts(value, name).map((text): Pair => [name, text]);
    return { paths: [], fill: () => fixed };
  }
  const template = parseTemplate(value);
  const sole = solePlaceholder(template);
  const paths = placeholdersIn(template).map(({ path }) => path);
  if (sole?.isSpread)
    return { paths, fill: (args) => spreadPairs(name, argumentAt(args, sole.path), sole.path.join('.')) };
  return {
    paths,
    fill: (args) => {
      const text = fillText(template, args, wholeText);
      return text === undefined ? [] : [[name, text]];
    },
  };
}

/** Repeats the name for each member of a list. @param argument path of the argument, for error messages */
export function spreadPairs(name: string, value: unknown, argument = name): readonly Pair[] {
  if (value === undefined || value === null) return [];
  return scalarTexts(value, argument).map((text): Pair => [wholeText(name, name), wholeText(text, argument)]);
}
