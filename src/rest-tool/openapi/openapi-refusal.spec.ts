import { describe, expect, it, vi } from 'vitest';
import { Logger } from '@nestjs/common';
import { RestWorld } from '../../../test/support/rest-world.js';
import type { OpenApiImport } from './openapi.types.js';

Logger.overrideLogger(false);

const PETS = 'test/fixtures/openapi/pets.yaml';

const world = RestWorld.prepare();

const ID = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
const GOOD = { operationId: 'good' };
const NO_PLACE = 'which is not a valid reference (#/components/…)';

/** A document with the operation `thing` beside one that can be imported. */
const documentOf = (thing: object, more: object = {}, method = 'get') => ({
  openapi: '3.1.0',
  info: { title: 'One', version: '1' },
  servers: [{ url: 'https://api.example/v1' }],
  paths: { '/things/{id}': { [method]: { operationId: 'thing', ...thing } }, '/good': { get: GOOD } },
  ...more,
});
const imported = (document: object, more: Partial<OpenApiImport> = {}) =>
  world.registry.importOpenApi({ document, ...more });

/** Schemas of which each refers twice to the one before. */
const doubled = () => {
  const inner = (n: number) => (n === 0 ? { type: 'string' } : { $ref: `#/components/schemas/S${n - 1}` });
  const entries = Array.from({ length: 20 }, (_, n) => [`S${n}`, { anyOf: [inner(n), inner(n)] }]);
  return { components: { schemas: Object.fromEntries(entries) } };
};

describe('an operation that cannot be expressed', () => {
  it.each<[object, object, string]>([
    [{ parameters: [] }, {}, 'its path has {id}, which is not among its path parameters'],
    [{ parameters: [ID, { ...ID, name: 'shop' }] }, {}, 'it is a path parameter, but the path has no {shop}'],
    [{ parameters: [{ ...ID, style: 'form' }] }, {}, 'parameter "id": its style "form" does not exist in path'],
    [{ parameters: [ID, { name: 's', in: 'querystring', required: true }] }, {}, 'it is in "querystring"'],
    [{ parameters: [ID, { in: 'query' }] }, {}, 'parameter undefined: it has no name'],
    [{ parameters: [ID, { name: 's' }] }, {}, 'parameter "s": it is in undefined, which a tool cannot set'],
    [{ parameters: [ID, { name: 's', in: 'body' }] }, {}, 'parameter "s": it is in "body", which a tool cannot set'],
    [
      { parameters: [ID, { name: 's', in: 'query', required: true, content: { 'application/xml': {} } }] },
      {},
      'its content is application/xml, and only JSON is supported',
    ],
    [
      { parameters: [ID, { $ref: 'https://evil.example/p.json' }] },
      {},
      'it refers to "https://evil.example/p.json", and only references inside the document and to readable files',
    ],
    [{ parameters: [ID, { $ref: './other.yaml#/x' }] }, {}, 'only references inside the document'],
    [
      { parameters: [ID, { $ref: '#/components/parameters/none' }] },
      {},
      'it refers to #/components/parameters/none, which does not exist',
    ],
    [
      { parameters: [ID, { $ref: '#/components/parameters/a' }] },
      { components: { parameters: { a: { $ref: '#/components/parameters/a' } } } },
      'it refers to itself (#/components/parameters/a → #/components/parameters/a), so it has no target',
    ],
    [{ parameters: [ID, { $ref: '#/%zz' }] }, {}, `parameters[1]: it refers to #/%zz, ${NO_PLACE}`],
    [{ parameters: [ID, { $ref: '#/%ff' }] }, {}, `parameters[1]: it refers to #/%ff, ${NO_PLACE}`],
    [{ parameters: [ID, { $ref: '#name' }] }, {}, `parameters[1]: it refers to #name, ${NO_PLACE}`],
    [{ parameters: [ID, { $ref: '#/a~2' }] }, {}, `parameters[1]: it refers to #/a~2, ${NO_PLACE}`],
    [{ parameters: [{ ...ID, schema: { $ref: '#/%zz' } }] }, {}, `parameter "id": it refers to #/%zz, ${NO_PLACE}`],
    [{ parameters: [ID], servers: [{ url: '/v1' }] }, {}, 'its server "/v1" is not https://host/path: give `server`'],
    [{ parameters: [ID], security: [{ key: [] }, { a: [], b: [] }] }, {}, 'it needs key, or a and b: name their'],
    [
      { parameters: [ID], requestBody: { required: true, content: { 'application/json': {} } } },
      {},
      'requestBody: GET has no body',
    ],
    [{ parameters: [{ ...ID, schema: { $id: 'x' } }] }, {}, 'it uses $id, which is not supported'],
    [{ parameters: [{ ...ID, schema: { type: 'text' } }] }, {}, 'its input is not a JSON Schema that can be used'],
    [{ parameters: [{ ...ID, schema: { $ref: '#/components/schemas/S19' } }] }, doubled(), 'more than 5000 schemas'],
  ])('is refused and listed with its reason: %j %j', async (thing, more, reason) => {
    const { tools, refused } = await imported(documentOf(thing, more));
    expect(tools).toEqual(['good']);
    expect(refused).toEqual([{ operation: 'get /things/{id}', reason: expect.stringContaining(reason) }]);
    expect(world.registry.imports).toMatchObject([{ refused }]);
  });

  it.each<[object, string]>([
    [{ 'application/xml': {} }, 'its type is application/xml, which cannot be sent'],
    [{}, 'its type is missing'],
    [{ 'text/plain': { schema: { type: 'object' } } }, 'its text is of the type "object"'],
  ])('is refused for its body: %j', async (content, reason) => {
    const { tools, refused } = await imported(documentOf({ parameters: [ID], requestBody: { content } }, {}, 'put'));
    expect(tools).toEqual(['good']);
    expect(refused).toEqual([{ operation: 'put /things/{id}', reason: expect.stringContaining(reason) }]);
  });

  it.each<[string, string]>([
    ['/../admin', 'its path would leave its base URL'],
    ['/%2e%2E/admin', 'its path would leave its base URL'],
    ['/..\\..\\admin', 'its path would leave its base URL'],
    ['/..%2fadmin', 'its path would leave its base URL'],
    ['/..;x/admin', 'its path would leave its base URL'],
    ['/.\t./admin', 'its path has a "\\" or a control character'],
    ['/.\n./admin', 'its path has a "\\" or a control character'],
    ['/a\\b', 'its path has a "\\" or a control character'],
  ])('is refused for the path %j', async (path, reason) => {
    const paths = { [path]: { get: { operationId: 'thing' } }, '/good': { get: GOOD } };
    const { tools, refused } = await imported(documentOf({}, { paths }));
    expect(tools).toEqual(['good']);
    expect(refused).toEqual([{ operation: `get ${path}`, reason: expect.stringContaining(reason) }]);
  });

  it('is refused for its method, and for a path that is an invalid reference', async () => {
    const paths = {
      '/x': { $ref: '#/%zz' },
      '/y': { trace: {}, additionalOperations: { COPY: {} } },
      '/good': { get: GOOD },
    };
    expect(await imported(documentOf({}, { paths }))).toMatchObject({
      tools: ['good'],
      refused: [
        { operation: '/x', reason: `it refers to #/%zz, ${NO_PLACE}` },
        { operation: 'trace /y', reason: 'the method TRACE is not supported' },
        { operation: 'copy /y', reason: 'the method COPY is not supported' },
      ],
    });
  });

  it.each([
    ['s', 'CRM_TOKEN', 'its auth names CRM_TOKEN, whose value has characters that a cookie cannot contain'],
    ['a b', 'CRM_USER', 'its auth names the cookie "a b", which is not a valid cookie name'],
  ])('is refused for its key in the cookie %j', async (name, secret, reason) => {
    const components = { securitySchemes: { key: { type: 'apiKey', in: 'cookie', name } } };
    const document = documentOf({ parameters: [ID], security: [{ key: [] }] }, { components });
    const { refused } = await imported(document, { secrets: { key: secret } });
    expect(refused).toEqual([{ operation: 'get /things/{id}', reason: expect.stringContaining(reason) }]);
  });

  it('is in one summary line with the first reasons', async () => {
    const warned = vi.spyOn(Logger.prototype, 'warn');
    const paths = Object.fromEntries(Array.from({ length: 7 }, (_, n) => [`/x${n}`, { trace: {} }]));
    await imported(documentOf({}, { paths: { ...paths, '/good': { get: GOOD } } }));
    const lines = warned.mock.calls.map(([line]) => String(line));
    warned.mockRestore();
    expect(lines).toEqual([
      expect.stringMatching(
        /^OpenAPI: 7 of 8 operations are refused: trace \/x0 \(the method TRACE is not supported\), .*, and 2 more$/,
      ),
    ]);
  });

  it('has no effect on optional parts: they are left out', async () => {
    const parameters = [
      ID,
      { name: 'q', in: 'querystring' },
      { name: 'Connection', in: 'header', schema: { type: 'string' } },
      { name: 'Content-Length', in: 'header', required: true, schema: { type: 'integer' } },
    ];
    const requestBody = { content: { 'application/json': { schema: { type: 'object' } } } };
    await imported(documentOf({ parameters, requestBody }));
    const { properties } = world.tools.get('thing').definition.inputSchema;
    expect(Object.keys(properties as object)).toEqual(['id']);
  });
});

describe('a mistake of an import', () => {
  it.each<[object, Partial<OpenApiImport>, string]>([
    [{ servers: [] }, {}, 'the document names no server'],
    [{ servers: [{ url: 'https://{region}.example' }] }, {}, 'its server "https://{region}.example" is not'],
    [{ servers: [{ url: 'https://a' }, { url: 'https://b' }] }, {}, 'several servers (https://a, https://b): give one'],
    [{}, { server: '/v1' }, 'its server "/v1" is not https://host/path'],
    [{ security: [{ key: [] }] }, {}, 'it needs key: name their variables in `secrets`'],
    [{}, { operations: ['other'] }, '"other": the document has no such operation (it has: thing, good)'],
    [{}, { secrets: { key: 'OTHER_SECRET' } }, 'its auth names OTHER_SECRET, which TOOL_SECRETS does not'],
  ])('stops it: %j %j', async (more, given, fault) => {
    await expect(imported(documentOf({ parameters: [ID] }, more), given)).rejects.toMatchObject({
      code: 'TOOL_INVALID',
      message: expect.stringContaining(fault),
    });
    expect(world.tools.list()).toEqual([]);
  });

  it('stops it if every usable operation lacks a secret', async () => {
    const secured = { get: { security: [{ key: [] }] }, trace: {} };
    await expect(imported(documentOf({}, { paths: { '/a': secured } }))).rejects.toThrow(
      'get /a: it needs key: name their variables in `secrets`',
    );
    expect(world.tools.list()).toEqual([]);
  });

  it.each([
    [{ type: 'apiKey', in: 'body', name: 's' }, 'CRM_TOKEN', 'its key is in "body", which a tool cannot set'],
    [{ type: 'http', scheme: 'basic' }, 'CRM_TOKEN', 'it is basic: give { username, password }'],
    [{ type: 'http', scheme: 'digest' }, 'CRM_TOKEN', 'its type is "digest", which is not supported'],
    [{ type: 'mutualTLS' }, 'CRM_TOKEN', 'its type is "mutualTLS", which is not supported'],
    [{ type: 'oauth2' }, { username: 'CRM_USER' }, 'it takes one secret'],
  ])('is a secret that no operation can use: %j %j', async (scheme, secret, fault) => {
    const more = { security: [{ key: [] }], components: { securitySchemes: { key: scheme } } };
    await expect(imported(documentOf({ parameters: [ID] }, more), { secrets: { key: secret } })).rejects.toThrow(fault);
  });

  it.each<[object, string]>([
    [{ document: 'nowhere.yaml' }, 'nowhere.yaml cannot be read'],
    [{ document: PETS, operations: [] }, 'its operations: is empty; without `operations` all are imported'],
    [{ document: PETS, operations: [{ tag: 'a', path: '/b' }] }, 'give one of `operationId`, `tag` and `path`'],
    [{ document: PETS, operations: [{ path: 'b' }] }, 'is not /path or GET /path'],
    [{ document: PETS, servers: 'x' }, 'unrecognized key: "servers"'],
    [{ document: 'package.json' }, 'package.json has no OpenAPI version'],
    [{ document: 'README.md' }, 'README.md'],
    [
      { document: PETS, operations: [{ operationId: '*', retries: 2 }], secrets: { token: 'CRM_TOKEN' } },
      'never repeated',
    ],
  ])('is found before the document is used: %j', async (given, fault) => {
    await expect(world.registry.importOpenApi({ server: 'https://a', ...given } as OpenApiImport)).rejects.toThrow(
      fault,
    );
  });
});
