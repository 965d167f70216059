import { AppError, type JsonValue, messageOf, parseExactJson } from '../../common/index.js';

export interface JsonResult {
  readonly value: JsonValue;
  /** What a reader sees: strings as they are, anything else as JSON. */
  readonly text: string;
}

/**
 * Makes a JSON value of whatever a tool returned; `undefined` is null, `toJSON` is honoured. Throws `TOOL_FAILED` for
 * what JSON cannot hold: a BigInt, a function, a symbol, a cycle.
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
