import { wordsToDigits } from './number-word.parser.js';
import { ARITHMETIC_OPERATORS, ARITHMETIC_PHRASES, REFERENCE } from './offline-words.data.js';

/**
 * Rewrites arithmetic in a text as ASCII signs and digits: full-width forms, words and phrases, English or Chinese.
 * References such as "that" become `previous`, if it is set.
 */
export function toArithmeticSigns(text: string, previous?: string): string {
  // NFKC converts full-width digits, signs and brackets to ASCII, but would also convert 5² to 52.
  let plain = text.replaceAll('²', '^2').replaceAll('³', '^3').normalize('NFKC').toLowerCase();
  if (previous !== undefined) plain = plain.replace(REFERENCE, ` ${toOperand(previous)} `).replace(/ {2,}/g, ' ');
  plain = wordsToDigits(plain).replace(/(\d),(?=\d{3}(?!\d))/g, '$1');
  for (const [pattern, replacement] of [...ARITHMETIC_PHRASES, ...ARITHMETIC_OPERATORS])
    plain = plain.replace(pattern, replacement);
  return plain;
}

/** Puts a negative number in parentheses, so that any operator may follow. */
export function toOperand(number: string): string {
  return number.startsWith('-') ? `(${number})` : number;
}
