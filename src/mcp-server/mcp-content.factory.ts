import type { JsonValue } from '../kernel/index.js';
import type { McpContentBlock } from './mcp-protocol.types.js';

const CONTENT_KEY = 'mcp_content';
const BLOCK_TYPES = new Set<unknown>(['text', 'image', 'audio', 'resource', 'resource_link']);

/** A tool result in MCP content blocks: texts, images, audio, resources. Models and the REST API receive it as JSON. */
export function mcpContent(blocks: readonly McpContentBlock[]): JsonValue {
  return { [CONTENT_KEY]: structuredClone(blocks) as unknown as JsonValue };
}

/** The blocks of a result from `mcpContent`. */
export function asContent(value: unknown): readonly McpContentBlock[] | undefined {
  if (typeof value !== 'object' || value === null || !(CONTENT_KEY in value)) return undefined;
  const { [CONTENT_KEY]: blocks } = value;
  const isContent = Array.isArray(blocks) && Object.keys(value).length === 1 && blocks.every(isBlock);
  return isContent ? (blocks as McpContentBlock[]) : undefined;
}

function isBlock(block: unknown): boolean {
  return typeof block === 'object' && block !== null && 'type' in block && BLOCK_TYPES.has(block.type);
}
