import type { OpenAPIObject } from '@nestjs/swagger';
import type { ToolDefinition } from './tool/index.js';

type Operation = NonNullable<OpenAPIObject['paths'][string]['post']>;
type Schema = Readonly<Record<string, unknown>>;

const CALL_PATH = /\/tools\/\{name\}\/call$/;
/** Keywords whose values are data, not schemas. */
const DATA = new Set(['const', 'enum', 'default', 'examples', 'example']);

/**
 * Gives every tool a page of its own, with the schemas that models and the check of its calls have, too. `x-tool` marks
 * such an operation: it is the one of `/tools/{name}/call`, told for one name.
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
  const answer = {
    allOf: [
      { $ref: '#/components/schemas/ToolCallAnswerDto' },
      ...(outputSchema ? [{ properties: { result: { $ref: placeOf(name, 'result') } } }] : []),
    ],
  };
  const answered = { description: 'What came of the call', content: { 'application/json': { schema: answer } } };
  return {
    ...call,
    operationId: `call_${name}`,
    summary: `Calls the tool "${name}".`,
    description,
    tags: ['Tools'],
    parameters: (call.parameters ?? []).filter((parameter) => !('in' in parameter && parameter.in === 'path')),
    requestBody: { required: isNeeded, content: { 'application/json': { schema: request } } },
    responses: { ...call.responses, 200: answered, 202: { ...answered, description: 'It waits for a decision' } },
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

/** No class has a dot in its name. */
function keyOf(tool: string, part: 'arguments' | 'result'): string {
  return `tool.${tool}.${part}`;
}

function placeOf(tool: string, part: 'arguments' | 'result'): string {
  return `#/components/schemas/${keyOf(tool, part)}`;
}

/** A schema in its place in the document: what it refers to inside itself is now further down. */
function moved(node: unknown, place: string): unknown {
  if (Array.isArray(node)) return node.map((member) => moved(member, place));
  if (typeof node !== 'object' || node === null) return node;
  // It has an address of its own, and what it refers to goes by that.
  if (typeof (node as Schema)['$id'] === 'string') return node;
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, movedMember(key, value, place)]));
}

function movedMember(key: string, value: unknown, place: string): unknown {
  if (key === '$ref' && typeof value === 'string') return /^#(\/|$)/.test(value) ? place + value.slice(1) : value;
  return DATA.has(key) ? value : moved(value, place);
}
