import { describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { RestWorld } from '../../test/support/rest-world.js';
import { Parameter } from '../tool/input/index.js';

Logger.overrideLogger(false);

const LINE = { type: 'string' } as const;

const world = RestWorld.prepare();

describe('the arguments of a REST tool', () => {
  it('are mapped to path, query, headers and body, with types, defaults and nested values', async () => {
    world.declare({
      method: 'POST',
      url: `${world.server.url}/crm/{team}/{id}.json?v=1`,
      parameters: {
        type: 'object',
        properties: {
          team: LINE,
          id: { type: 'integer' },
          tags: { type: 'array', items: LINE },
          limit: { type: 'integer', default: 10 },
          language: LINE,
          note: LINE,
          customer: {
            type: 'object',
            properties: { name: LINE, address: { type: 'object', properties: { city: LINE } } },
          },
        },
        required: ['team', 'id'],
      },
      query: { tag: '{tags*}', csv: '{tags}', limit: '{limit}', fixed: true, note: '{note}' },
      headers: { 'Accept-Language': '{language};q=1', 'X-Fixed': 'a' },
      body: {
        customer: { named: '{customer.name}', at: 'in {customer.address.city}', none: '{note}' },
        raw: '{customer.address}',
        count: '{limit}',
        list: ['{team}', '{note}', { literal: '{{}}' }],
      },
    });
    world.server.json('/crm/r%26d%2Fk%C3%B6ln/7.json', { ok: true });
    const customer = { name: 'Ann', address: { city: 'Oslo' } };
    const result = await world.call({ team: 'r&d/köln', id: 7, tags: ['a,b', 'c d'], language: 'nb', customer });
    expect(result).toMatchObject({ success: true, result: { ok: true } });
    const [seen] = world.server.requests;
    expect(seen?.path).toBe('/crm/r%26d%2Fk%C3%B6ln/7.json?v=1&tag=a%2Cb&tag=c+d&csv=a%2Cb%2Cc+d&limit=10&fixed=true');
    expect(seen?.headers).toMatchObject({
      'accept-language': 'nb;q=1',
      'x-fixed': 'a',
      'content-type': 'application/json',
      'user-agent': 'jackdaw',
    });
    expect(JSON.parse(seen!.body)).toEqual({
      customer: { named: 'Ann', at: 'in Oslo' },
      raw: { city: 'Oslo' },
      count: 10,
      list: ['r&d/köln', { literal: '{}' }],
    });
  });

  it('are sent in the query or the body, by the method, when they are not mapped', async () => {
    const parameters = [Parameter.string('a', '', true), Parameter.array('b', Parameter.integer('n'))];
    world.declare({ parameters });
    world.server.json('/crm', {});
    await world.call({ a: 'x&y', b: [1, 2] });
    world.declare({ method: 'PATCH', parameters });
    await world.call({ a: 'x', b: [1] });
    world.declare({ method: 'POST', parameters, bodyType: 'form' });
    await world.call({ a: 'x&y', b: [1, 2] });
    expect(world.server.requests.map(({ method, path, body }) => ({ method, path, body }))).toEqual([
      { method: 'GET', path: '/crm?a=x%26y&b=1&b=2', body: '' },
      { method: 'PATCH', path: '/crm', body: '{"a":"x","b":[1]}' },
      { method: 'POST', path: '/crm', body: 'a=x%26y&b=1&b=2' },
    ]);
    expect(world.server.requests[2]?.headers['content-type']).toBe('application/x-www-form-urlencoded');
  });

  it.each([
    '..',
    '.',
    '../admin',
    '..\\admin',
    'a/../../b',
    '%2e%2e',
    '%2e%2e%2fadmin',
    '%252e%252e/x',
    '..;a/x',
    '',
    'a\u0000b',
    '\ud800',
  ])('cannot leave their segment of the path: %j', async (id) => {
    world.declare({ url: `${world.server.url}/crm/{id}`, parameters: [Parameter.string('id', '', true)] });
    expect(await world.errorOf({ id })).toContain('The request was not sent: an argument of the URL');
    expect(world.server.requests).toEqual([]);
  });

  it.each(['@evil.example', '//evil.example', '?x=1', '#x', 'a b', '%2f', '…', '...', 'a..b'])(
    'are encoded as one segment of the path: %j',
    async (id) => {
      world.declare({ url: `${world.server.url}/crm/{id}`, parameters: [Parameter.string('id', '', true)] });
      await world.call({ id });
      expect(world.server.requests.map(({ path }) => path)).toEqual([`/crm/${encodeURIComponent(id)}`]);
    },
  );

  it('cannot leave an empty or dotted segment for an empty list', async () => {
    const parameters = [Parameter.array('ids', Parameter.string('id'), '', true)];
    for (const segment of ['{ids}', '.{ids}', '{ids}.']) {
      world.declare({ url: `${world.server.url}/x/${segment}/y`, parameters });
      expect(await world.errorOf({ ids: [] })).toContain('The request was not sent: an argument of the URL');
    }
  });

  it('cannot break a header', async () => {
    world.declare({ headers: { 'x-a': '{a}' }, parameters: [Parameter.string('a', '', true)] });
    for (const a of ['x\r\nx-b: 1', 'ü', '\u0000'])
      expect(await world.errorOf({ a })).toContain('header "x-a" cannot contain');
    expect(world.server.requests).toEqual([]);
  });

  it.each([
    [{ query: { x: '{a}' } }, 'a'],
    [{ query: { x: 'is {b.inner}' } }, 'b.inner'],
    [{ query: { x: '{list*}' } }, 'list'],
    [{ query: { x: '{list}' } }, 'list'],
    [{}, 'a'],
    [{}, 'list'],
    [{ method: 'POST', bodyType: 'form' }, 'a'],
    [{ method: 'POST', bodyType: 'form' }, 'list'],
    [{ method: 'POST', bodyType: 'form', body: { a: 'is {a}' } }, 'a'],
    [{ headers: { 'x-a': '{a}' } }, 'a'],
    [{ url: '/crm/{a}' }, 'a'],
  ] as const)('are rejected with a lone surrogate: %j', async (more, name) => {
    const part = { type: ['string', 'array', 'object'] };
    const parameters = { type: 'object', properties: { a: part, b: part, list: part }, required: ['a'] } as const;
    const url = `${world.server.url}${'url' in more ? more.url : '/crm'}`;
    world.declare({ ...more, url, parameters: { ...parameters, additionalProperties: true } });
    const half = 'x\ud800y';
    const args = { a: 'a', [name.split('.')[0]!]: { a: half, 'b.inner': { inner: half }, list: ['x', half] }[name] };
    const error = await world.errorOf(args);
    expect(error).toContain(`"${name}"`);
    expect(error).toContain('contains a lone surrogate (half a character), which cannot be encoded.');
    expect(world.server.requests).toEqual([]);
  });

  it('are rejected with a lone surrogate in a name, except in JSON', async () => {
    const parameters = { type: 'object', properties: {}, additionalProperties: true } as const;
    world.declare({ parameters });
    expect(await world.errorOf({ '\udc00': 1 })).toContain('"\\udc00" contains a lone surrogate');
    expect(world.server.requests).toEqual([]);
    world.declare({ method: 'POST', parameters });
    world.server.json('/crm', {});
    expect(await world.call({ '\udc00': 'a\ud800' })).toMatchObject({ success: true });
    expect(JSON.parse(world.server.requests[0]!.body)).toEqual({ '\udc00': 'a\ud800' });
  });

  it('are rejected when an object is used as text', async () => {
    world.declare({ query: { a: '{a}' }, parameters: { type: 'object', properties: { a: { type: 'object' } } } });
    expect(await world.errorOf({ a: {} })).toContain('the argument "a" contains a list or an object');
  });
});
