import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { hasExact, isJsonObject, parseExactJson, withoutMark, withRounded } from '../../kernel/json/index.js';
import { MAX_VALUES, ValueCounter } from '../../security/egress/index.js';

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

/** A message shorter than this cannot contain too many values; in UTF-16 units. */
const FEW_VALUES = 2 * MAX_VALUES;

/**
 * Parses one line. The SDK validates the kind and the content of a message, so this function does not.
 * @returns undefined for a line that is not a message
 * @throws RangeError for a message with too many values
 */
export function parseMessage(line: string): JSONRPCMessage | undefined {
  checkValues(line);
  try {
    const value = parseExactJson(withoutMark(line)) as { readonly jsonrpc?: unknown } | null;
    return value?.jsonrpc === '2.0' ? withExactResult(strictResponse(value as JSONRPCMessage)) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Preserves exact integers only in the structured result of a call. Elsewhere the SDK and Jackdaw expect numbers, above
 * all in the schemas of a tool list, whose limits may exceed 2^53.
 */
export function withExactResult(message: JSONRPCMessage): JSONRPCMessage {
  if (!hasExact(message)) return message;
  const rounded = withRounded(message) as JSONRPCMessage;
  const content = 'result' in message ? message.result['structuredContent'] : undefined;
  if (content === undefined || !('result' in rounded)) return rounded;
  return { ...rounded, result: { ...rounded.result, structuredContent: content } };
}

function checkValues(line: string): void {
  if (line.length < FEW_VALUES || !mayHaveMany(line)) return;
  const counter = new ValueCounter();
  counter.count(Buffer.from(line));
  if (counter.values > MAX_VALUES) throw new RangeError(`it sent a message of more than ${MAX_VALUES} values`);
}

/** Whether a message may have too many values. A value follows one of these characters: the search for them is fast. */
function mayHaveMany(line: string): boolean {
  let most = 1;
  for (const before of [',', '[', '{']) {
    for (let at = line.indexOf(before); at !== -1 && most <= MAX_VALUES; at = line.indexOf(before, at + 1)) most++;
  }
  return most > MAX_VALUES;
}
