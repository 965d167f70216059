import { z } from 'zod';
import { ROLES } from '../common/index.js';
import type { ApiKeyEntry } from './app-config.types.js';

const NAME = /^[A-Za-z0-9_.-]{1,64}$/;
const SHA256 = /^[0-9a-f]{64}$/i;

/** The entry, or its error; messages never contain the text of a key or hash. */
function parseEntry(text: string): ApiKeyEntry | string {
  const parts = text.trim().split(':');
  if (parts.length !== 4) return 'needs the four parts id:tenant:role|role:hash';
  const [id = '', tenant = '', roleList = '', hash = ''] = parts;
  const roles = roleList.split('|');
  if (![id, tenant, ...roles].every((name) => NAME.test(name))) {
    return 'has an id, tenant or role that is not 1 to 64 of A-Z a-z 0-9 _ . -';
  }
  if (!ROLES.some((role) => roles.includes(role))) {
    return `needs at least one of the roles ${ROLES.join(', ')}`;
  }
  if (!SHA256.test(hash)) return 'has a hash that is not the SHA-256 of a key in 64 hex digits';
  return { id, tenant, roles, sha256: hash.toLowerCase() };
}

/** `API_KEYS`: entries `id:tenant:role|role:sha256`, comma-separated. Errors name an entry by its number, from 1. */
export function apiKeys() {
  return z.string().transform((text, context) => {
    const entries: ApiKeyEntry[] = [];
    for (const [index, part] of text.split(',').entries()) {
      const entry = parseEntry(part);
      const fault = typeof entry === 'string' ? entry : faultBeside(entry, entries);
      if (fault) {
        context.addIssue({
          code: 'custom',
          message: `is not allowed: entry ${index + 1} ${fault} (\`npm run key\` makes an entry)`,
        });
      }
      if (typeof entry !== 'string') entries.push(entry);
    }
    return entries;
  });
}

function faultBeside(entry: ApiKeyEntry, others: readonly ApiKeyEntry[]): string | undefined {
  if (others.some(({ sha256 }) => sha256 === entry.sha256)) return 'has the hash of an earlier entry';
  // A resumed run looks its principal up by id and tenant, without a key.
  const earlier = others.find(({ id, tenant }) => id === entry.id && tenant === entry.tenant);
  if (!earlier || hasSameRoles(earlier, entry)) return undefined;
  return `gives the id "${entry.id}" of the tenant "${entry.tenant}" other roles than an earlier entry: give both the same, or one another id`;
}

function hasSameRoles(one: ApiKeyEntry, other: ApiKeyEntry): boolean {
  const [roles, others] = [new Set(one.roles), new Set(other.roles)];
  return roles.size === others.size && [...roles].every((role) => others.has(role));
}
