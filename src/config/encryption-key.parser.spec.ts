import { describe, expect, it } from 'vitest';
import { randomBytes } from 'node:crypto';
import { AppError } from '../errors/index.js';
import { loadConfig } from './config.loader.js';

const [one, two] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64url')];

function fault(env: Record<string, string>): string {
  try {
    loadConfig({ env });
    return '';
  } catch (error) {
    return (error as AppError).message;
  }
}

describe('ENCRYPTION_KEYS', () => {
  it('are read in order, in either alphabet of base64', () => {
    const { config } = loadConfig({ env: { ENCRYPTION_KEYS: `a:${one}, b-2:${two}`, ENCRYPTION_STRICT: 'true' } });
    const keys = [
      { id: 'a', key: one },
      { id: 'b-2', key: two },
    ];
    expect(config.security.encryption).toEqual({ keys, isStrict: true });
  });

  it.each([
    ['a', 'entry 1 needs the two parts'],
    [`a:${one}:x`, 'entry 1 needs the two parts'],
    [`a b:${one}`, 'entry 1 has an id'],
    [`:${one}`, 'entry 1 has an id'],
    [`${'x'.repeat(17)}:${one}`, 'entry 1 has an id'],
    [`a:${one},b:${one.slice(2)}`, 'entry 2 has a key that is not 32 bytes'],
    [`a:${one},b:${randomBytes(31).toString('base64')}`, 'entry 2 has a key that is not 32 bytes'],
    [`a:${one},a:${two}`, 'entry 2 has the id "a" of an earlier entry'],
    [`a:${two},b:${Buffer.from(two, 'base64url').toString('base64')}`, 'entry 2 has the key of an earlier entry'],
  ])('are refused by entry number, without the text of a key: %#', (text, message) => {
    const reported = fault({ ENCRYPTION_KEYS: text });
    expect(reported).toContain(message);
    for (const key of [one, two]) expect(reported).not.toContain(key.slice(4, 40));
  });

  it('are required by the strict mode', () => {
    expect(fault({ ENCRYPTION_STRICT: 'true' })).toContain('ENCRYPTION_STRICT: "true" needs ENCRYPTION_KEYS');
  });
});
