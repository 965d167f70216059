import type { OpenAPIObject } from '@nestjs/swagger';
import type { ToolDefinition } from '../tool/index.js';
import { toolCallExample } from './body-example.mapper.js';

type Operation = NonNullable<OpenAPIObject['paths'][string]['post']>;
type Schema = Readonly<Record<string, unknown>>;

const CALL_PATH = /\/tools\/\{name\}\/call$/;
/** Keywords whose values are data, not schemas. */
const DATA = new Set(['const', 'enum', 'default', 'examples', 'example']);

/**
 * Adds one operation per tool, with the schemas of its arguments and results. It is `/tools/{name}/call` for one name;
 * `x-tool` marks it.
 */
export function withTools(document: OpenAPIObject, tools: readonly ToolDefinition[]): OpenAPIObject {
  const path = Object.keys(document.paths).find((name) => CALL_PATH.test(name));
  const call = path === undefined ? undefined : document.paths[path]?.post;
  if (path === undefined || !call) return document;
  const pages = tools.map((tool) => [path.replace('{name}', tool.name), { post: pageOf(tool, call) }]);
  const schemas = Object.fromEntries(tools.flatMap(schemasOf)) as Record<string, object>;
  return {
    ...document,
    paths: { ...document.paths, ...(Object.fromEntries(pages) as OpenAPIObject['paths']) },
    components: { ...document.components, schemas: { ...document.components?.schemas, ...schemas } },
  };
}

function pageOf({ name, description, inputSchema, outputSchema }: ToolDefinition, call: Operation): object {
  const isNeeded = Array.isArray(inputSchema['required']) && inputSchema['required'].length > 0;
  const request = {
    allOf: [
      { $ref: '#/components/schemas/ToolCallDto' },
      { properties: { arguments: { $ref: placeOf(name, 'arguments') } }, ...(isNeeded && { required: ['arguments'] }) },
    ],
  };
  const example = toolCallExample(name, inputSchema);
  const answer = {
    allOf: [
      { $ref: '#/components/schemas/ToolCallAnswerDto' },
      ...(outputSchema ? [{ properties: { result: { $ref: placeOf(name, 'result') } } }] : []),
    ],
  };
  const answered = { description: 'The outcome of the call', content: { 'application/json': { schema: answer } } };
  return {
    ...call,
    operationId: `call_${name}`,
    summary: `Calls the tool "${name}".`,
    description,
    tags: ['Tools'],
    parameters: (call.parameters ?? []).filter((parameter) => !('in' in parameter && parameter.in === 'path')),
    requestBody: { required: isNeeded, content: { 'application/json': { schema: request, example } } },
    responses: { ...call.responses, 200: answered, 202: { ...answered, description: 'The call waits for a decision' } },
    'x-tool': name,
  };
}

function schemasOf({ name, inputSchema, outputSchema }: ToolDefinition): [string, unknown][] {
  return [
    [keyOf(name, 'arguments'), moved(inputSchema, placeOf(name, 'arguments'))],
    ...(outputSchema
      ? [[keyOf(name, 'result'), moved(outputSchema, placeOf(name, 'result'))] as [string, unknown]]
      : []),
  ];
}

/** The key of a schema; no class name contains a dot, so keys do not collide. */
function keyOf(tool: string, part: 'arguments' | 'result'): string {
  return `tool.${tool}.${part}`;
}

function placeOf(tool: string, part: 'arguments' | 'result'): string {
  return `#/components/schemas/${keyOf(tool, part)}`;
}

/** Rewrites the inner references of a schema for its place in the document. */
function moved(node: unknown, place: string): unknown {
  if (Array.isArray(node)) return node.map((member) => moved(member, place));
  if (typeof node !== 'object' || node === null) return node;
  // A schema with an `$id` resolves its references by itself.
  if (typeof (node as Schema)['$id'] === 'string') return node;
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, movedMember(key, value, place)]));
}

function movedMember(key: string, value: unknown, place: string): unknown {
  if (key === '$ref' && typeof value === 'string') return /^#(\/|$)/.test(value) ? place + value.slice(1) : value;
  return DATA.has(key) ? value : moved(value, place);
}
