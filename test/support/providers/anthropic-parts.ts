import type { FakeRequest } from '../fake-llm.types.js';
import type { Fault } from './provider-rule.js';
import { isNode, type JsonNode } from './request-parts.js';

/** The error body of Anthropic's API. */
export function anthropicBody({ message }: Fault): unknown {
  return { type: 'error', error: { type: 'invalid_request_error', message }, request_id: 'req_strict' };
}

/** A content block of a message; a text becomes one block. */
export interface Block extends JsonNode {
  readonly type: string;
}

export interface AnthropicMessage {
  readonly role: string;
  readonly content: readonly Block[];
}

export interface AnthropicTool {
  readonly at: number;
  readonly name: string;
  readonly schema: JsonNode;
}

export function messagesOf({ messages }: FakeRequest): AnthropicMessage[] {
  return messages.map(({ role, content }) => ({ role, content: blocksOf(content) }));
}

function blocksOf(content: unknown): readonly Block[] {
  return Array.isArray(content) ? (content as Block[]) : [{ type: 'text', text: content }];
}

/** The system prompt as blocks. */
export function systemOf({ system }: FakeRequest): readonly Block[] {
  return system === undefined ? [] : blocksOf(system);
}

export function anthropicTools({ tools = [] }: FakeRequest): AnthropicTool[] {
  return (tools as unknown as readonly JsonNode[]).map(({ name, input_schema }, at) => ({
    at,
    name: String(name),
    schema: isNode(input_schema) ? input_schema : {},
  }));
}

/** The values of a field in the blocks of a type. */
export function idsOf(content: readonly Block[], type: string, field: 'id' | 'tool_use_id'): string[] {
  return content.filter((block) => block.type === type).map((block) => String(block[field]));
}

/** All images, those in results included. */
export function anthropicImages(request: FakeRequest): { readonly mediaType: string; readonly data: string }[] {
  const blocks = messagesOf(request).flatMap(({ content }) =>
    content.flatMap((block) => (block.type === 'tool_result' ? blocksOf(block['content'] ?? []) : [block])),
  );
  return blocks
    .filter(({ type }) => type === 'image')
    .map(({ source }) => source as { media_type?: string; data?: string })
    .map(({ media_type = '', data = '' }) => ({ mediaType: media_type, data }));
}

/** 4.7 for `claude-opus-4-7`; 0 for another name. */
export function generation({ model }: FakeRequest): number {
  const [, major, minor = '0'] = /^claude-[a-z]+-(\d+)(?:-(\d{1,2}))?(?!\d)/.exec(model) ?? [];
  return major === undefined ? 0 : Number(`${major}.${minor}`);
}

export function isBlank({ type, text }: Block): boolean {
  return type === 'text' && (typeof text !== 'string' || text.trim() === '');
}
