import { wordsToDigits } from './number-word.parser.js';
import { ARITHMETIC_OPERATORS, ARITHMETIC_PHRASES, REFERENCE } from './offline-words.data.js';

/**
 * Rewrites arithmetic in a text as ASCII signs and digits: full-width forms, words and phrases, English or Chinese.
 * References such as "that" become `previous`, if it is set.
 */
function toArithmeticSigns(text: string, previous?: string): string {
  // NFKC converts full-width digits, signs and brackets to ASCII, but would also convert 5² to 52.
  let plain = text.replaceAll('²', '^2').replaceAll('³', '^3').normalize('NFKC').toLowerCase();
  if (previous !== undefined) plain = plain.replace(REFERENCE, ` ${toOperand(previous)} `).replace(/ {2,}/g, ' ');
  plain = wordsToDigits(plain).replace(/(\d),(?=\d{3}(?!\d))/g, '$1');
  for (const [pattern, replacement] of [...ARITHMETIC_PHRASES, ...ARITHMETIC_OPERATORS])
    plain = plain.replace(pattern, replacement);
  return plain;
}

/** Puts a negative number in parentheses, so that any operator may follow. */
function toOperand(number: string): string {
  return number.startsWith('-') ? `(${number})` : number;
}

const FUNCTION =
  '(?:sqrt|abs|round|floor|ceil|min|max|a?sin|a?cos|a?tan|ln|log(?:10|2)?|exp|pow|mod|gcd|lcm|factorial)(?= ?\\()';
const INNER = String.raw`[\d.,+\-*/%^ ]|${FUNCTION}`;
/** A call of a function of the calculator, with at most two levels of parentheses. */
const CALL = String.raw`${FUNCTION} ?\((?:${INNER}|\((?:${INNER}|\([\d.,+\-*/%^ ]*\))*\))*\)`;
const EXPONENT = String.raw`(?<=\d)e[+-]?\d`;
const PIECE = new RegExp(String.raw`[a-z_]?(?:${CALL}|[\d.+\-*/%^() ]|${EXPONENT})+`, 'g');
/** A piece directly after a letter is a part of a name, or of the call of an unknown function. */
const AFTER_LETTER = new RegExp(`^(?!${FUNCTION})[a-z_][^ ]`);
const HAS_OPERATION = new RegExp(String.raw`\d[\s)%]*[+\-*/%^][\s(+-]*(?:[\d.]|${FUNCTION})|${FUNCTION}`);
const DATE = /^\d{4}-\d{1,2}-\d{1,2}$/;
/** The gap between two adjacent expressions. */
const GAP = /(?<=[\d)]) +(?=[\d(.])/;
const LEAD_IN =
  /^(?:(?:and|then|now|so|okay|ok|what about|how about|再|然后|接着|那么|那|就)\b|[\s,.再然后接着那么就])+/;
/** Words that apply an operation to the previous result. */
const THEN = /,?\s*(?:(?:\band\s+)?\bthen\b|再|然后|接着)\s*(?=[+\-*/^])|(?:,|，|\band\b)\s*(?=[+*/^])/;
const CONTINUES = /^(?:[+*/^]\s*[\d(.]|-\s*[\d.]+\s*[^\d\s.+\-*/%^(]*$)/;
const CONTINUES_BY_MINUS = /^\s*(?:and |then |再|然后)*\s*(?:minus\b|subtract\b|减)/i;

export interface FoundArithmetic {
  /** Expressions in the calculator's syntax, in ASCII. */
  readonly expressions: readonly string[];
  /** Whether the text refers to a previous result that does not exist. */
  readonly lacksPrevious: boolean;
}

/**
 * Finds arithmetic in a text: full-width forms, signs and words of English and Chinese. An initial operator ("times 3")
 * applies to `previous`, the last result.
 */
export function findArithmetic(text: string, previous?: string): FoundArithmetic {
  const plain = toArithmeticSigns(text, previous).replace(LEAD_IN, '');
  const [head = '', ...steps] = plain.split(THEN);
  const isContinued = CONTINUES.test(head) || (head.startsWith('-') && CONTINUES_BY_MINUS.test(text));
  if (isContinued && previous === undefined) return { expressions: [], lacksPrevious: true };
  const expressions = expressionsIn(
    isContinued && previous !== undefined ? `${toOperand(previous)} ${spaced(head)}` : head,
  );
  for (const step of steps) {
    const last = expressions.pop();
    if (last !== undefined) expressions.push(...expressionsIn(`(${last}) ${spaced(step)}`));
  }
  return { expressions, lacksPrevious: false };
}

function spaced(operation: string): string {
  return operation.replace(/^([+\-*/^])\s*/, '$1 ');
}

function expressionsIn(text: string): string[] {
  const pieces = text.match(PIECE) ?? [];
  return pieces
    .filter((piece) => !AFTER_LETTER.test(piece))
    .flatMap((piece) => piece.replace(/^[a-z_](?= )/, '').split(GAP))
    .map(trimPiece)
    .filter((piece) => HAS_OPERATION.test(piece) && !DATE.test(piece));
}

/** Removes parts of the sentence: a full stop, a dash, an unmatched parenthesis. */
function trimPiece(piece: string): string {
  let start = 0;
  let end = piece.length;
  while (start < end && ' */%^)'.includes(piece.charAt(start))) start++;
  while (end > start && ' .+-*/^('.includes(piece.charAt(end - 1))) end--;
  const trimmed = piece.slice(start, end);
  const surplus = trimmed.split(')').length - trimmed.split('(').length;
  if (surplus > 0 && trimmed.endsWith(')')) return trimPiece(trimmed.slice(0, -1));
  if (surplus < 0 && trimmed.startsWith('(')) return trimPiece(trimmed.slice(1));
  return trimmed;
}
