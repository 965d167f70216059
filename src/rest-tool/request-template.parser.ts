import type { JsonValue } from '../kernel/json/index.js';
import { attempt } from '../tool/index.js';
import {
  argumentAt,
  type Arguments,
  fillText,
  parseTemplate,
  placeholdersIn,
  scalarTexts,
  solePlaceholder,
  wholeText,
} from './argument-text.mapper.js';
import { isHeaderName, isHeaderText, isReservedHeader } from './header.policy.js';
import type { RestToolDeclaration } from './rest-tool.types.js';
import { UrlTemplate } from './url-template.parser.js';

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

/** A JSON value with placeholders in its strings. */
interface ValueTemplate {
  /** Paths of its arguments. */
  readonly paths: readonly (readonly string[])[];
  /**
   * Fills in arguments. A string that is exactly one placeholder becomes the argument's value, whatever its type. Parts
   * with an absent argument are left out; the result is `undefined` if the whole value is left out.
   */
  fill(args: Arguments): unknown;
}

/** @throws AppError `TOOL_INVALID` */
function compileValue(value: JsonValue): ValueTemplate {
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

/** The compiled request of a declaration, with placeholders for arguments. */
export interface RequestTemplate {
  readonly url: UrlTemplate;
  readonly query: readonly PairTemplate[];
  readonly headers: readonly PairTemplate[];
  readonly body?: ValueTemplate;
}

/** Compiles a declaration's request; `undefined` after a mistake, which is appended to `problems`. */
export function parseRequest(declaration: RestToolDeclaration, problems: string[]): RequestTemplate | undefined {
  const { query = {}, headers = {}, body } = declaration;
  const url = attempt(() => UrlTemplate.parse(declaration.url), problems);
  const pairs = Object.entries(query).map(([name, value]) => attempt(() => compilePair(name, value), problems));
  const named = Object.entries(headers).map(([name, value]) =>
    attempt(() => compilePair(checkedHeader(name, value), value), problems),
  );
  const content = attempt(() => bodyOf(declaration), problems);
  if (!url) return undefined;
  const all = { url, query: pairs.filter(isThere), headers: named.filter(isThere) };
  const isWhole = all.query.length === pairs.length && all.headers.length === named.length;
  if (!isWhole || (body !== undefined && !content)) return undefined;
  return { ...all, ...(content && { body: content }) };
}

function bodyOf({ method = 'GET', body }: RestToolDeclaration): ValueTemplate | undefined {
  if (body === undefined) return undefined;
  if (method === 'GET' || method === 'HEAD') throw new Error(`it has a body, which ${method} cannot have`);
  return compileValue(body);
}

function isThere(template: PairTemplate | undefined): template is PairTemplate {
  return template !== undefined;
}

/** @throws Error for a header that a tool cannot set */
function checkedHeader(given: string, value: string): string {
  const name = given.toLowerCase();
  if (!isHeaderName(given)) throw new Error(`its header ${JSON.stringify(given)} is not a valid header name`);
  if (name === 'authorization') {
    throw new Error('its headers contain authorization: use `auth`, which reads a secret');
  }
  if (isReservedHeader(name)) throw new Error(`its headers contain ${name}, which a tool cannot set`);
  if (!isHeaderText(value)) {
    throw new Error(`its header "${name}" is ${JSON.stringify(value)}, which a header cannot contain: use plain ASCII`);
  }
  return name;
}
