import { describe, expect, it, vi } from 'vitest';
import { Logger } from '@nestjs/common';
import { RestWorld } from '../../../test/support/rest-world.js';
import type { OpenApiImport } from './openapi.types.js';

Logger.overrideLogger(false);

const world = RestWorld.prepare();

const operation = (operationId?: string, ...tags: readonly string[]) => ({ ...(operationId && { operationId }), tags });
const SHOP = {
  '/pets': { get: operation('pets.list', 'pets'), post: operation('pets.add', 'pets', 'admin') },
  '/orders': { get: operation('orders.list', 'orders'), delete: operation(undefined, 'orders', 'admin') },
};

async function importPaths(paths: object, more: Partial<OpenApiImport> = {}): Promise<readonly string[]> {
  const document = { openapi: '3.1.0', info: { title: 'Shop', version: '1' }, paths };
  const { tools } = await world.registry.importOpenApi({ document, server: 'https://shop.example', ...more });
  return tools;
}

describe('the operations of an import', () => {
  it.each<[OpenApiImport['operations'], readonly string[]]>([
    [undefined, ['pets_list', 'pets_add', 'orders_list', 'delete_orders']],
    [['pets.list'], ['pets_list']],
    [['pets.*'], ['pets_list', 'pets_add']],
    [['*.list'], ['pets_list', 'orders_list']],
    [['tag:admin'], ['pets_add', 'delete_orders']],
    [['tag:ad*', '!pets.add'], ['delete_orders']],
    [['/orders'], ['orders_list', 'delete_orders']],
    [['get /*'], ['pets_list', 'orders_list']],
    [['!tag:admin'], ['pets_list', 'orders_list']],
    [['delete_orders'], ['delete_orders']],
    [[{ tag: 'orders' }], ['orders_list', 'delete_orders']],
    [[{ path: 'POST /pets', name: 'add' }], ['add']],
  ])('are selected by id, tag, path and wildcard: %j', async (operations, tools) => {
    expect(await importPaths(SHOP, { ...(operations && { operations }) })).toEqual(tools);
  });

  it('take the options of all selections that match', async () => {
    await importPaths(SHOP, {
      operations: [
        { tag: 'pets', timeoutMs: 5 },
        { operationId: 'pets.add', name: 'add', effect: 'idempotent' },
      ],
    });
    expect(world.tools.get('pets_list').metadata).toMatchObject({ timeoutMs: 5, effect: 'read' });
    expect(world.tools.get('add').metadata).toMatchObject({ timeoutMs: 5, effect: 'idempotent' });
  });

  it.each<[NonNullable<OpenApiImport['operations']>, string]>([
    [['pets.remove'], '"pets.remove": the document has no such operation (it has: pets.list, pets.add,'],
    [['tag:none', '/pets'], '"tag:none": the document has no such operation'],
    [['!/none'], '"!/none": the document has no such operation'],
    [[{ tag: 'none' }], 'tag "none": the document has no such operation'],
    [[{ tag: 'pets', name: 'pets' }], 'tag "pets" selects 2 operations, and "name" names one'],
  ])('are a mistake if a selection matches nothing, or names several: %j', async (operations, fault) => {
    await expect(importPaths(SHOP, { operations })).rejects.toThrow(fault);
    expect(world.tools.list()).toEqual([]);
  });

  it('may lack a parameter to omit that another one of the selection has', async () => {
    const paths = {
      '/a': { get: { ...operation('a'), parameters: [{ name: 'trace', in: 'query' }] }, put: operation('b') },
    };
    expect(await importPaths(paths, { operations: [{ path: '/*', omit: ['trace'] }] })).toEqual(['a', 'b']);
    expect(world.tools.get('a').definition.inputSchema).toHaveProperty('properties', {});
    world.reset();
    await expect(importPaths(paths, { operations: ['a', { operationId: 'b', omit: ['trace'] }] })).rejects.toThrow(
      'operationId "b" selects no operation with a parameter "trace" to omit',
    );
  });

  it('are reported with numbers of tools and tokens above 128 tools', async () => {
    const warned = vi.spyOn(Logger.prototype, 'warn');
    const paths = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`/p${n}`, { get: operation(`o${n}`) }]));
    await importPaths(paths(128), { prefix: 'few_' });
    expect(warned).not.toHaveBeenCalled();
    await importPaths(paths(129));
    const lines = warned.mock.calls.map(([line]) => String(line));
    warned.mockRestore();
    expect(lines).toEqual([
      expect.stringMatching(/^OpenAPI: 129 tools with about [\d,]+ tokens of schemas are imported; /),
    ]);
  });

  it('are reported above 20,000 tokens of schemas', async () => {
    const warned = vi.spyOn(Logger.prototype, 'warn');
    await importPaths({ '/p': { get: { operationId: 'long', description: 'word '.repeat(25_000) } } });
    const lines = warned.mock.calls.map(([line]) => String(line));
    warned.mockRestore();
    expect(lines).toEqual([expect.stringMatching(/^OpenAPI: 1 tools with about 2\d,\d{3} tokens/)]);
  });
});

describe('the name of an imported tool', () => {
  const long = 'operation'.repeat(8);

  it.each<[string, object, readonly string[]]>([
    [
      'is method and path without an operationId',
      { '/a/b': { get: {}, put: { operationId: ' ' } } },
      ['get_a_b', 'put_a_b'],
    ],
    [
      'has a suffix if the operationId is repeated',
      { '/a': { get: operation('x') }, '/b': { get: operation('x') } },
      ['x', 'x_16a73f7a'],
    ],
    [
      'has a hash if it is too long',
      { '/a': { get: operation(`${long}1`) }, '/b': { get: operation(`${long}2`) } },
      [`${long.slice(0, 55)}_`, `${long.slice(0, 55)}_`],
    ],
    [
      'has a hash if the id has no ASCII letters',
      { '/a': { get: operation('获取'), put: operation('获得') } },
      ['get_a_', 'put_a_'],
    ],
    [
      'has a hash if letters of the id are lost',
      { '/a': { get: operation('get_é'), put: operation('get_ü') } },
      ['get_a_', 'put_a_'],
    ],
    [
      'has a hash if a similar id has the same name',
      { '/a': { get: operation('a.b'), post: operation('a_b'), put: operation('a/b') } },
      ['a_b_', 'a_b', 'a_b_'],
    ],
  ])('%s', async (_case, paths, expected) => {
    const names = await importPaths(paths);
    expect(new Set(names).size).toBe(expected.length);
    names.forEach((name, index) => expect(name).toMatch(new RegExp(`^${expected[index]!}([0-9a-f]{8})?$`)));
  });

  it('does not depend on the selection, nor on the order of other operations', async () => {
    const paths = { '/a': { get: operation('a.b') }, '/b': { get: operation('a_b') }, '/c': { get: operation('c') } };
    const all = await importPaths(paths);
    world.reset();
    expect(await importPaths(paths, { operations: ['a.b'] })).toEqual([all[0]]);
    world.reset();
    expect(await importPaths(Object.fromEntries(Object.entries(paths).toReversed()))).toEqual(all.toReversed());
  });

  it('is reported if the operationId is repeated', async () => {
    const warned = vi.spyOn(Logger.prototype, 'warn');
    await importPaths({ '/a': { get: operation('x') }, '/b': { get: operation('x') } });
    const lines = warned.mock.calls.map(([line]) => String(line));
    warned.mockRestore();
    expect(lines).toEqual(['OpenAPI: several operations have the same operationId; their tools have a suffix: x']);
  });
});
