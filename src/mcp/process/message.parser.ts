import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { hasExact, parseExactJson, withoutMark, withRounded } from '../../kernel/index.js';
import { MAX_VALUES, ValueCounter } from '../../security/index.js';
import { strictResponse } from './response.mapper.js';

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
