import { wordsToDigits } from './number-word.parser.js';

/** A number; a negative one is in parentheses. */
const N = String.raw`(\d+(?:\.\d+)?|\(-[\d.]+\))`;

/** Whole phrases whose word order differs from that of the expression. */
const PHRASES = (
  [
    [String.raw`\s*\bpercent\b`, '%'],
    [String.raw`百分之\s*${N}`, '$1%'],
    [String.raw`%\s*(?:of|的)\s*`, '% * '],
    [String.raw`${N}\s*的\s*(?=\d[\d.]*%)`, '$1 * '],
    [String.raw`(?:square root of|√|根号|\bsqrt)\s*\(?${N}\)?`, '$1^0.5'],
    [String.raw`${N}\s*的?\s*(?:算术)?(?:平方根|开平?方)`, '$1^0.5'],
    [String.raw`cube root of ${N}`, '$1^(1/3)'],
    [String.raw`${N}\s*的?\s*立方根`, '$1^(1/3)'],
    [String.raw`${N}\s*的?\s*平方`, '$1^2'],
    [String.raw`${N}\s*的?\s*立方`, '$1^3'],
    [String.raw`${N}\s*的\s*${N}\s*次[方幂]`, '$1^$2'],
    [String.raw`${N} to the ${N}(?:st|nd|rd|th) power`, '$1^$2'],
    [String.raw`\s*\b(?:raised )?to the power (?:of )?`, '^'],
    [String.raw`${N} squared`, '$1^2'],
    [String.raw`\bsquare(?: of)? ${N}`, '$1^2'],
    [String.raw`${N} cubed`, '$1^3'],
    [String.raw`\b(?:sum of|add) ${N} (?:and|to) ${N}`, '$1 + $2'],
    [String.raw`\bdifference (?:between|of) ${N} and ${N}`, '$1 - $2'],
    [String.raw`\bsubtract ${N} from ${N}`, '$2 - $1'],
    [String.raw`\b(?:product of|multiply) ${N} (?:and|by) ${N}`, '$1 * $2'],
    [String.raw`\bdivide ${N} by ${N}`, '$1 / $2'],
    [String.raw`\bremainder (?:of|when) ${N} (?:is )?divided by ${N}`, '$1 % $2'],
    [String.raw`${N}\s*除以\s*${N}\s*的?余数`, '$1 % $2'],
    [String.raw`\b(?:double|twice) ${N}`, '2 * $1'],
    [String.raw`\bhalf (?:of )?${N}`, '$1 / 2'],
    [String.raw`${N}\s*[和与跟]\s*${N}\s*[的之]和`, '$1 + $2'],
    [String.raw`${N}\s*[和与跟]\s*${N}\s*[的之]差`, '$1 - $2'],
    [String.raw`${N}\s*[和与跟]\s*${N}\s*[的之]积`, '$1 * $2'],
    [String.raw`(\d)\s*x\s*(?=\d)`, '$1 * '],
  ] as const
).map(([pattern, replacement]) => [new RegExp(pattern, 'g'), replacement] as const);

/** Signs and words of operators, in the order of replacement. */
const OPERATORS: readonly (readonly [RegExp, string])[] = [
  [/\*\*/g, '^'],
  [/[×✕·]|乘以?|\btimes\b|\bmultipl(?:ied|y) by\b/g, '*'],
  [/÷|⁄|除以|\bdivided? by\b/g, '/'],
  [/加上?|\bplus\b|\badd\b/g, '+'],
  [/[−–]|减去?|负|\bminus\b|\bsubtract\b|\bnegative\b\s*/g, '-'],
  [/\bsquared\b/g, '^2'],
  [/\bmod(?:ulo)?\b/g, '%'],
];
/** References to the last result. */
const REFERENCE =
  /\b(?:that|it|this|the (?:last |previous )?(?:result|answer))\b|(?:上一个|上个|刚才的|这个)?结果|它|这个数/g;

/**
 * Rewrites arithmetic in a text as ASCII signs and digits: full-width forms, words and phrases, English or Chinese.
 * References such as "that" become `previous`, if it is set.
 */
export function toArithmeticSigns(text: string, previous?: string): string {
  // NFKC converts full-width digits, signs and brackets to ASCII, but would also convert 5² to 52.
  let plain = text.replaceAll('²', '^2').replaceAll('³', '^3').normalize('NFKC').toLowerCase();
  if (previous !== undefined) plain = plain.replace(REFERENCE, ` ${toOperand(previous)} `).replace(/ {2,}/g, ' ');
  plain = wordsToDigits(plain).replace(/(\d),(?=\d{3}(?!\d))/g, '$1');
  for (const [pattern, replacement] of [...PHRASES, ...OPERATORS]) plain = plain.replace(pattern, replacement);
  return plain;
}

/** Puts a negative number in parentheses, so that any operator may follow. */
export function toOperand(number: string): string {
  return number.startsWith('-') ? `(${number})` : number;
}
