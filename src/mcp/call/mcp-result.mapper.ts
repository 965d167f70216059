import { canonicalJson, isJsonObject, type JsonValue } from '../../kernel/json/index.js';
import { parseBinaryField, parseBinaryText, parseImage, type ParsedImage } from '../../kernel/media/index.js';
import { type IllustratedResult, withoutBinary } from '../../tool/result/index.js';
import { McpError } from '../mcp.error.js';
import type { RawResult } from '../process/raw-result.mapper.js';

/** The converted result of a call. */
export interface McpResult {
  readonly value: JsonValue;
  /** Whether the value is the structured content. */
  readonly isStructured: boolean;
  /** Images as data URIs. */
  readonly images: readonly string[];
  /** The binary content, which is a note in the value; only if there is any. */
  readonly content?: ResultContent;
}

type ResultContent = IllustratedResult['content'];
type BinaryPart = NonNullable<ResultContent['attached']>[number];

/** The value of a result without content: an empty text makes some models repeat the call. */
const NO_OUTPUT = '[No output]';

type Block = Readonly<Record<string, unknown>>;

/**
 * Converts the result of a call for the model: the structured content, else the text, with notes for other content. A
 * defective part affects only itself.
 * @throws McpError `TOOL_EXECUTION_FAILED` with the tool's own text and structure if the tool reports a failure, and
 *   for content that is no list
 */
export function toMcpResult({ content, structuredContent, isError }: RawResult, tool: string): McpResult {
  const blocks = blocksOf(content);
  const text = blocks
    .map(textOf)
    .filter((part) => part !== '')
    .join('\n');
  const structure = (structuredContent ?? undefined) as JsonValue | undefined;
  if (isError) {
    const error = failureText(withoutBinary(text) as string, structure && withoutBinary(structure));
    throw new McpError('TOOL_EXECUTION_FAILED', error, { tool });
  }
  const isStructured = structure !== undefined || (structuredContent === null && text === '');
  const binary = binaryContent(blocks, isStructured);
  const value = isStructured ? (structure ?? null) : text || NO_OUTPUT;
  return { value, isStructured, images: blocks.flatMap(imageOf), ...(binary && { content: binary }) };
}

/** The binary content of blocks, in its place between the texts or beside the structured content. */
function binaryContent(blocks: readonly unknown[], isStructured: boolean): ResultContent | null {
  const parts = blocks.map((block) => binaryOf(block) ?? textOf(block));
  const binary = parts.filter((part) => typeof part !== 'string');
  if (binary.length === 0) return null;
  return isStructured ? { attached: binary } : { text: parts };
}

function binaryOf(block: unknown): BinaryPart | null {
  if (typeof block === 'string') return parseBinaryText(block);
  if (!isJsonObject(block)) return null;
  switch (block['type']) {
    case 'text':
      return typeof block['text'] === 'string' ? parseBinaryText(block['text']) : null;
    case 'image':
    case 'audio':
      return partOf(block['data'], block['mimeType']);
    case 'resource': {
      const { blob, mimeType, uri } = isJsonObject(block['resource']) ? block['resource'] : {};
      const part = partOf(blob, mimeType);
      return part && typeof uri === 'string' ? { ...part, name: uri } : part;
    }
    default:
      return null;
  }
}

function partOf(data: unknown, mimeType: unknown): BinaryPart | null {
  const part = typeof data === 'string' ? parseBinaryField(data) : null;
  return part && typeof mimeType === 'string' ? { ...part, mediaType: mimeType } : part;
}

/** The text, and the structure unless the text repeats it. */
function failureText(text: string, structure: JsonValue | undefined): string {
  if (structure === undefined) return text === '' ? 'The tool reported a failure.' : text;
  if (text === '') return JSON.stringify(structure);
  return isSame(text, structure) ? text : `${text}\n${JSON.stringify(structure)}`;
}

function isSame(text: string, structure: JsonValue): boolean {
  try {
    return canonicalJson(JSON.parse(text)) === canonicalJson(structure);
  } catch {
    return text === structure;
  }
}

/** @throws McpError `TOOL_EXECUTION_FAILED` for another value than a list */
function blocksOf(content: unknown): readonly unknown[] {
  if (content === undefined || content === null) return [];
  if (Array.isArray(content)) return content;
  throw new McpError('TOOL_EXECUTION_FAILED', `Invalid result: its content is of type ${typeof content}, not a list.`);
}

function textOf(block: unknown): string {
  if (typeof block === 'string') return block;
  if (!isJsonObject(block)) return '';
  const { type, text } = block;
  switch (type) {
    case 'text':
      return shown(text);
    case 'image':
      return imageText(block);
    case 'audio':
      return `[Audio, ${mediaTypeOf(block)}, omitted]`;
    case 'resource_link':
      return linkText(block);
    case 'resource':
      return resourceText(block['resource']);
    default:
      return typeof text === 'string' ? text : `[Content of the unknown kind ${JSON.stringify(type ?? null)}, omitted]`;
  }
}

function imageText(block: Block): string {
  const image = parseBlock(block);
  if (typeof image === 'string') return `[Image, ${mediaTypeOf(block)}, omitted: ${image}]`;
  return `[Image, ${image.kind === 'data' ? image.mediaType : mediaTypeOf(block)}]`;
}

function linkText({ name, uri, description }: Block): string {
  const end = typeof description === 'string' ? `, ${description}` : '';
  return `[Resource ${[name, uri].filter((part) => typeof part === 'string').join(': ')}${end}]`;
}

function resourceText(resource: unknown): string {
  if (!isJsonObject(resource)) return '[Resource without content]';
  const { text, uri, mimeType } = resource;
  if (typeof text === 'string') return text;
  return `[Resource ${shown(uri)}, ${typeof mimeType === 'string' ? mimeType : 'binary'}, not text]`;
}

function imageOf(block: unknown): string[] {
  if (!isJsonObject(block) || block['type'] !== 'image') return [];
  const image = parseBlock(block);
  return typeof image === 'string' ? [] : [image.url];
}

/** Some servers give a whole data URI as the data. */
function parseBlock(block: Block): ParsedImage | string {
  const { data } = block;
  if (typeof data !== 'string') return 'it has no data';
  return parseImage(/^\s*data:/i.test(data) ? data : `data:${mediaTypeOf(block)};base64,${data}`);
}

function mediaTypeOf({ mimeType }: Block): string {
  return typeof mimeType === 'string' ? mimeType : 'of an unknown type';
}

/** A text; another value as JSON, and nothing for no value. */
function shown(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}
