import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { RestWorld } from '../../../../test/support/rest-world.js';

Logger.overrideLogger(false);

const world = RestWorld.prepare();

const ID = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
const NO_PLACE = 'which is not a valid reference (#/components/…)';

/** A document with these paths, of which `thing` is imported. */
const one = (paths: object) =>
  world.registry.importOpenApi({
    document: { openapi: '3.1.0', info: {}, servers: [{ url: 'https://api.example' }], paths },
    operations: ['thing'],
  });
const thing = (...parameters: readonly object[]) => ({ operationId: 'thing', parameters });

describe('an invalid OpenAPI document', () => {
  it.each([
    [thing(ID, { $ref: '#/%zz' }), 'get /things/{id}.parameters[1]: it refers to #/%zz'],
    [thing(ID, { $ref: '#/%ff' }), 'get /things/{id}.parameters[1]: it refers to #/%ff'],
    [thing(ID, { $ref: '#name' }), 'get /things/{id}.parameters[1]: it refers to #name'],
    [thing(ID, { $ref: '#/a~2' }), 'get /things/{id}.parameters[1]: it refers to #/a~2'],
    [thing({ ...ID, schema: { $ref: '#/%zz' } }), 'get /things/{id}: parameter "id": it refers to #/%zz'],
  ])('is rejected with the place of an invalid reference: %j', async (get, fault) => {
    await expect(one({ '/things/{id}': { get } })).rejects.toMatchObject({
      code: 'TOOL_INVALID',
      message: expect.stringContaining(`OpenAPI: ${fault}, ${NO_PLACE}`),
    });
  });

  it('is rejected with the place of a path that is an invalid reference', async () => {
    await expect(one({ '/x': { $ref: '#/%zz' } })).rejects.toMatchObject({
      code: 'TOOL_INVALID',
      message: `OpenAPI: paths./x: it refers to #/%zz, ${NO_PLACE}.`,
    });
  });

  it.each(['get', 'post', 'put', 'delete'])(
    'is rejected for a path parameter of %s that is missing in the path',
    async (method) => {
      const operation = thing(ID, { name: 'shop', in: 'path', required: true });
      await expect(one({ '/things/{id}': { [method]: operation } })).rejects.toMatchObject({
        code: 'TOOL_INVALID',
        message: `OpenAPI: ${method} /things/{id}: parameter "shop": it is a path parameter, but the path has no {shop}.`,
      });
      expect(world.tools.list()).toEqual([]);
    },
  );
});
