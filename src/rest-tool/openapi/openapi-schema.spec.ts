import { describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { RestWorld } from '../../../test/support/rest-world.js';

Logger.overrideLogger(false);

const world = RestWorld.prepare();

const ID = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
/** Imports an operation with a body that may refer to these schemas. */
const importBody = (schema: object, schemas: object, openapi = '3.1.0', type = 'application/json') => {
  world.server.json('/things/a', {});
  const requestBody = { content: { [type]: { schema } } };
  const paths = { '/things/{id}': { post: { operationId: 'thing', parameters: [ID], requestBody } } };
  return world.registry.importOpenApi({
    document: { openapi, info: { title: 'One', version: '1' }, paths, components: { schemas } },
    server: world.server.url,
  });
};

describe('a body schema of an OpenAPI document', () => {
  it('may have the properties of a closed reference and of its siblings, and no others', async () => {
    const closed = { type: 'object', properties: { a: { type: 'integer' } }, additionalProperties: false };
    const schema = { $ref: '#/components/schemas/A', properties: { b: { type: 'integer' } } };
    await importBody(schema, { A: closed });
    expect(await world.call({ id: 'a', body: { a: 1, b: 2 } }, {}, 'thing')).toMatchObject({ success: true });
    expect(await world.call({ id: 'a', body: { c: 3 } }, {}, 'thing')).toMatchObject({
      error: expect.stringContaining('unknown argument "body.c" (known: b, a)'),
    });
  });

  const READ_ONLY = { type: 'object', properties: { id: { type: 'integer', readOnly: true } } };
  const NAMED = { type: 'object', properties: { name: { type: 'string' } }, required: ['id', 'name'] };
  it.each<[string, object]>([
    ['beside its part of allOf', { ...NAMED, allOf: [READ_ONLY] }],
    ['in another part of allOf', { allOf: [READ_ONLY, NAMED] }],
    ['in an inner part of allOf', { allOf: [{ allOf: [READ_ONLY] }, { allOf: [NAMED] }] }],
    ['in a choice', { ...READ_ONLY, oneOf: [NAMED, { type: 'null' }] }],
    ['beside a reference', { $ref: '#/components/schemas/Base', ...NAMED }],
    ['beside a reference to a part', { allOf: [{ $ref: '#/components/schemas/Base' }, NAMED] }],
    ['by a part of the property', { ...NAMED, properties: { id: { allOf: [{ readOnly: true }] } } }],
  ])('never needs a read-only property that is required %s', async (_where, schema) => {
    await importBody(schema, { Base: READ_ONLY });
    expect(await world.call({ id: 'a', body: { name: 'Rex' } }, {}, 'thing')).toMatchObject({ success: true });
    expect(JSON.stringify(world.tools.get('thing').definition.inputSchema)).not.toContain('readOnly');
  });

  it('never has a read-only property that is nullable in version 3.0', async () => {
    const owner = { allOf: [{ $ref: '#/components/schemas/Owner' }], nullable: true, readOnly: true };
    const schema = { type: 'object', properties: { owner, name: { type: 'string' } }, required: ['owner'] };
    await importBody(schema, { Owner: { type: 'object' } }, '3.0.3');
    const { inputSchema } = world.tools.get('thing').definition;
    expect(inputSchema).toMatchObject({
      properties: { body: { properties: { name: { type: 'string' } }, required: [] } },
    });
    expect(JSON.stringify(inputSchema)).not.toContain('owner');
  });

  it('still needs a property of the same name in another value', async () => {
    const inner = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] };
    await importBody({ allOf: [READ_ONLY], properties: { inner } }, {});
    expect(await world.call({ id: 'a', body: { inner: {} } }, {}, 'thing')).toMatchObject({ success: false });
  });
});

describe('a multipart body of an OpenAPI document', () => {
  const FILE = { type: 'string', format: 'binary' };
  const NOTE = { type: 'string' };
  const importForm = (schema: object) => importBody(schema, {}, '3.1.0', 'multipart/form-data');
  const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });

  const N = { type: 'integer', minimum: 1 };
  it.each<[string, object, object]>([
    ['a nullable file', object({ file: { anyOf: [FILE, { type: 'null' }] } }), object({ file: { anyOf: [N, {}] } })],
    ['a file by allOf', object({ file: { allOf: [FILE] } }), object({ file: N })],
    ['a list of files', object({ files: { items: { oneOf: [FILE] } } }), object({ files: { items: { oneOf: [N] } } })],
    ['a file in a part', { allOf: [{}, object({ file: FILE })] }, { allOf: [{}, object({ file: N })] }],
    [
      'a file of another part',
      { allOf: [object({ file: FILE }), object({ file: {} })] },
      { allOf: [{}, object({ file: N })] },
    ],
    ['a file in a choice', { oneOf: [object({ file: FILE }), object({})] }, { oneOf: [object({ file: N }), {}] }],
    ['a file required elsewhere', { ...object({ file: FILE }), anyOf: [{ required: ['file'] }] }, object({ file: N })],
  ])('takes the number of %s', async (_what, schema, shown) => {
    await importForm(schema);
    const { inputSchema } = world.tools.get('thing').definition;
    expect(inputSchema).toMatchObject({ properties: { body: shown } });
    expect(JSON.stringify(inputSchema)).not.toContain('binary');
  });

  it.each<[string, object, object]>([
    ['the choice of a file', object({ note: { oneOf: [FILE, NOTE] } }), object({ note: { oneOf: [NOTE] } })],
    ['any other file', object({ note: NOTE }, { additionalProperties: FILE }), { additionalProperties: false }],
  ])('does not offer %s beside something else', async (_what, schema, shown) => {
    await importForm(schema);
    expect(world.tools.get('thing').definition.inputSchema).toMatchObject({ properties: { body: shown } });
  });
});
