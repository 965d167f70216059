import { describe, expect, it } from 'vitest';
import { execFileSync } from 'node:child_process';
import { loadConfig } from '../config/index.js';
import { ApiKeyRegistry } from './api-key.registry.js';

describe('a key of `npm run key`', () => {
  it('is found by its configuration entry, and a different key is not', () => {
    const printed = execFileSync(
      process.execPath,
      ['scripts/key.mjs', '--id', 'ci', '--tenant', 'acme', '--roles', 'user,ops'],
      {
        encoding: 'utf8',
      },
    );
    const key = /jd_[\w-]{43}/.exec(printed)?.[0] ?? '';
    const entry = /ci:acme:\S+/.exec(printed)?.[0];
    const keys = new ApiKeyRegistry(loadConfig({ env: { API_KEYS: entry } }).config.security.apiKeys);
    expect(keys.find(key)).toEqual({ id: 'ci', tenant: 'acme', roles: ['user', 'ops'] });
    expect(keys.find(`${key}x`)).toBeUndefined();
  });
});
