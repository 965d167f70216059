import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { CANARY, RestWorld } from '../../../../test/support/rest-world.js';
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
        path: '/v2/shops/a%2Fb/pets?limit=20&status=free&status=sold&ids=1%2C2',
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
          anyOf: [
            { allOf: [{ type: 'object', properties: { phone: { type: 'string' } } }], unevaluatedProperties: false },
            { type: 'null' },
          ],
        },
        tags: {
          type: 'array',
          items: { type: 'object', properties: { label: { type: 'string' } }, additionalProperties: false },
        },
      },
      additionalProperties: false,
    });
    expect(await world.call({ body: { name: 'Rex', id: 1 } }, {}, 'pets_create')).toMatchObject({
      success: false,
      code: 'TOOL_INVALID_ARGUMENTS',
    });
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

  it.each([
    [{ parameters: [] }, {}, 'get /things/{id}: its path has {id}, which is not among its path parameters'],
    [{ parameters: [{ ...ID, schema: { type: 'object' } }] }, {}, 'parameter "id": it contains an object'],
    [
      { parameters: [ID, { name: 's', in: 'cookie' }] },
      {},
      'parameter "s": it is in "cookie", which a tool cannot set; it is not required: name it in `omit`',
    ],
    [
      { parameters: [ID, { name: 's', in: 'query', style: 'deepObject', required: true }] },
      {},
      'its style "deepObject" is not supported.',
    ],
    [{ parameters: [ID, { name: 's', in: 'query', content: { 'application/json': {} } }] }, {}, 'it uses `content`'],
    [
      { parameters: [ID, { $ref: 'https://evil.example/p.json' }] },
      {},
      'it refers to "https://evil.example/p.json", and only references inside',
    ],
    [{ parameters: [ID, { $ref: './other.yaml#/x' }] }, {}, 'only references inside the document'],
    [
      { parameters: [ID, { $ref: '#/components/parameters/none' }] },
      {},
      'it refers to #/components/parameters/none, which does not exist',
    ],
    [{ parameters: [ID], servers: [{ url: '/v1' }] }, {}, 'its server "/v1" is not https://host/path: give `server`'],
    [
      { parameters: [ID], servers: [{ url: 'https://{region}.example' }] },
      {},
      'its server "https://{region}.example" is not',
    ],
    [{ parameters: [ID] }, { servers: [] }, 'the document names no server'],
    [
      { parameters: [ID] },
      { servers: [{ url: 'https://a' }, { url: 'https://b' }] },
      'several servers (https://a, https://b): give one',
    ],
    [
      { parameters: [ID], security: [{ key: [] }, { a: [], b: [] }] },
      {},
      'it needs key, or a and b: name their variables in `secrets`',
    ],
    [{ parameters: [ID], requestBody: { content: { 'application/json': {} } } }, {}, 'requestBody: GET has no body'],
    [{ parameters: [{ ...ID, schema: { $id: 'x' } }] }, {}, 'it uses $id, which is not supported'],
    [{ parameters: [ID] }, { openapi: '2.0' }, 'the document has openapi "2.0"; 3.0 and 3.1 are supported'],
    [{ parameters: [ID], operationId: 'other' }, {}, '"thing": the document has no such operation (it has: other)'],
  ])('is refused where it cannot be mapped: %j %j', async (operation, more, fault) => {
    await expect(one(documentOf(operation, more))).rejects.toMatchObject({
      code: 'TOOL_INVALID',
      message: expect.stringContaining(fault),
    });
    expect(world.tools.list()).toEqual([]);
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
    [{ type: 'apiKey', in: 'cookie', name: 's' }, 'CRM_TOKEN', 'its key is in "cookie"'],
    [{ type: 'http', scheme: 'basic' }, 'CRM_TOKEN', 'it is basic: give { username, password }'],
    [{ type: 'http', scheme: 'digest' }, 'CRM_TOKEN', 'its type is "digest", which is not supported'],
    [{ type: 'mutualTLS' }, 'CRM_TOKEN', 'its type is "mutualTLS", which is not supported'],
    [{ type: 'oauth2' }, { username: 'CRM_USER' }, 'it takes one secret'],
    [{ type: 'oauth2' }, 'OTHER_SECRET', 'its auth names OTHER_SECRET, which TOOL_SECRETS does not'],
  ])('is rejected with the scheme %j and the secret %j', async (scheme, secret, fault) => {
    const document = documentOf(
      { parameters: [ID], security: [{ key: [] }] },
      { components: { securitySchemes: { key: scheme } } },
    );
    await expect(one(document, { secrets: { key: secret } })).rejects.toThrow(fault);
  });

  it('is rejected with the cycle when it refers to itself', async () => {
    await expect(pets(['growTree'])).rejects.toMatchObject({
      message: expect.stringContaining(
        'it refers to itself (#/components/schemas/Tree → #/components/schemas/Tree), and recursive schemas are not supported',
      ),
    });
  });

  it('is rejected when its references expand to too many schemas', async () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 20 }, (_, n) => {
        const inner = n === 0 ? { type: 'string' } : { $ref: `#/components/schemas/S${n - 1}` };
        return [`S${n}`, { anyOf: [inner, inner] }];
      }),
    );
    const parameters = [ID, { name: 'x', in: 'query', schema: { $ref: '#/components/schemas/S19' } }];
    await expect(one(documentOf({ parameters }, { components: { schemas } }))).rejects.toThrow(
      'more than 5000 schemas',
    );
  });

  it('is rejected as a whole, with all its mistakes', async () => {
    const refused = pets(['listPets', 'growTree', 'upload', 'nothing'], { secrets: {} });
    await expect(refused).rejects.toThrow(/listPets|get \/shops/);
    const message = await refused.catch((error: Error) => error.message);
    for (const part of [
      'it needs token',
      'refers to itself',
      'its type is multipart/form-data, and only JSON',
      '"nothing": the document',
    ]) {
      expect(message).toContain(part);
    }
    expect(world.tools.list()).toEqual([]);
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
      'it has no parameter "shops" to omit',
    );
  });

  it.each([
    [{ document: 'nowhere.yaml', operations: ['a'] }, 'nowhere.yaml cannot be read'],
    [{ document: PETS, operations: [] }, 'its operations: '],
    [{ document: PETS, operations: ['a'], servers: 'x' }, 'unrecognized key: "servers"'],
    [{ document: 'package.json', operations: ['a'] }, 'package.json has no OpenAPI version'],
    [{ document: 'README.md', operations: ['a'] }, 'README.md'],
  ])('is not loaded from an invalid import: %j', async (given, fault) => {
    await expect(world.registry.importOpenApi(given as OpenApiImport)).rejects.toThrow(fault);
  });
});
