import { describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { CANARY, RestWorld } from '../../../test/support/rest-world.js';
import type { OpenApiImport } from './openapi.types.js';

Logger.overrideLogger(false);

const PETS = 'test/fixtures/openapi/pets.yaml';

const world = RestWorld.prepare();

const pets = (operations: OpenApiImport['operations'], more: Partial<OpenApiImport> = {}) =>
  world.registry.importOpenApi({
    document: PETS,
    operations,
    server: `${world.server.url}/v2/`,
    secrets: { key: 'CRM_TOKEN', token: 'CRM_TOKEN', login: { username: 'CRM_USER', password: 'CRM_TOKEN' } },
    ...more,
  });

/** A document with one operation. */
const documentOf = (operation: object, more: object = {}) => ({
  openapi: '3.1.0',
  info: { title: 'One', version: '1' },
  servers: [{ url: 'https://api.example/v1' }],
  paths: { '/things/{id}': { get: { operationId: 'thing', ...operation } } },
  ...more,
});
const ID = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
const one = (document: object, more: Partial<OpenApiImport> = {}) =>
  world.registry.importOpenApi({ document, operations: ['thing'], ...more });

describe('an OpenAPI document', () => {
  it('provides tools for the selected operations only', async () => {
    await pets(['listPets', { operationId: 'pets.create', name: 'add_pet', effect: 'idempotent', result: '/id' }]);
    expect(world.tools.list().map(({ definition }) => definition.name)).toEqual(['listPets', 'add_pet']);
    const { definition, metadata } = world.tools.get('listPets');
    expect(definition).toEqual({
      name: 'listPets',
      description: 'Lists pets\n\nNewest first.',
      inputSchema: {
        type: 'object',
        properties: {
          shop: { type: 'string', description: 'Which shop' },
          status: { type: 'array', items: { type: 'string', enum: ['free', 'sold', null] } },
          limit: { type: 'integer', format: 'int32', exclusiveMinimum: 0, maximum: 100, default: 20 },
          ids: { type: 'array', items: { type: 'integer' } },
          'X-Trace-Id': { type: ['string', 'null'], examples: ['t-1'] },
        },
        required: ['shop'],
        additionalProperties: false,
      },
    });
    expect(metadata).toMatchObject({ effect: 'read', untrusted: true, source: 'OpenAPI "listPets"' });
    expect(world.tools.get('add_pet').metadata).toMatchObject({ effect: 'idempotent' });
  });

  it('defines the requests of its tools', async () => {
    await pets(['listPets', 'pets.create', 'removePet'], { prefix: 'shop_' });
    world.server.json('/v2/shops/a%2Fb/pets', [{ id: 1 }]).json('/v2/pets', { id: 7 });
    world.server.on('/v2/pets/7', (_request, reply) => void reply.writeHead(204).end());
    const args = { shop: 'a/b', status: ['free', 'sold'], ids: [1, 2], 'X-Trace-Id': 't' };
    expect(await world.call(args, {}, 'shop_listPets')).toMatchObject({ success: true, result: [{ id: 1 }] });
    const body = { name: 'Rex', tags: [{ label: 'good' }] };
    expect(await world.call({ body }, {}, 'shop_pets_create')).toMatchObject({ result: { id: 7 } });
    expect(await world.call({ id: 7, id_query: 'x' }, {}, 'shop_removePet')).toMatchObject({ result: null });
    expect(world.server.requests).toMatchObject([
      {
        method: 'GET',
        path: '/v2/shops/a%2Fb/pets?status=free&status=sold&ids=1,2',
        headers: { 'x-trace-id': 't', authorization: `Bearer ${CANARY}` },
      },
      {
        method: 'POST',
        path: '/v2/pets',
        headers: { 'content-type': 'application/vnd.pets+json', 'x-key': CANARY },
        body: JSON.stringify(body),
      },
      { method: 'DELETE', path: '/v2/pets/7?id=x', headers: {} },
    ]);
    expect(world.server.requests[2]?.headers).not.toHaveProperty('authorization');
  });

  it('provides body schemas without references, read-only properties and 3.0 keywords', async () => {
    await pets(['pets.create']);
    const schema = world.tools.get('pets_create').definition.inputSchema as { properties: { body: unknown } };
    expect(schema.properties.body).toEqual({
      description: 'The new pet',
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string', minLength: 1 },
        owner: {
          anyOf: [{ allOf: [{ type: 'object', properties: { phone: { type: 'string' } } }] }, { type: 'null' }],
        },
        tags: {
          type: 'array',
          items: { type: 'object', properties: { label: { type: 'string' } } },
        },
      },
    });
    expect(await world.call({ body: { name: 'Rex' }, id: 1 }, {}, 'pets_create')).toMatchObject({
      success: false,
      code: 'TOOL_INVALID_ARGUMENTS',
    });
  });

  it('cuts a recursive schema where it begins again', async () => {
    await pets(['growTree']);
    const { properties } = world.tools.get('growTree').definition.inputSchema as { properties: { body: unknown } };
    expect(properties.body).toEqual({
      type: 'object',
      properties: { branches: { type: 'array', items: { type: 'object' } } },
    });
    const body = { branches: [{ branches: [{ branches: [] }] }] };
    await world.call({ body }, {}, 'growTree');
    expect(world.server.requests).toMatchObject([{ body: JSON.stringify(body) }]);
    expect(await world.call({ body: { branches: [1] } }, {}, 'growTree')).toMatchObject({ success: false });
  });

  it('applies keywords beside a reference in version 3.1', async () => {
    const schema = { $ref: '#/components/schemas/Name', maxLength: 5, description: 'Short' };
    const document = documentOf(
      { parameters: [ID, { name: 'name', in: 'query', schema }] },
      { components: { schemas: { Name: { type: 'string', minLength: 1 } } } },
    );
    await one(document);
    const { properties } = world.tools.get('thing').definition.inputSchema as { properties: Record<string, unknown> };
    expect(properties['name']).toEqual({
      maxLength: 5,
      description: 'Short',
      allOf: [{ type: 'string', minLength: 1 }],
    });
  });

  it('accepts a user name that is not a secret', async () => {
    const login = { user: 'ann', password: 'CRM_TOKEN' };
    await pets(['pets.create'], { secrets: { key: 'CRM_TOKEN', login } });
    await world.call({ body: { name: 'Rex' } }, {}, 'pets_create');
    const authorization = `Basic ${Buffer.from(`ann:${CANARY}`).toString('base64')}`;
    expect(world.server.requests).toMatchObject([{ headers: { authorization, 'x-key': CANARY } }]);
    await expect(pets(['removePet'], { secrets: { login: { password: 'CRM_TOKEN' } as never } })).rejects.toThrow(
      'its secrets.login.user: give the user name as `user`',
    );
  });

  it.each([
    ['of another tool', [{ operationId: 'pets.create', name: 'crm' }]],
    ['of one of its own', [{ operationId: 'pets.create', name: 'listPets' }]],
    ['that is reserved', [{ operationId: 'pets.create', name: 'finish' }]],
  ])('registers none of its tools when one has the name %s', async (_whose, others) => {
    world.declare({});
    await expect(pets(['listPets', ...others, 'removePet'])).rejects.toThrow(/"(crm|listPets|finish)"/);
    expect(world.tools.list().map(({ definition }) => definition.name)).toEqual(['crm']);
    await pets(['listPets', 'removePet']);
    expect(world.tools.list()).toHaveLength(3);
  });

  it('omits optional parameters on request', async () => {
    await pets([{ operationId: 'listPets', omit: ['ids', 'X-Trace-Id', 'status'] }]);
    expect(
      Object.keys((world.tools.get('listPets').definition.inputSchema as { properties: object }).properties),
    ).toEqual(['shop', 'limit']);
    world.reset();
    await expect(pets([{ operationId: 'listPets', omit: ['shop'] }])).rejects.toThrow(
      'it is required and cannot be omitted',
    );
    await expect(pets([{ operationId: 'listPets', omit: ['shops'] }])).rejects.toThrow(
      'operationId "listPets" selects no operation with a parameter "shops" to omit',
    );
  });
});
