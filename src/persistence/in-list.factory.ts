import type { SqlValue } from './statement.types.js';

/** Values for `column IN (…)`. */
export interface InList {
  /** `?, ?, …` */
  readonly marks: string;
  readonly params: readonly SqlValue[];
  /** Number of different values. */
  readonly size: number;
}

/** Maximum values of one list. */
const MAX_VALUES = 256;

/**
 * Splits different values into lists for statements. The last value is repeated until the length is a power of two:
 * statements are prepared per text, so this keeps the number of texts small.
 */
export function inLists(values: readonly SqlValue[]): InList[] {
  const lists: InList[] = [];
  for (let at = 0; at < values.length; at += MAX_VALUES) {
    const some = values.slice(at, at + MAX_VALUES);
    const length = 2 ** Math.ceil(Math.log2(some.length));
    const params = Array.from({ length }, (_, i) => some[Math.min(i, some.length - 1)]!);
    lists.push({ marks: params.map(() => '?').join(', '), params, size: some.length });
  }
  return lists;
}
