import { createHash } from 'node:crypto';
import { withoutTrailing } from '../../kernel/json/index.js';

export const MAX_NAME_LENGTH = 64;
const HASH_LENGTH = 8;

/** An operation to name. */
export interface Nameable {
  readonly operationId: string | undefined;
  /** `get /pets/{id}`; unique in the document. */
  readonly where: string;
}

/**
 * Names of a document's operations, in order: the `operationId`, else method and path, with characters that tool names
 * cannot contain replaced by `_`. Names that would collide, long ones and those without ASCII letters get a hash of the
 * operation. A name depends on the document only, not on the selected operations.
 * @param prefix of each name
 */
export function toOperationNames(operations: readonly Nameable[], prefix: string): readonly string[] {
  const texts = operations.map(({ operationId, where }) => `${prefix}${operationId ?? where}`);
  const counts = countsOf([...new Set(texts)].map(toName));
  const seen = new Set<string>();
  return operations.map(({ operationId, where }, index) => {
    const text = texts[index]!;
    const isRepeated = seen.has(text);
    seen.add(text);
    const name = toName(text);
    if (!isAscii(operationId ?? where)) return withHash(toName(`${prefix}${where}`), text);
    if (isRepeated) return withHash(name, where);
    const isShared = name !== text && counts.get(name)! > 1;
    return isShared || name.length > MAX_NAME_LENGTH ? withHash(name, text) : name;
  });
}

/** Replaces characters that names of tools and arguments cannot contain. */
export function toName(text: string): string {
  const name = text.replaceAll(/[^\w-]+/g, '_');
  return name === text ? name : withoutTrailing(name.replace(/^_+/, ''), '_') || '_';
}

/** A short name with a stable hash of a longer text. */
export function withHash(name: string, text: string): string {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH);
  return `${name.slice(0, MAX_NAME_LENGTH - HASH_LENGTH - 1)}_${hash}`;
}

/** Whether a text has ASCII letters, and its name loses no letter or digit. */
function isAscii(text: string): boolean {
  return /[a-z]/i.test(text) && !/[^\p{ASCII}]/u.test(text.replaceAll(/[^\p{L}\p{N}]/gu, ''));
}

function countsOf(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
