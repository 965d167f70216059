import { AppError, type JsonValue, messageOf, parseExactJson } from '../../common/index.js';

export interface JsonResult {
  readonly value: JsonValue;
  /** Text form: a string unchanged, any other value as JSON. */
  readonly text: string;
}

/**
 * Converts a tool's return value to JSON; `undefined` becomes null, `toJSON` is called.
 * @throws AppError `TOOL_FAILED` for a bigint, a function, a symbol or a circular reference
 */
export function toJsonResult(returned: unknown): JsonResult {
  if (typeof returned === 'string') return { value: returned, text: returned };
  if (returned === undefined || returned === null) return { value: null, text: 'null' };
  const text = stringify(returned);
  if (text === undefined) return { value: null, text: 'null' };
  const value = parseExactJson(text) as JsonValue;
  return typeof value === 'string' ? { value, text: value } : { value, text };
}

function stringify(returned: unknown): string | undefined {
  try {
    return JSON.stringify(returned, refuseForeign);
  } catch (error) {
    if (error instanceof AppError) throw error;
    const isCycle = error instanceof TypeError && error.message.includes('circular');
    const reason = isCycle ? 'it refers to itself' : messageOf(error);
    throw new AppError('TOOL_FAILED', `The tool's result cannot be written as JSON: ${reason}.`, { cause: error });
  }
}

function refuseForeign(key: string, value: unknown): unknown {
  if (typeof value !== 'bigint' && typeof value !== 'function' && typeof value !== 'symbol') return value;
  const where = key === '' ? 'it is' : `${JSON.stringify(key)} is`;
  throw new AppError('TOOL_FAILED', `The tool's result cannot be written as JSON: ${where} a ${typeof value}.`);
}
