import { AppError } from '../errors/index.js';
import { ExactInteger } from '../kernel/json/index.js';

/** A parsed JSON pointer (RFC 6901): its keys. */
export type JsonPointer = readonly string[];

/** @throws AppError `TOOL_INVALID` */
export function parsePointer(text: string): JsonPointer {
  if (text !== '' && !text.startsWith('/')) throw invalid(text, 'begins with /');
  if (/~(?![01])/.test(text)) throw invalid(text, 'writes ~ as ~0');
  return text
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The value at a pointer; `undefined` if it does not exist. */
export function valueAt(value: unknown, pointer: JsonPointer): unknown {
  let here = value;
  for (const key of pointer) {
    if (typeof here !== 'object' || here === null || here instanceof ExactInteger) return undefined;
    if (!Object.hasOwn(here, key)) return undefined;
    if (Array.isArray(here) && !/^(0|[1-9]\d*)$/.test(key)) return undefined;
    here = (here as Record<string, unknown>)[key];
  }
  return here;
}

function invalid(text: string, rule: string): AppError {
  return new AppError('TOOL_INVALID', `${JSON.stringify(text)} is not a JSON pointer: a pointer ${rule}`);
}
