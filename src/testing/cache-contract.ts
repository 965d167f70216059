import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Cache } from '../cache/index.js';
import { assertJson, contractCase, type ContractCase } from './contract.js';

/** Time within which an expired entry must be missing, in ms. */
const EXPIRY_MS = 5000;
const POLL_MS = 20;

function rule(name: string, check: (cache: Cache, key: string) => Promise<void>): ContractCase<Cache> {
  return contractCase<Cache>(name, (cache) => check(cache, `contract:${randomUUID()}`));
}

/** The rules of a `Cache`. */
export const cacheContract: readonly ContractCase<Cache>[] = [
  rule('returns null for an unknown key', async (cache, key) => {
    assert.equal(await cache.get(key), null);
  }),

  rule('returns a stored value unchanged', async (cache, key) => {
    for (const value of ['', '{"a":[1,null]}', '"quoted" \\ \n\0 🐦 张三 \u2028', ' padded ']) {
      await cache.set(key, value);
      assert.equal(await cache.get(key), value);
    }
  }),

  rule('distinguishes keys that differ in case only', async (cache, key) => {
    await cache.set(`${key}:a`, 'lower');
    await cache.set(`${key}:A`, 'upper');
    assertJson([await cache.get(`${key}:a`), await cache.get(`${key}:A`)], ['lower', 'upper']);
  }),

  rule('stores a value of 1 MB', async (cache, key) => {
    const value = 'x'.repeat(1_000_000);
    await cache.set(key, value);
    assert.equal((await cache.get(key)) === value, true);
  }),

  rule('loses an entry after its time to live', async (cache, key) => {
    await cache.set(key, 'old', 60_000);
    await cache.set(key, 'short', 50);
    const end = performance.now() + EXPIRY_MS;
    while ((await cache.get(key)) !== null && performance.now() < end) await setTimeout(POLL_MS);
    assert.equal(await cache.get(key), null);
  }),

  rule('retains an entry with a long time to live', async (cache, key) => {
    await cache.set(key, 'old', 1);
    await cache.set(key, 'long', 60_000);
    await setTimeout(POLL_MS);
    assert.equal(await cache.get(key), 'long');
  }),

  rule('answers many operations at once', async (cache, key) => {
    const keys = Array.from({ length: 100 }, (_, at) => `${key}:${at}`);
    await Promise.all(keys.map((one) => cache.set(one, one)));
    assertJson(await Promise.all(keys.map((one) => cache.get(one))), keys);
  }),
];
