import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { RestWorld } from '../../../test/support/rest-world.js';

Logger.overrideLogger(false);

const world = RestWorld.prepare();

describe('an OpenAPI document in several files', () => {
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'openapi-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const write = (name: string, content: unknown) => {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };
  const root = (schema: object, more: object = {}) => ({
    openapi: '3.1.0',
    info: { title: 'Files', version: '1' },
    paths: {
      '/things': {
        post: { operationId: 'add', requestBody: { content: { 'application/json': { schema } } } },
        get: { operationId: 'good' },
      },
      ...more,
    },
  });
  const imported = (document: string) => world.registry.importOpenApi({ document, server: world.server.url });
  const bodySchema = () =>
    (world.tools.get('add').definition.inputSchema as { properties: { body: unknown } }).properties.body;

  it('reads the files inside its folder, which refer to each other', async () => {
    write(
      'api/schemas/pet.yaml',
      'Pet:\n  type: object\n  properties:\n    tag:\n      $ref: "tag.json"\n    size:\n      $ref: "#/Size"\nSize:\n  type: integer\n',
    );
    write('api/schemas/tag.json', { type: 'string', title: 'Tag' });
    write('api/item.json', {
      put: { operationId: 'put', requestBody: { $ref: 'root.json#/paths/~1things/post/requestBody' } },
    });
    const path = write('api/root.json', root({ $ref: 'schemas/pet.yaml#/Pet' }, { '/more': { $ref: './item.json' } }));
    expect(await imported(path)).toMatchObject({ tools: ['good', 'add', 'put'], refused: [] });
    const pet = { type: 'object', properties: { tag: { type: 'string', title: 'Tag' }, size: { type: 'integer' } } };
    expect(bodySchema()).toEqual(pet);
    expect(world.tools.get('put').definition.inputSchema).toMatchObject({ properties: { body: pet } });
  });

  it.each([
    '../secret.json',
    'link.json',
    'file:///etc/passwd',
    '/etc/passwd',
    'https://a.example/b.json',
    'none.json',
  ])('does not read %s: the operation is refused', async (reference) => {
    symlinkSync(write('secret.json', { type: 'string' }), join(dirname(write('api/a.txt', '')), 'link.json'));
    expect(await imported(write('api/root.json', root({ $ref: reference })))).toMatchObject({
      tools: ['good'],
      refused: [{ operation: 'post /things', reason: expect.stringContaining('only references inside the document') }],
    });
  });

  it('has at most 1,000 files: an operation that needs another one is refused', async () => {
    const name = (n: number) => `schemas/${n}.json`;
    const names = Array.from({ length: 1001 }, (_, n) => name(n));
    for (const one of names) write(one, { type: 'string' });
    const properties = Object.fromEntries(names.slice(0, 1000).map((one, n) => [`p${n}`, { $ref: one }]));
    const content = { 'application/json': { schema: { $ref: name(1000) } } };
    const last = { '/last': { post: { operationId: 'last', requestBody: { content } } } };
    expect(await imported(write('root.json', root({ type: 'object', properties }, last)))).toMatchObject({
      tools: ['good', 'add'],
      refused: [{ operation: 'post /last', reason: expect.stringContaining(`it refers to "${name(1000)}"`) }],
    });
  });

  it('may be Swagger 2.0 with path items and parameters in other files', async () => {
    write('paths/pets.yaml', 'post:\n  operationId: add\n  parameters:\n    - $ref: "../body.json#/Pet"\n');
    write('body.json', {
      Pet: { name: 'pet', in: 'body', required: true, schema: { $ref: 'root.json#/definitions/Pet' } },
      Limit: { name: 'limit', in: 'query', type: 'array', items: { type: 'integer' }, collectionFormat: 'pipes' },
    });
    const document = write('root.json', {
      swagger: '2.0',
      info: { title: 'Files', version: '1' },
      definitions: { Pet: { type: 'object', properties: { name: { type: 'string', 'x-nullable': true } } } },
      paths: {
        '/pets': { $ref: 'paths/pets.yaml' },
        '/list': { get: { operationId: 'list', parameters: [{ $ref: 'body.json#/Limit' }] } },
      },
    });
    expect(await imported(document)).toMatchObject({ tools: ['add', 'list'], refused: [] });
    expect(bodySchema()).toEqual({ type: 'object', properties: { name: { type: ['string', 'null'] } } });
    expect(world.tools.get('list').definition.inputSchema).toMatchObject({ properties: { limit: { type: 'array' } } });
  });

  it.each([
    ['broken.json', '{"a":'],
    ['broken.yaml', 'a: [1'],
    ['folder', undefined],
  ])('refuses only the operations that refer to %s, which cannot be read', async (name, content) => {
    if (content === undefined) mkdirSync(join(folder, name));
    else write(name, content);
    const path = write('root.json', root({ $ref: name }, { '/more': { $ref: `${name}#/x` } }));
    const reason = expect.stringContaining(`it refers to "${name}`);
    expect(await imported(path)).toMatchObject({
      tools: ['good'],
      refused: [
        { operation: '/more', reason },
        { operation: 'post /things', reason },
      ],
    });
  });

  it('has data, where $ref is no reference', async () => {
    const data = { $ref: 'data.json' };
    write('data.json', { type: 'string' });
    const properties = { default: data, enum: { default: data, enum: [data], const: data, examples: [data] } };
    expect(await imported(write('root.json', root({ type: 'object', properties })))).toMatchObject({ refused: [] });
    expect(bodySchema()).toEqual({
      type: 'object',
      properties: { default: { type: 'string' }, enum: { default: data, enum: [data], const: data, examples: [data] } },
    });
  });

  const laughs = Array.from({ length: 9 }, (_, n) => `x${n}: &x${n} [${`*x${n - 1}, `.repeat(9)}]`).join('\n');

  it.each([
    ['repeat values exponentially', `x: &x-1 {}\n${laughs}`, 'its aliases add more than 1,000,000 values'],
    ['contain themselves', 'x: &x\n  - *x', 'an alias contains itself'],
  ])('is refused if its YAML aliases %s', async (_what, yaml, reason) => {
    const path = write('root.yaml', `openapi: 3.1.0\npaths: {}\n${yaml}\n`);
    await expect(imported(path)).rejects.toThrow(`root.yaml is not usable YAML: ${reason}`);
  });

  it('may use YAML aliases', async () => {
    const path = write(
      'root.yaml',
      'openapi: 3.1.0\npaths:\n  /a:\n    get: &get\n      operationId: a\n  /b:\n    get: *get\n',
    );
    expect(await imported(path)).toMatchObject({ tools: ['a', expect.stringContaining('a_')], refused: [] });
  });
});

describe('the version of an OpenAPI document', () => {
  const SWAGGER = {
    swagger: '2.0',
    info: { title: 'Pets', version: '1' },
    host: 'pets.example',
    basePath: '/v1',
    schemes: ['https'],
    securityDefinitions: { login: { type: 'basic' } },
    parameters: { Limit: { name: 'limit', in: 'query', type: 'integer', maximum: 10 } },
    definitions: { Pet: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } },
    paths: {
      '/pets/{id}': {
        get: {
          operationId: 'find',
          parameters: [
            { name: 'id', in: 'path', required: true, type: 'string' },
            { name: 'tags', in: 'query', type: 'array', items: { type: 'string' }, collectionFormat: 'csv' },
            { name: 'ids', in: 'query', type: 'array', items: { type: 'string' }, collectionFormat: 'multi' },
            { name: 'parts', in: 'query', type: 'array', items: { type: 'string' }, collectionFormat: 'pipes' },
            { $ref: '#/parameters/Limit' },
          ],
        },
      },
      '/pets': {
        post: {
          operationId: 'add',
          consumes: ['application/json'],
          parameters: [{ name: 'pet', in: 'body', required: true, schema: { $ref: '#/definitions/Pet' } }],
        },
        put: {
          operationId: 'form',
          consumes: ['application/x-www-form-urlencoded'],
          parameters: [{ name: 'name', in: 'formData', required: true, type: 'string' }],
        },
      },
    },
  };

  it('may be Swagger 2.0, which is converted', async () => {
    const document = structuredClone(SWAGGER);
    expect(await world.registry.importOpenApi({ document, server: world.server.url })).toMatchObject({
      tools: ['find', 'add', 'form'],
      refused: [],
    });
    expect(document).toEqual(SWAGGER);
    await world.call({ id: 'a', tags: ['x', 'y'], ids: ['1', '2'], parts: ['p', 'q'], limit: 5 }, {}, 'find');
    await world.call({ body: { name: 'Rex' } }, {}, 'add');
    await world.call({ body: { name: 'Rex 2' } }, {}, 'form');
    expect(world.server.requests).toMatchObject([
      { method: 'GET', path: '/pets/a?tags=x,y&ids=1&ids=2&parts=p%7Cq&limit=5' },
      { method: 'POST', path: '/pets', body: '{"name":"Rex"}' },
      { method: 'PUT', path: '/pets', body: 'name=Rex+2' },
    ]);
  });

  const PET = { name: 'pet', in: 'body', required: true, schema: { $ref: '#/definitions/Pet' } };
  const NAME = { name: 'name', in: 'formData', required: true, type: 'string' };
  const FORM = 'application/x-www-form-urlencoded';

  it.each<[string, object, object, string]>([
    ['a shared body', { post: { parameters: [{ $ref: '#/parameters/Pet' }] } }, { Pet: PET }, '{"name":"Rex"}'],
    [
      'shared fields of a form',
      {
        post: {
          consumes: [FORM],
          parameters: [{ $ref: '#/parameters/Name' }, { ...NAME, name: 'tag', required: false }],
        },
      },
      { Name: NAME },
      'name=Rex',
    ],
    ['the body of a path', { post: {}, parameters: [{ $ref: '#/parameters/Pet' }] }, { Pet: PET }, '{"name":"Rex"}'],
    [
      'the fields of a path and of its operation',
      { post: { consumes: [FORM], parameters: [{ ...NAME, name: 'tag', required: false }] }, parameters: [NAME] },
      {},
      'name=Rex',
    ],
    ['a body beside the one of its path', { parameters: [NAME], post: { parameters: [PET] } }, {}, '{"name":"Rex"}'],
  ])('may be Swagger 2.0 with %s', async (_what, item, parameters, sent) => {
    const document = { ...SWAGGER, parameters, paths: { '/pets': item } };
    expect(await world.registry.importOpenApi({ document, server: world.server.url })).toMatchObject({
      tools: ['post_pets'],
      refused: [],
    });
    await world.call({ body: { name: 'Rex' } }, {}, 'post_pets');
    expect(world.server.requests).toMatchObject([{ method: 'POST', body: sent }]);
  });

  it.each<[object, string]>([
    [{ name: 'x', type: 'string' }, 'parameter "x": it is in "undefined", which a tool cannot set'],
    [{ in: 'formData', type: 'string' }, 'parameter undefined: it has no name'],
    [{ $ref: '#/parameters/None' }, 'it refers to #/components/parameters/None, which does not exist'],
    [{ $ref: '#/parameters/Loop' }, 'it refers to itself (#/components/parameters/Loop → '],
  ])('may be Swagger 2.0 with a parameter for which its operation is refused: %j', async (parameter, reason) => {
    const paths = { '/bad': { post: { parameters: [parameter] } }, '/good': { get: { operationId: 'good' } } };
    const document = { ...SWAGGER, parameters: { Loop: { $ref: '#/parameters/Loop' } }, paths };
    expect(await world.registry.importOpenApi({ document })).toMatchObject({
      tools: ['good'],
      refused: [{ operation: 'post /bad', reason: expect.stringContaining(reason) }],
    });
  });

  it('may be Swagger 2.0 with its own server', async () => {
    const { refused } = await world.registry.importOpenApi({ document: SWAGGER, operations: ['find'] });
    expect(refused).toEqual([]);
  });

  it('may be 3.2', async () => {
    const document = {
      openapi: '3.2.0',
      info: { title: 'New', version: '1' },
      servers: [{ url: world.server.url, name: 'main' }],
      components: { mediaTypes: { Thing: { schema: { type: 'object' } } } },
      paths: {
        '/things': {
          query: { operationId: 'search' },
          post: {
            operationId: 'add',
            requestBody: { content: { 'application/json': { $ref: '#/components/mediaTypes/Thing' } } },
          },
          get: {
            operationId: 'list',
            parameters: [{ name: 'a', in: 'cookie', style: 'cookie', schema: { type: 'string' } }],
          },
        },
      },
    };
    expect(await world.registry.importOpenApi({ document })).toMatchObject({
      tools: ['list', 'add'],
      refused: [{ operation: 'query /things', reason: 'the method QUERY is not supported' }],
    });
  });

  it.each<[object, string]>([
    [{ openapi: '3.3.0' }, 'openapi "3.3.0"'],
    [{ openapi: '4.0.0' }, 'openapi "4.0.0"'],
    [{ swagger: '1.2' }, 'swagger "1.2"'],
    [{ swaggerVersion: '1.2' }, 'the format Swagger 1.2'],
    [{ asyncapi: '3.0.0' }, 'the format AsyncAPI 3.0.0'],
    [{ arazzo: '1.0.1' }, 'the format Arazzo 1.0.1'],
    [{ discoveryVersion: 'v1' }, 'the format Google Discovery v1'],
    [{ paths: {} }, 'no OpenAPI version'],
  ])('is refused by name and version otherwise: %j', async (document, what) => {
    await expect(world.registry.importOpenApi({ document })).rejects.toThrow(
      `OpenAPI: the document has ${what}; Swagger 2.0 and OpenAPI 3.0 to 3.2 are supported.`,
    );
  });
});
