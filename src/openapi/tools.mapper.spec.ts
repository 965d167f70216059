import { describe, expect, it } from 'vitest';
import type { OpenAPIObject } from '@nestjs/swagger';
import { withNullTypes } from './openapi-docs.js';
import { withTools } from './tools.mapper.js';

const DOCUMENT: OpenAPIObject = {
  openapi: '3.1.0',
  info: { title: 't', version: '1' },
  paths: {
    '/api/tools/{name}/call': {
      post: {
        operationId: 'call',
        parameters: [
          { name: 'name', in: 'path', required: true, schema: { type: 'string' } },
          { name: 'idempotency-key', in: 'header', schema: { type: 'string' } },
        ],
        responses: { 200: { description: 'x' }, default: { description: 'y' } },
      },
    },
  },
  components: { schemas: { ToolCallDto: { type: 'object' } } },
};

function toolOf(inputSchema: Record<string, unknown>, outputSchema?: Record<string, unknown>) {
  return { name: 'tree', description: 'Grows.', inputSchema, ...(outputSchema && { outputSchema }) };
}

describe('the OpenAPI operation of a tool', () => {
  const node = {
    type: 'object',
    properties: { leaf: { $ref: '#/$defs/leaf' }, again: { $ref: '#' }, const: { const: { $ref: '#/not/a/schema' } } },
    required: ['leaf'],
    $defs: { leaf: { type: 'string' }, own: { $id: 'https://x.test/own', $ref: '#/$defs/y', $defs: { y: true } } },
  };
  const { paths, components } = withTools(DOCUMENT, [toolOf(node, { type: 'string' })]);
  const page = paths['/api/tools/tree/call']?.post as unknown as Record<string, unknown>;

  it('is added to the generic route, with the tool’s description and without the placeholder', () => {
    expect(Object.keys(paths)).toEqual(['/api/tools/{name}/call', '/api/tools/tree/call']);
    expect(page).toMatchObject({ operationId: 'call_tree', description: 'Grows.', 'x-tool': 'tree' });
    expect(page['parameters']).toEqual([expect.objectContaining({ name: 'idempotency-key' })]);
    expect(Object.keys(page['responses'] as object)).toEqual(['200', '202', 'default']);
  });

  it('refers to the tool’s schemas, whose inner references are rewritten', () => {
    const place = '#/components/schemas/tool.tree.arguments';
    expect(page['requestBody']).toMatchObject({
      required: true,
      content: {
        'application/json': {
          schema: { allOf: [{}, { properties: { arguments: { $ref: place } }, required: ['arguments'] }] },
        },
      },
    });
    expect(components?.schemas).toMatchObject({
      'tool.tree.arguments': {
        properties: {
          leaf: { $ref: `${place}/$defs/leaf` },
          again: { $ref: place },
          const: { const: { $ref: '#/not/a/schema' } },
        },
        $defs: { own: { $ref: '#/$defs/y' } },
      },
      'tool.tree.result': { type: 'string' },
    });
  });

  it('is omitted if tools cannot be called', () => {
    expect(withTools({ ...DOCUMENT, paths: {} }, [toolOf(node)]).paths).toEqual({});
  });
});

describe('null in the document', () => {
  it.each([
    [
      { type: 'string', nullable: true, minLength: 1 },
      { type: ['string', 'null'], minLength: 1 },
    ],
    [{ type: 'string', nullable: false }, { type: 'string' }],
    [
      { type: 'string', enum: ['a'], nullable: true },
      { type: ['string', 'null'], enum: ['a', null] },
    ],
    [{ $ref: '#/x', nullable: true }, { anyOf: [{ $ref: '#/x' }, { type: 'null' }] }],
    [{ properties: { nullable: { type: 'string' } } }, { properties: { nullable: { type: 'string' } } }],
  ])('is a type: %j', (schema, expected) => {
    expect(withNullTypes({ a: [schema] })).toEqual({ a: [expected] });
  });
});
