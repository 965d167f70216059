import { AppError } from '../../errors/index.js';
import type { JsonValue } from '../../kernel/json/index.js';
import { valueAt } from '../../rest-tool/index.js';
import type { Template } from '../definition/condition.schema.js';

/** Path to a value; the first key is a node id, `input`, `item` or `index`. */
type Path = readonly string[];

const ROOT = /\s*([A-Za-z][\w-]*)/y;
/** A bare key has no operator characters or quotes, so that an expression is an error instead of a missing value. */
const SEGMENT =
  /\s*(?:\.([^.[\]{}"'`|+*/=<>()?!&%,;\\^~\p{Cc}]+)|\[\s*(?:("(?:[^"\\]|\\.)*")|'((?:[^'\\]|\\.)*)'|(\d+))\s*\])/uy;
/** A subtraction, whereas `x-y` is a key. */
const MINUS = /\s-\s/;

/**
 * Parses the text between the braces: `input.text`, `load.result.first name`, `input["a.b"]`, `load.result.list[0]`.
 * @returns `null` if the text is not a valid path
 */
function parsePlace(text: string): Path | null {
  const [root, path] = [matchAt(ROOT, text, 0), [] as string[]];
  if (!root) return null;
  path.push(root[1]!);
  let end = root[0].length;
  while (text.slice(end).trim() !== '') {
    const segment = matchAt(SEGMENT, text, end);
    const key = segment && keyOf(segment);
    if (!segment || key === null) return null;
    path.push(key);
    end += segment[0].length;
  }
  return path;
}

function keyOf([, bare, json, single, index]: RegExpExecArray): string | null {
  if (bare !== undefined) return bare.trim() === '' || MINUS.test(bare) ? null : bare.trim();
  if (single !== undefined) return single.replaceAll(/\\(.)/gs, '$1');
  return json === undefined ? index! : parsed(json);
}

function parsed(json: string): string | null {
  try {
    return JSON.parse(json) as string;
  } catch {
    return null;
  }
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** Values for placeholders: the input, outputs of nodes and, in a map, the item. */
export type Scope = Readonly<Record<string, JsonValue | undefined>>;

/** A value with parsed placeholders. */
export interface CompiledTemplate {
  /** Distinct roots of its placeholders. */
  readonly roots: readonly string[];
  /**
   * Fills in the placeholders. A text that is a single placeholder becomes the value itself, null if it is missing. In
   * other texts, values other than texts are inserted as JSON, and missing values and null as empty text.
   */
  fill(scope: Scope, mayOmit?: MayOmit): JsonValue;
  /** Path of the placeholder, if the text is a single placeholder. */
  readonly sole?: Path;
}

/**
 * Whether to omit a field of an object whose template is a single placeholder without a value; by default it is null.
 * @param isNull whether the value is null, not missing
 */
export type MayOmit = (path: Path, isNull: boolean) => boolean;

type Piece = string | Path;

/** Four braces, a placeholder (whose quoted keys may contain braces), or two braces without a placeholder. */
const PIECE = /\{\{\{\{|\{\{((?:[^{}"']|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')*)\}\}|\{\{/g;

/** @throws AppError `WORKFLOW_INVALID` for an invalid placeholder */
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
      const present = mayOmit
        ? fields.filter(([name, { sole }]) => !isOmitted(name, sole, { scope, mayOmit }))
        : fields;
      return Object.fromEntries(present.map(([name, field]) => [name, field.fill(scope, below(name, mayOmit))]));
    },
  };
}

/** The filled template as text. */
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
    `${JSON.stringify(text)} has ${JSON.stringify(piece)}, which is not a place: write {{input.name}}, {{node.field}} or, for any other key, {{node["a key"]}}, and {{{{ for two braces`,
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
