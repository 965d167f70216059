import { AppError } from '../../common/index.js';

/** An argument's place in a text. */
export interface Placeholder {
  /** `['address', 'city']` of `{address.city}`. */
  readonly path: readonly string[];
  /** Of `{ids*}`: each member of a list on its own (RFC 6570, 2.4.2). */
  readonly isSpread: boolean;
}

/** Texts and placeholders in their order. */
export type TextTemplate = readonly (string | Placeholder)[];

const PIECE = /\{\{|\}\}|\{([^{}]*)\}|[{}]/g;
const NAME = /^([\w-]+(?:\.[\w-]+)*)(\*)?$/;

/** @throws AppError `TOOL_INVALID` for a brace that is none of a placeholder's, and for half a character */
export function parseTemplate(text: string): TextTemplate {
  if (!text.isWellFormed()) {
    throw new AppError('TOOL_INVALID', `${JSON.stringify(text)} holds half a character (a lone surrogate)`);
  }
  const pieces: (string | Placeholder)[] = [];
  let end = 0;
  for (const match of text.matchAll(PIECE)) {
    pieces.push(text.slice(end, match.index), toPiece(match[0], match[1], text));
    end = match.index + match[0].length;
  }
  pieces.push(text.slice(end));
  return pieces.filter((piece) => piece !== '');
}

export function placeholdersIn(template: TextTemplate): readonly Placeholder[] {
  return template.filter((piece) => typeof piece !== 'string');
}

/** The one placeholder that a text consists of, if it does. */
export function solePlaceholder(template: TextTemplate): Placeholder | undefined {
  const [first, ...rest] = template;
  return first !== undefined && typeof first !== 'string' && rest.length === 0 ? first : undefined;
}

function toPiece(piece: string, name: string | undefined, text: string): string | Placeholder {
  if (piece === '{{' || piece === '}}') return piece.charAt(0);
  const [, path, spread] = NAME.exec(name ?? '') ?? [];
  if (path !== undefined) return { path: path.split('.'), isSpread: spread !== undefined };
  const what = `${JSON.stringify(text)} has ${JSON.stringify(piece)}, which is no argument`;
  throw new AppError('TOOL_INVALID', `${what}: write {name}, {name.inner} or {name*}, and {{ for a brace`);
}
