import { ROLES, VISIBILITIES, type Visibility } from '../kernel/index.js';
import { entries } from './env-value.schema.js';

/** One entry of `API_KEYS`: the principal and the hash of its key. */
export interface ApiKeyEntry {
  readonly id: string;
  readonly tenant: string;
  readonly roles: readonly string[];
  /** SHA-256 of the key, 64 lower-case hex digits. */
  readonly sha256: string;
  /** By default as the roles say. */
  readonly visibility?: Visibility;
}

const NAME = /^[A-Za-z0-9_.-]{1,64}$/;
/** Number of parts of an entry, without and with its visibility. */
const PARTS = [4, 5];
const SHA256 = /^[0-9a-f]{64}$/i;

/** The entry, or its error; messages never contain the text of a key or hash. */
function parseEntry(text: string): ApiKeyEntry | string {
  const parts = text.split(':');
  if (!PARTS.includes(parts.length)) return 'needs the four parts id:tenant:role|role:hash';
  const [id = '', tenant = '', roleList = '', hash = '', seen] = parts;
  const roles = roleList.split('|');
  if (![id, tenant, ...roles].every((name) => NAME.test(name))) {
    return 'has an id, tenant or role that is not 1 to 64 of A-Z a-z 0-9 _ . -';
  }
  if (!ROLES.some((role) => roles.includes(role))) {
    return `needs at least one of the roles ${ROLES.join(', ')}`;
  }
  if (!SHA256.test(hash)) return 'has a hash that is not the SHA-256 of a key in 64 hex digits';
  const sees = parseVisibility(seen);
  return typeof sees === 'string' ? sees : { id, tenant, roles, sha256: hash.toLowerCase(), ...sees };
}

function parseVisibility(seen: string | undefined): Pick<ApiKeyEntry, 'visibility'> | string {
  if (seen === undefined) return {};
  const visibility = VISIBILITIES.find((known) => known === seen);
  return visibility ? { visibility } : `has a fifth part other than ${VISIBILITIES.join(' or ')}`;
}

/** `API_KEYS`: entries `id:tenant:role|role:sha256`, comma-separated; `:own` or `:all` may follow the hash. */
export function apiKeys() {
  return entries(parseEntry, faultBeside, '`npm run key` makes an entry');
}

function faultBeside(entry: ApiKeyEntry, others: readonly ApiKeyEntry[]): string | undefined {
  if (others.some(({ sha256 }) => sha256 === entry.sha256)) return 'has the hash of an earlier entry';
  // A resumed run looks its principal up by id and tenant, without a key.
  const earlier = others.find(({ id, tenant }) => id === entry.id && tenant === entry.tenant);
  if (!earlier || (hasSameRoles(earlier, entry) && earlier.visibility === entry.visibility)) return undefined;
  const other = hasSameRoles(earlier, entry) ? 'another visibility' : 'other roles';
  return `gives the id "${entry.id}" of the tenant "${entry.tenant}" ${other} than an earlier entry: give both the same, or one another id`;
}

function hasSameRoles(one: ApiKeyEntry, other: ApiKeyEntry): boolean {
  const [roles, others] = [new Set(one.roles), new Set(other.roles)];
  return roles.size === others.size && [...roles].every((role) => others.has(role));
}
