import { createHash } from 'node:crypto';
import assert from 'node:assert/strict';
import type { Visibility } from '../../src/kernel/index.js';
import type { Jackdaw } from './jackdaw.js';

type Headings = Readonly<Record<string, string>>;

/** A caller with a key in `API_KEYS`. */
export interface KeyHolder {
  readonly key: string;
  readonly headers: Headings;
  /** Its entry in `API_KEYS`. */
  readonly entry: string;
}

/** @param visibility by default as its role says */
export function keyHolder(id: string, tenant: string, role: string, visibility?: Visibility): KeyHolder {
  const key = `key-of-${id}-of-${tenant}`;
  const hash = createHash('sha256').update(key).digest('hex');
  const sees = visibility === undefined ? '' : `:${visibility}`;
  return { key, headers: bearer(key), entry: `${id}:${tenant}:${role}:${hash}${sees}` };
}

export function bearer(key: string): Headings {
  return { authorization: `Bearer ${key}` };
}

/** A key created over REST. */
export interface MadeKey {
  readonly id: string;
  readonly key: string;
  readonly headers: Headings;
}

/** Creates a key, by default with the role of a user. */
export async function makeKey(
  jackdaw: Jackdaw,
  admin: Headings,
  wanted: Readonly<Record<string, unknown>> = {},
): Promise<MadeKey> {
  const { status, body } = await jackdaw.post('/api/keys', { name: 'a key', role: 'user', ...wanted }, admin);
  assert.equal(status, 201, JSON.stringify(body));
  const key = String(body['key']);
  return { id: String(body['id']), key, headers: bearer(key) };
}
