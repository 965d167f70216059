import { describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { CANARY, RestWorld } from '../../../test/support/rest-world.js';

Logger.overrideLogger(false);

const world = RestWorld.prepare();

/** Imports a document with these operations of one path. */
const importItem = (item: object, prefix = '') =>
  world.registry.importOpenApi({
    document: { openapi: '3.1.0', info: { title: 'One', version: '1' }, paths: { '/things/{id}': item } },
    operations: ['thing'],
    server: world.server.url,
    prefix,
  });
const ID = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };

describe('a request of an OpenAPI document', () => {
  it('has exactly the given values, and no default of the document', async () => {
    const repository = {
      type: 'object',
      properties: {
        description: { type: 'string' },
        private: { type: 'boolean', default: false },
        security: { type: 'object', default: null },
        // Checked in the thread, as every pattern.
        state: { type: 'string', pattern: '^[a-z]+$', default: 'open' },
        owner: { type: 'object', properties: { name: { type: 'string' }, kind: { type: 'string', default: 'user' } } },
      },
    };
    const parameters = [
      ID,
      { name: 'page', in: 'query', schema: { type: 'integer', default: 1 } },
      { name: 'X-Version', in: 'header', schema: { type: 'string', default: '2022-11-28' } },
    ];
    const requestBody = { content: { 'application/json': { schema: repository } } };
    await importItem({ patch: { operationId: 'thing', parameters, requestBody } });
    await importItem({ get: { operationId: 'thing', parameters } }, 'get_');
    world.server.json('/things/a', {});
    const body = { description: 'New', owner: { name: 'ann' } };
    expect(await world.call({ id: 'a', body }, {}, 'thing')).toMatchObject({ success: true });
    expect(await world.call({ id: 'a' }, {}, 'get_thing')).toMatchObject({ success: true });
    expect(world.server.requests).toMatchObject([
      { method: 'PATCH', path: '/things/a', body: JSON.stringify(body) },
      { method: 'GET', path: '/things/a' },
    ]);
    for (const { headers } of world.server.requests) expect(headers).not.toHaveProperty('x-version');
  });

  const LIST = ['a,1', 'b'];
  const OBJECT = { R: 100, G: 'x y' };
  it.each<[object, unknown, string]>([
    [{ in: 'query' }, LIST, '?p=a%2C1&p=b'],
    [{ in: 'query', explode: false }, LIST, '?p=a%2C1,b'],
    [{ in: 'query' }, OBJECT, '?R=100&G=x%20y'],
    [{ in: 'query', explode: false }, OBJECT, '?p=R,100,G,x%20y'],
    [{ in: 'query', style: 'spaceDelimited', explode: false }, LIST, '?p=a%2C1%20b'],
    [{ in: 'query', style: 'pipeDelimited', explode: false }, LIST, '?p=a%2C1%7Cb'],
    [
      { in: 'query', style: 'deepObject' },
      { gte: 1, in: ['x', { y: true }] },
      '?p%5Bgte%5D=1&p%5Bin%5D%5B0%5D=x&p%5Bin%5D%5B1%5D%5By%5D=true',
    ],
    [{ in: 'query', style: 'deepObject' }, 7, '?p=7'],
    [{ in: 'query', content: { 'application/json': {} } }, { a: [1] }, '?p=%7B%22a%22%3A%5B1%5D%7D'],
    [{ in: 'query' }, 'a/b?c&d#e+f[g]%2F', '?p=a%2Fb%3Fc%26d%23e%2Bf%5Bg%5D%252F'],
    [{ in: 'query', allowReserved: true }, 'a/b?c&d#e+f[g]%2F', '?p=a/b?c%26d%23e%2Bf%5Bg%5D%2F'],
    [{ in: 'query' }, null, ''],
    [{ in: 'query' }, [], ''],
  ])('writes a parameter as %j: %j', async (parameter, value, search) => {
    const schema = 'content' in parameter ? {} : { schema: {} };
    await importItem({ get: { operationId: 'thing', parameters: [ID, { name: 'p', ...schema, ...parameter }] } });
    await world.call({ id: 'a', p: value }, {}, 'thing');
    expect(world.server.requests.map(({ path }) => path)).toEqual([`/things/a${search}`]);
  });

  it.each<[object, unknown, string]>([
    [{}, LIST, '/things/a%2C1,b'],
    [{}, OBJECT, '/things/R,100,G,x%20y'],
    [{ explode: true }, OBJECT, '/things/R=100,G=x%20y'],
    [{ style: 'label' }, 'x', '/things/.x'],
    [{ style: 'label', explode: true }, LIST, '/things/.a%2C1.b'],
    [{ style: 'matrix' }, 'x', '/things/;id=x'],
    [{ style: 'matrix' }, LIST, '/things/;id=a%2C1,b'],
    [{ style: 'matrix', explode: true }, LIST, '/things/;id=a%2C1;id=b'],
    [{ style: 'matrix', explode: true }, OBJECT, '/things/;R=100;G=x%20y'],
    [{}, 'a/b:c@d', '/things/a%2Fb%3Ac%40d'],
    [{ allowReserved: true }, "a:c@d!$&'()*+,;=[%2e", "/things/a:c@d!$&'()*+,;=%5B%252e"],
  ])('writes a parameter of the path as %j: %j', async (more, value, path) => {
    await importItem({ get: { operationId: 'thing', parameters: [{ ...ID, schema: {}, ...more }] } });
    await world.call({ id: value }, {}, 'thing');
    expect(world.server.requests.map((request) => request.path)).toEqual([path]);
  });

  it.each(['..', 'a/../b', 'a/b', 'a?b', 'a#b', '%2e%2e', ''])(
    'is not sent with the reserved text %j in its path',
    async (id) => {
      await importItem({ get: { operationId: 'thing', parameters: [{ ...ID, allowReserved: true }] } });
      expect(await world.call({ id }, {}, 'thing')).toMatchObject({
        success: false,
        error: expect.stringContaining('The request was not sent'),
      });
      expect(world.server.requests).toEqual([]);
    },
  );

  it('has a secret once that two of its schemes need', async () => {
    const flow = { type: 'oauth2', flows: {} };
    const document = {
      openapi: '3.1.0',
      info: {},
      components: { securitySchemes: { one: flow, two: flow } },
      paths: { '/a': { get: { operationId: 'thing', security: [{ one: [], two: [] }] } } },
    };
    const secrets = { one: 'CRM_TOKEN', two: 'CRM_TOKEN' };
    await world.registry.importOpenApi({ document, server: world.server.url, secrets });
    await world.call({}, {}, 'thing');
    expect(world.server.requests).toMatchObject([{ headers: { authorization: `Bearer ${CANARY}` } }]);
  });

  it.each<[object, object]>([
    [{ in: 'query', name: 'key' }, { path: `/a?q=1&key=${encodeURIComponent(CANARY)}` }],
    [
      { in: 'header', name: 'X-Key' },
      { path: '/a?key=2&q=1', headers: { 'x-key': CANARY } },
    ],
  ])('has no parameter that its credentials set: %j', async (place, request) => {
    const parameter = (name: string, where: string) => ({ name, in: where, required: true, schema: {} });
    const parameters = [parameter('key', 'query'), parameter('x-key', 'header'), parameter('q', 'query')];
    const document = {
      openapi: '3.1.0',
      info: {},
      security: [{ own: [] }],
      components: { securitySchemes: { own: { type: 'apiKey', ...place } } },
      paths: { '/a': { get: { operationId: 'thing', parameters } } },
    };
    await world.registry.importOpenApi({ document, server: world.server.url, secrets: { own: 'CRM_TOKEN' } });
    const { inputSchema } = world.tools.get('thing').definition;
    const args = { key: 2, 'x-key': 'b', q: 1 };
    const known = Object.entries(args).filter(([name]) => name in (inputSchema['properties'] as object));
    expect(known).toHaveLength(2);
    await world.call(Object.fromEntries(known), {}, 'thing');
    expect(world.server.requests).toMatchObject([request]);
  });

  it('has a secret in a cookie, in place of a parameter or a member of its name', async () => {
    const parameters = [
      { name: 'sid', in: 'cookie', required: true, schema: { type: 'string' } },
      { name: 'all', in: 'cookie', schema: { type: 'object' } },
    ];
    const document = {
      openapi: '3.1.0',
      info: {},
      security: [{ own: [] }],
      components: { securitySchemes: { own: { type: 'apiKey', in: 'cookie', name: 'sid' } } },
      paths: { '/a': { get: { operationId: 'thing', parameters } } },
    };
    await world.registry.importOpenApi({ document, server: world.server.url, secrets: { own: 'CRM_USER' } });
    expect(world.tools.get('thing').definition.inputSchema).toMatchObject({ properties: { all: {} }, required: [] });
    await world.call({ all: { sid: 'mine', lang: 'de' } }, {}, 'thing');
    expect(world.server.requests).toMatchObject([{ headers: { cookie: 'lang=de; sid=crm-user' } }]);
  });

  it('has no member of an object that its credentials set', async () => {
    const parameters = [{ name: 'filter', in: 'query', schema: { type: 'object' } }];
    const document = {
      openapi: '3.1.0',
      info: {},
      security: [{ own: [] }],
      components: { securitySchemes: { own: { type: 'apiKey', in: 'query', name: 'key' } } },
      paths: { '/a': { get: { operationId: 'thing', parameters } } },
    };
    await world.registry.importOpenApi({ document, server: world.server.url, secrets: { own: 'CRM_TOKEN' } });
    await world.call({ filter: { key: 1, q: 2 } }, {}, 'thing');
    expect(world.server.requests).toMatchObject([{ path: `/a?q=2&key=${encodeURIComponent(CANARY)}` }]);
  });

  it('has the fixed query of its path, and no fragment', async () => {
    const document = { openapi: '3.1.0', info: {}, paths: { '/a?action=b#c': { get: { operationId: 'thing' } } } };
    await world.registry.importOpenApi({ document, server: world.server.url });
    await world.call({}, {}, 'thing');
    expect(world.server.requests).toMatchObject([{ path: '/a?action=b' }]);
  });

  it('has headers and cookies', async () => {
    const parameters = [
      ID,
      { name: 'X-List', in: 'header', schema: { type: 'array' } },
      { name: 'X-Object', in: 'header', explode: true, schema: { type: 'object' } },
      { name: 'session', in: 'cookie', schema: { type: 'string' } },
      { name: 'ids', in: 'cookie', explode: false, schema: { type: 'array' } },
    ];
    await importItem({ get: { operationId: 'thing', parameters } });
    const args = { id: 'a', 'X-List': ['a', 'b'], 'X-Object': { R: 1, G: 2 }, session: 'a; b=c', ids: [1, 2] };
    await world.call(args, {}, 'thing');
    expect(world.server.requests).toMatchObject([
      { headers: { 'x-list': 'a,b', 'x-object': 'R=1,G=2', cookie: 'session=a%3B%20b%3Dc; ids=1,2' } },
    ]);
  });
});

describe('a body of an OpenAPI document', () => {
  /** Imports `thing` with a body of these media types, and calls it. */
  async function send(content: object, body: unknown) {
    await importItem({ post: { operationId: 'thing', parameters: [ID], requestBody: { content } } });
    const result = await world.call({ id: 'a', body }, {}, 'thing');
    const [request] = world.server.requests;
    return { result, type: request?.headers['content-type'], text: request?.body };
  }

  const FORM = 'application/x-www-form-urlencoded';
  const deep = { style: 'deepObject', explode: true };
  it.each<[object, object, string]>([
    [{}, { name: 'A & B', count: 2, is: true, none: null }, 'name=A+%26+B&count=2&is=true'],
    [{}, { events: ['a', 'b'] }, 'events=a&events=b'],
    [{ events: { explode: false } }, { events: ['a', 'b'] }, 'events=a,b'],
    [{}, { meta: { a: [1] } }, 'meta=%7B%22a%22%3A%5B1%5D%7D'],
    [{ meta: deep }, { meta: { a: 1, b: 'x' } }, 'meta%5Ba%5D=1&meta%5Bb%5D=x'],
    [
      { items: deep },
      { items: [{ price: 'p', tiers: [{ up_to: 5 }] }] },
      'items%5B0%5D%5Bprice%5D=p&items%5B0%5D%5Btiers%5D%5B0%5D%5Bup_to%5D=5',
    ],
    [{ list: { contentType: 'application/json' } }, { list: [1, 2] }, 'list=%5B1%2C2%5D'],
    [{ url: { allowReserved: true } }, { url: 'https://a.example/?b=c&d' }, 'url=https://a.example/?b=c%26d'],
  ])('is a form with the encoding %j', async (encoding, body, text) => {
    expect(await send({ [FORM]: { schema: { type: 'object' }, encoding } }, body)).toMatchObject({ type: FORM, text });
  });

  it('is multipart with text parts', async () => {
    const properties = {
      note: { type: 'string' },
      meta: { type: 'object' },
      tags: { type: 'array', items: { type: 'string' } },
    };
    const media = { schema: { type: 'object', properties }, encoding: { note: { contentType: 'text/markdown' } } };
    const { type, text } = await send(
      { 'multipart/form-data': media },
      { note: 'ü\n', meta: { a: 1 }, tags: ['x', 'y'] },
    );
    const [, boundary] = /^multipart\/form-data; boundary=(.+)$/.exec(type!)!;
    const part = (name: string, content: string, line = '') =>
      `--${boundary!}\r\ncontent-disposition: form-data; name="${name}"\r\n${line}\r\n${content}\r\n`;
    expect(text).toBe(
      part('note', 'ü\n', 'content-type: text/markdown\r\n') +
        part('meta', '{"a":1}', 'content-type: application/json\r\n') +
        part('tags', 'x') +
        part('tags', 'y') +
        `--${boundary!}--\r\n`,
    );
  });

  it.each<[readonly string[], unknown, string, string]>([
    [['text/plain', FORM, 'application/vnd.a+json', 'application/json'], { a: 1 }, 'application/json', '{"a":1}'],
    [['multipart/form-data', FORM, 'text/plain'], { a: 1 }, FORM, 'a=1'],
    [['application/xml', 'application/merge-patch+json'], { a: null }, 'application/merge-patch+json', '{"a":null}'],
    [['application/xml', 'text/markdown'], '# A', 'text/markdown', '# A'],
    [['*/*'], [1], 'application/json', '[1]'],
    [['text/*'], 'plain', 'text/plain', 'plain'],
    [['application/json; charset=utf-8'], { a: 1 }, 'application/json; charset=utf-8', '{"a":1}'],
  ])('has the best type that can be sent: %j', async (types, body, type, text) => {
    const content = Object.fromEntries(types.map((one) => [one, {}]));
    expect(await send(content, body)).toMatchObject({ type, text });
  });

  it.each([
    ['a list', []],
    ['a text', 'x'],
  ])('is not sent as a form if it is %s', async (_what, body) => {
    const { result } = await send({ [FORM]: {} }, body);
    expect(result).toMatchObject({
      success: false,
      error: expect.stringContaining('must be an object'),
    });
    expect(world.server.requests).toEqual([]);
  });

  it('keeps properties with unusual names, and those that an open schema does not name', async () => {
    const text = { type: 'string' };
    const properties = { $schema: text, 'x-kind': text, example: text, nullable: { type: 'boolean' }, $ref: text };
    const body = { $schema: 'a', 'x-kind': 'b', example: 'c', nullable: true, $ref: 'd', other: 1 };
    const schema = { type: 'object', properties, required: Object.keys(properties), 'x-order': 1 };
    expect(await send({ 'application/json': { schema } }, body)).toMatchObject({ text: JSON.stringify(body) });
    expect(
      (world.tools.get('thing').definition.inputSchema as { properties: { body: object } }).properties.body,
    ).toEqual({ type: 'object', properties, required: Object.keys(properties) });
  });

  it('may have the properties of all parts of allOf, and no others', async () => {
    const closed = { additionalProperties: false };
    const part = (name: string) => ({ type: 'object', properties: { [name]: { type: 'integer' } }, ...closed });
    const schema = { allOf: [part('a'), { allOf: [part('b')], ...closed }], ...closed };
    expect(await send({ 'application/json': { schema } }, { a: 1, b: 2 })).toMatchObject({ text: '{"a":1,"b":2}' });
    expect(await world.call({ id: 'a', body: { a: 1, c: 3 } }, {}, 'thing')).toMatchObject({
      error: expect.stringContaining('unknown argument "body.c" (known: a, b)'),
    });
  });
});
