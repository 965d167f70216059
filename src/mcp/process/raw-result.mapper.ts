import type { JSONRPCMessage, StandardSchemaV1 } from '@modelcontextprotocol/client';

/** The member of a wrapped result that contains the server's own result. */
const RAW = 'jackdaw/raw';

/** Results that Jackdaw parses itself, by method; each in its shortest valid form. */
const SHORTEST: ReadonlyMap<string, object> = new Map([
  ['tools/list', { tools: [] }],
  ['tools/call', { content: [] }],
  ['resources/list', { resources: [] }],
  ['resources/templates/list', { resourceTemplates: [] }],
  ['resources/read', { contents: [] }],
  ['prompts/list', { prompts: [] }],
  ['prompts/get', { messages: [] }],
]);
/** Required members of a result since 2026. */
const COMPLETE = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };

/** A result as the server sent it: nothing is validated. */
export type RawResult = Readonly<Record<string, unknown>>;

/**
 * Wraps a result, so that the SDK accepts it. The SDK rejects the whole result for one defect, such as the missing
 * schema of one tool among many.
 * @param method the method of the request
 */
export function withRawResult(message: JSONRPCMessage, method: string | undefined): JSONRPCMessage {
  const shortest = method === undefined ? undefined : SHORTEST.get(method);
  if (!shortest || !('result' in message)) return message;
  const { result } = message as { readonly result: RawResult | null };
  const { resultType } = result ?? {};
  if (typeof resultType === 'string' && resultType !== 'complete') return message;
  return { ...message, result: { ...COMPLETE, ...shortest, [RAW]: result } };
}

/** The server's own result in a wrapped one; empty if it is no object. */
export function rawOf(wrapped: unknown): RawResult {
  const raw = (wrapped as Readonly<Record<string, unknown>>)[RAW];
  return typeof raw === 'object' && raw !== null ? (raw as RawResult) : {};
}

/** Result schema for `Client.request` that accepts every wrapped result and returns the server's own. */
export const RAW_RESULT: StandardSchemaV1<unknown, RawResult> = {
  '~standard': { version: 1, vendor: 'jackdaw', validate: (wrapped) => ({ value: rawOf(wrapped) }) },
};
