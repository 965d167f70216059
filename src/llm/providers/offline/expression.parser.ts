/** Signs and words that mean an operator, in the order in which they are replaced. */
const OPERATORS: readonly (readonly [string, string])[] = [
  ['×', '*'],
  ['✕', '*'],
  ['÷', '/'],
  ['−', '-'],
  ['–', '-'],
  ['乘以', '*'],
  ['除以', '/'],
  ['加上', '+'],
  ['减去', '-'],
  ['乘', '*'],
  ['加', '+'],
  ['减', '-'],
  ['divided by', '/'],
  ['multiplied by', '*'],
  ['times', '*'],
  ['plus', '+'],
  ['minus', '-'],
];
/** A longer text is no arithmetic question. */
const MAX_LENGTH = 1_000;
const PIECE = /[\d.+\-*/%^() ]+/g;
const HAS_OPERATION = /\d[\s)]*[+\-*/%^][\s(+-]*[\d.]/;
const DATE = /^\d{4}-\d{1,2}-\d{1,2}$/;

/**
 * Finds the arithmetic expression in a text, written for a calculator: full-width forms, ×÷ and words become ASCII
 * operators. Nothing when there is none.
 */
export function findExpression(text: string): string | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  // NFKC makes ASCII of full-width digits, signs and brackets.
  let plain = text.normalize('NFKC').toLowerCase();
  for (const [sign, operator] of OPERATORS) plain = plain.replaceAll(sign, operator);
  plain = plain.replace(/(\d),(?=\d{3}(?!\d))/g, '$1');
  const pieces = plain.match(PIECE) ?? [];
  return pieces.map(trimPiece).find((piece) => HAS_OPERATION.test(piece) && !DATE.test(piece));
}

/** Cuts off what belongs to the sentence around it: a full stop, a dash. */
function trimPiece(piece: string): string {
  let start = 0;
  let end = piece.length;
  while (start < end && ' */%^)'.includes(piece.charAt(start))) start++;
  while (end > start && ' .+-*/%^('.includes(piece.charAt(end - 1))) end--;
  return piece.slice(start, end);
}
