import { AppError, type JsonValue } from '../../common/index.js';
import { valueAt } from '../../tool/index.js';
import type { Template } from '../definition/condition.schema.js';
import { parsePlace, type Path } from './place.parser.js';

/** What places are filled with: the input, what nodes gave, and in a map the item. */
export type Scope = Readonly<Record<string, JsonValue | undefined>>;

/** A value with places. */
export interface CompiledTemplate {
  /** What its places begin with, each once. */
  readonly roots: readonly string[];
  /**
   * The value with its places filled. A text that is one place becomes what is there, of whatever type, and null where
   * nothing is; in other texts values are written as JSON, and nothing as nothing.
   */
  fill(scope: Scope, mayOmit?: MayOmit): JsonValue;
  /** The place that the whole text is, if it is one. */
  readonly sole?: Path;
}

/**
 * Whether a field is left out of an object when its template is a place that has nothing, or null; by default it is null.
 * @param isNull whether null is there
 */
export type MayOmit = (path: Path, isNull: boolean) => boolean;

type Piece = string | Path;

/** Four braces, a place (whose quoted keys may hold braces), or two braces that belong to no place. */
const PIECE = /\{\{\{\{|\{\{((?:[^{}"']|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')*)\}\}|\{\{/g;

/** @throws AppError `WORKFLOW_INVALID` for a place that is none */
export function compileTemplate(template: Template): CompiledTemplate {
  if (typeof template === 'string') return compileText(template);
  if (typeof template !== 'object' || template === null) return { roots: [], fill: () => template };
  if (Array.isArray(template)) {
    const members = template.map(compileTemplate);
    return {
      roots: rootsOf(members),
      fill: (scope, mayOmit) => members.map((member, index) => member.fill(scope, below(String(index), mayOmit))),
    };
  }
  const fields = Object.entries(template).map(([name, field]) => [name, compileTemplate(field)] as const);
  return {
    roots: rootsOf(fields.map(([, field]) => field)),
    fill: (scope, mayOmit) => {
      const given = mayOmit ? fields.filter(([name, { sole }]) => !isOmitted(name, sole, { scope, mayOmit })) : fields;
      return Object.fromEntries(given.map(([name, field]) => [name, field.fill(scope, below(name, mayOmit))]));
    },
  };
}

/** A text with its places filled. */
export function fillText(template: CompiledTemplate, scope: Scope): string {
  return toText(template.fill(scope));
}

function compileText(text: string): CompiledTemplate {
  const pieces = parse(text);
  const paths = pieces.filter((piece) => typeof piece !== 'string');
  const [first] = pieces;
  const sole = pieces.length === 1 && typeof first !== 'string' ? first : undefined;
  const roots = [...new Set(paths.map(([root]) => root!))];
  if (sole) return { roots, fill: (scope) => placeIn(scope, sole), sole };
  return {
    roots,
    fill: (scope) =>
      pieces.map((piece) => (typeof piece === 'string' ? piece : toText(placeIn(scope, piece)))).join(''),
  };
}

function parse(text: string): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(PIECE)) {
    pieces.push(text.slice(end, match.index), toPiece(match[0], match[1], text));
    end = match.index + match[0].length;
  }
  pieces.push(text.slice(end));
  return pieces.filter((piece) => piece !== '');
}

function toPiece(piece: string, inner: string | undefined, text: string): Piece {
  if (piece === '{{{{') return '{{';
  const path = inner === undefined ? null : parsePlace(inner);
  if (path) return path;
  throw new AppError(
    'WORKFLOW_INVALID',
    `${JSON.stringify(text)} has ${JSON.stringify(piece)}, which is no place: write {{input.name}}, {{node.field}} or, for any other key, {{node["a key"]}}, and {{{{ for two braces`,
  );
}

function placeIn(scope: Scope, path: Path): JsonValue {
  return (valueAt(scope, path) ?? null) as JsonValue;
}

function toText(value: JsonValue): string {
  if (value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function below(name: string, mayOmit: MayOmit | undefined): MayOmit | undefined {
  return mayOmit && ((path, isNull) => mayOmit([name, ...path], isNull));
}

interface Omission {
  readonly scope: Scope;
  readonly mayOmit: MayOmit;
}

function isOmitted(name: string, sole: Path | undefined, { scope, mayOmit }: Omission): boolean {
  const value = sole && valueAt(scope, sole);
  return sole !== undefined && (value === undefined || value === null) && mayOmit([name], value === null);
}

function rootsOf(templates: readonly CompiledTemplate[]): string[] {
  return [...new Set(templates.flatMap(({ roots }) => roots))];
}
