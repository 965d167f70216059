import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { hasExact, parseExactJson, withoutMark, withRounded } from '../../common/index.js';
import { MAX_VALUES, ValueCounter } from '../../security/index.js';

/** A shorter message cannot hold too many values, in UTF-16 units. */
const FEW_VALUES = 2 * MAX_VALUES;

/**
 * Reads one line. The SDK looks by itself at what kind of message it is, and into what it holds: that is not done twice.
 * @returns undefined for one that is no message
 * @throws RangeError for one that holds too many values
 */
export function parseMessage(line: string): JSONRPCMessage | undefined {
  checkValues(line);
  try {
    const value = parseExactJson(withoutMark(line)) as { readonly jsonrpc?: unknown } | null;
    return value?.jsonrpc === '2.0' ? withExactResult(value as JSONRPCMessage) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Exact integers stay in the structured result of a call alone. Elsewhere the SDK and we expect numbers: in the schemas of a list
 * of tools, above all, whose limits may be beyond 2^53.
 */
export function withExactResult(message: JSONRPCMessage): JSONRPCMessage {
  if (!hasExact(message)) return message;
  const rounded = withRounded(message) as JSONRPCMessage;
  const content = 'result' in message ? message.result['structuredContent'] : undefined;
  if (content === undefined || !('result' in rounded)) return rounded;
  return { ...rounded, result: { ...rounded.result, structuredContent: content } };
}

function checkValues(line: string): void {
  if (line.length < FEW_VALUES) return;
  const counter = new ValueCounter();
  counter.count(Buffer.from(line));
  if (counter.values > MAX_VALUES) throw new RangeError(`it sent a message of more than ${MAX_VALUES} values`);
}
