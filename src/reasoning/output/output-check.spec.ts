import { expect, it } from '@jest/globals';
import { createRequire } from 'node:module';
import { outputCheckOf } from './output-check.factory.js';

it('outputCheckOf loads the validator before the time limit of a schema starts', () => {
  const { cache } = createRequire(import.meta.url);
  const isLoaded = () => Object.keys(cache).some((path) => path.includes('ajv/dist/vocabularies'));
  const seen: boolean[] = [];
  const schema = new Proxy(
    { type: 'array' },
    {
      get(target, key) {
        seen.push(isLoaded());
        return Reflect.get(target, key) as unknown;
      },
    },
  );
  const before = isLoaded();
  const check = outputCheckOf({ schema });
  expect([before, seen[0]]).toEqual([false, true]);
  expect(check([])).toEqual({ kind: 'valid', value: [] });
});
