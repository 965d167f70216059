import { AppError } from '../errors/index.js';

/** A placeholder in a text. */
export interface Placeholder {
  /** `['address', 'city']` of `{address.city}`. */
  readonly path: readonly string[];
  /** `{ids*}`: repeats the name for each member of a list (RFC 6570, 2.4.2). */
  readonly isSpread: boolean;
}

/** Texts and placeholders in order. */
export type TextTemplate = readonly (string | Placeholder)[];

const PIECE = /\{\{|\}\}|\{([^{}]*)\}|[{}]/g;
const NAME = /^([\w-]+(?:\.[\w-]+)*)(\*)?$/;

/** @throws AppError `TOOL_INVALID` for an unmatched brace or a lone surrogate */
export function parseTemplate(text: string): TextTemplate {
  if (!text.isWellFormed()) {
    throw new AppError('TOOL_INVALID', `${JSON.stringify(text)} contains a lone surrogate (half a character)`);
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

/** The placeholder of a text that consists of nothing else. */
export function solePlaceholder(template: TextTemplate): Placeholder | undefined {
  const [first, ...rest] = template;
  return first !== undefined && typeof first !== 'string' && rest.length === 0 ? first : undefined;
}

function toPiece(piece: string, name: string | undefined, text: string): string | Placeholder {
  if (piece === '{{' || piece === '}}') return piece.charAt(0);
  const [, path, spread] = NAME.exec(name ?? '') ?? [];
  if (path !== undefined) return { path: path.split('.'), isSpread: spread !== undefined };
  const what = `${JSON.stringify(text)} has ${JSON.stringify(piece)}, which is not a placeholder`;
  throw new AppError('TOOL_INVALID', `${what}: write {name}, {name.inner} or {name*}, and {{ for a literal brace`);
}
