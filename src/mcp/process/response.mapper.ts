import { isJsonObject } from '../../kernel/index.js';

/** JSON-RPC: the code of an error without a usable code. */
const INTERNAL_ERROR = -32_603;
/** Only such texts are parsed an additional time. */
const SUSPICIOUS = /"_meta"\s*:\s*[^{\s]|"error"\s*:|"result"\s*:\s*[^{\s]/;

type Members = Readonly<Record<string, unknown>>;

/**
 * A response in the strict form of JSON-RPC, without which the SDK ignores it: a single `result` or `error`, an error with a numeric code and a text, a `_meta` that is an object. Other messages are unchanged.
 */
export function strictResponse<T>(message: T): T {
  if (!isJsonObject(message) || message['jsonrpc'] !== '2.0' || 'method' in message) return message;
  const { result, error, ...envelope } = message;
  if (result === undefined && error === undefined) return message;
  const hasFailed = error !== undefined && error !== null;
  return { ...envelope, ...(hasFailed ? { error: strictError(error) } : strictResult(result)) } as T;
}

/** The JSON of a strict response; other texts are unchanged. */
export function strictJson(text: string): string {
  if (!SUSPICIOUS.test(text)) return text;
  try {
    return JSON.stringify(strictResponse(JSON.parse(text)));
  } catch {
    return text;
  }
}

function strictError(error: unknown): Members {
  if (!isJsonObject(error)) return { code: INTERNAL_ERROR, message: textOf(error) };
  const { code, message, ...rest } = error;
  const number = typeof code === 'string' ? Number(code) : code;
  const isCode = Number.isInteger(number) && code !== '';
  return { ...rest, code: isCode ? number : INTERNAL_ERROR, message: textOf(message) };
}

/** The result as an object, or an error: an empty result in place of another value would hide the server's fault. */
function strictResult(result: unknown): Members {
  if (result === null || result === undefined) return { result: {} };
  if (!isJsonObject(result)) {
    const kind = Array.isArray(result) ? 'a list' : `of type ${typeof result}`;
    return { error: { code: INTERNAL_ERROR, message: `Its result is ${kind} instead of an object.` } };
  }
  if (!('_meta' in result) || isJsonObject(result['_meta'])) return { result };
  const { _meta: _odd, ...rest } = result;
  return { result: rest };
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? 'It gave no reason.' : JSON.stringify(value);
}
