import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import { type JsonValue, type ParsedImage, parseImage } from '../../common/index.js';
import { McpError } from '../mcp.error.js';

/** The converted result of a call. */
export interface McpResult {
  readonly value: JsonValue;
  /** Images as data URIs. */
  readonly images: readonly string[];
}

/**
 * Converts the result of a call for the model: the structured content, else the text, with notes for other content.
 * @throws McpError `TOOL_EXECUTION_FAILED` with the tool's own text if the tool reports a failure
 */
export function toMcpResult({ content, structuredContent, isError }: CallToolResult, tool: string): McpResult {
  const text = content
    .map(textOf)
    .filter((part) => part !== '')
    .join('\n');
  if (isError)
    throw new McpError('TOOL_EXECUTION_FAILED', text === '' ? 'The tool reported a failure.' : text, { tool });
  const images = content.flatMap(imageOf);
  return { value: structuredContent === undefined ? text : (structuredContent as JsonValue), images };
}

function textOf(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image': {
      const image = parseBlock(block);
      return typeof image === 'string'
        ? `[Image, ${block.mimeType}, omitted: ${image}]`
        : `[Image, ${image.kind === 'data' ? image.mediaType : block.mimeType}]`;
    }
    case 'audio':
      return `[Audio, ${block.mimeType}, omitted]`;
    case 'resource_link':
      return `[Resource ${block.name}: ${block.uri}${block.description === undefined ? '' : `, ${block.description}`}]`;
    case 'resource':
      return 'text' in block.resource
        ? block.resource.text
        : `[Resource ${block.resource.uri}, ${block.resource.mimeType ?? 'binary'}, not text]`;
  }
}

function imageOf(block: ContentBlock): string[] {
  if (block.type !== 'image') return [];
  const image = parseBlock(block);
  return typeof image === 'string' ? [] : [image.url];
}

/** Some servers give a whole data URI as the data. */
function parseBlock({ data, mimeType }: Extract<ContentBlock, { type: 'image' }>): ParsedImage | string {
  return parseImage(/^\s*data:/i.test(data) ? data : `data:${mimeType};base64,${data}`);
}
