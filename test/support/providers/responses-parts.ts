import type { FakeRequest } from '../fake-llm.types.js';
import { isNode, partsOf, type JsonNode } from './request-parts.js';
import { encryptedContent } from '../../../src/testing/provider/response-object.mapper.js';

/** An item of `input`, and its index. */
export interface InputItem {
  readonly at: number;
  readonly item: JsonNode;
  /** A message may omit its type. */
  readonly type: string;
}

export function itemsIn({ input }: FakeRequest): InputItem[] {
  const items = Array.isArray(input) ? input.filter(isNode) : [];
  return items.map((item, at) => ({ at, item, type: typeof item['type'] === 'string' ? item['type'] : 'message' }));
}

/** The items of one type. */
export function itemsOf(request: FakeRequest, type: string): InputItem[] {
  return itemsIn(request).filter((one) => one.type === type);
}

/** The fields of each item that Jackdaw may send, by type (the types of the package `openai`). */
export const ITEM_FIELDS: Readonly<Record<string, readonly string[]>> = {
  message: ['type', 'role', 'content', 'phase', 'id', 'status'],
  function_call: ['type', 'id', 'call_id', 'name', 'arguments', 'status', 'namespace', 'caller', 'async'],
  function_call_output: ['type', 'id', 'call_id', 'output', 'status', 'name', 'namespace', 'caller'],
  reasoning: ['type', 'id', 'summary', 'content', 'encrypted_content', 'status'],
};

/** The prefix of an id, by type of its item. */
export const ID_PREFIXES: Readonly<Record<string, string>> = {
  message: 'msg',
  function_call: 'fc',
  reasoning: 'rs',
};

/** The URLs of all images, in messages and results. */
export function inputImages(request: FakeRequest): string[] {
  return itemsIn(request)
    .flatMap(({ item }) => [...partsOf(item['content']), ...partsOf(item['output'])])
    .filter(({ type }) => type === 'input_image')
    .map(({ image_url }) => String(image_url));
}

/** Whether a reasoning item has the content that the fake wrote for it and for this model. */
export function isVerified({ id, encrypted_content: encrypted, summary }: JsonNode, model: string): boolean {
  const [first] = partsOf(summary);
  return encrypted === encryptedContent(String(id), model, typeof first?.['text'] === 'string' ? first['text'] : '');
}
