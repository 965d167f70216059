import type { FakeRequest, FakeRequestMessage } from '../fake-llm.types.js';

export type JsonNode = Readonly<Record<string, unknown>>;

export interface WireCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
  readonly extra_content?: { readonly google?: { readonly thought_signature?: string } };
}

export function callsOf({ tool_calls = [] }: FakeRequestMessage): readonly WireCall[] {
  return tool_calls;
}

/** Every call of a history, and the index of its message. */
export function callsIn({ messages }: FakeRequest): { at: number; call: WireCall }[] {
  return messages.flatMap((message, at) => callsOf(message).map((call) => ({ at, call })));
}

/** Whether a content has no text and no part. */
export function isEmpty(content: unknown): boolean {
  if (Array.isArray(content)) return content.length === 0;
  return content === null || content === undefined || content === '';
}

/** The text of a content, without its other parts. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return partsOf(content)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('');
}

export function partsOf(content: unknown): readonly JsonNode[] {
  return Array.isArray(content) ? (content as JsonNode[]) : [];
}

/** An image of a chat completion request. */
export interface WireImage {
  readonly at: number;
  readonly url: string;
  /** Of a data URI. */
  readonly mediaType?: string;
  readonly data?: string;
}

const DATA_URI = /^data:([^;,]*);base64,(.*)$/s;

export function imagesIn({ messages }: FakeRequest): WireImage[] {
  return messages.flatMap(({ content }, at) =>
    partsOf(content)
      .filter(({ type }) => type === 'image_url')
      .map(({ image_url }) => {
        const { url } = image_url as { url: string };
        const [, mediaType, data] = DATA_URI.exec(url) ?? [];
        return { at, url, ...(mediaType !== undefined && { mediaType }), ...(data !== undefined && { data }) };
      }),
  );
}

export interface WireTool {
  readonly at: number;
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonNode | undefined;
}

/** The tools of a chat completion request. */
export function toolsIn({ tools = [] }: FakeRequest): WireTool[] {
  return tools.map(({ function: { name, description, parameters } }, at) => ({
    at,
    name,
    description: description ?? '',
    parameters: parameters as JsonNode | undefined,
  }));
}

export interface SchemaNode {
  readonly node: JsonNode;
  readonly path: readonly string[];
}

const IN_LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const IN_MAPS = ['properties', 'patternProperties', '$defs', 'definitions'];
const DIRECT = ['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames'];

/** A schema and all schemas in it. */
export function schemaNodes(schema: unknown, path: readonly string[] = []): SchemaNode[] {
  if (!isNode(schema)) return [];
  const below = [
    ...IN_LISTS.flatMap((key) => entriesOf(schema[key]).map(([at, value]) => schemaNodes(value, [...path, key, at]))),
    ...IN_MAPS.flatMap((key) => entriesOf(schema[key]).map(([at, value]) => schemaNodes(value, [...path, key, at]))),
    ...DIRECT.map((key) => schemaNodes(schema[key], [...path, key])),
  ];
  return [{ node: schema, path }, ...below.flat()];
}

export function isNode(value: unknown): value is JsonNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

/** The path of the first text with an unpaired surrogate. */
export function unpairedSurrogate(value: unknown, path = ''): string | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : path;
  for (const [key, below] of entriesOf(value)) {
    if (!key.isWellFormed()) return path;
    const found = unpairedSurrogate(below, path === '' ? key : `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether a request forces a call of any tool or of a certain one. */
export function forcesCall({ tool_choice }: FakeRequest): boolean {
  return tool_choice === 'required' || tool_choice === 'any' || isNode(tool_choice);
}

/** The parsed arguments of a call; undefined if they are no JSON. */
export function parsedArguments({ function: { arguments: text } }: WireCall): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Whether a schema is closed and requires all of its properties, as far as it is of objects. */
export function isStrict({ type, properties, required, additionalProperties }: JsonNode): boolean {
  if (type !== 'object' && properties === undefined) return true;
  const names = Object.keys(isNode(properties) ? properties : {});
  return additionalProperties === false && names.every((name) => Array.isArray(required) && required.includes(name));
}
