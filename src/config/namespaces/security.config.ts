import { z } from 'zod';
import { ROLES, VISIBILITIES, type Visibility } from '../../kernel/index.js';
import { encryptionKeys } from '../encryption-key.parser.js';
import { choice, entries, flag, integer, proxyUrl } from '../env-value.schema.js';
import { namespace, type NamespaceConfig } from '../namespace.factory.js';
import { outgoingTargets, portList } from '../outgoing-target.parser.js';

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

/** API keys, encryption at rest, the access log, and the network access of tools. */
export const securityConfig = namespace(
  'jackdaw.security',
  'Security',
  {
    API_KEYS: apiKeys().optional().meta({
      isSecret: true,
      description:
        'API keys: comma-separated `id:tenant:role:sha256` entries made by `npm run key`, with one or more roles (separated by a vertical bar); `admin`, `user`, `viewer` and `operator` grant permissions. A fifth part, `own` or `all`, sets its visibility: its own sessions and runs, or all of its tenant. Without it only this machine may call the API',
    }),
    OWNERSHIP: choice(['principal', 'tenant'])
      .default('principal')
      .describe(
        'Owner of sessions, runs and tool states: the `principal` that created them, so that keys with the visibility `own` see no others; or the `tenant`, whose keys then all see the same',
      ),
    ENCRYPTION_KEYS: encryptionKeys().optional().meta({
      isSecret: true,
      description:
        'Keys for the encryption of user content in the database: comma-separated `id:key` entries, a key is 32 bytes in base64 (`openssl rand -base64 32`). The first encrypts, all decrypt; older rows are rewritten in the background',
    }),
    ENCRYPTION_STRICT: flag()
      .default(false)
      .describe(
        'Whether unencrypted rows are rejected. Set it once the log reports that all texts are encrypted; it then prevents the insertion of forged rows',
      ),
    ACCESS_LOG: choice(['on', 'off'])
      .default('off')
      .describe('Whether the table `access_log` records who reads, exports or erases sessions and runs: `on` or `off`'),
    ACCESS_LOG_RETENTION_DAYS: integer(0, 36_500, 'days')
      .default(365)
      .describe('Days after which entries of the access log are deleted; 0 disables the deletion'),
    OUTGOING_ALLOW: outgoingTargets()
      .optional()
      .describe(
        'Non-public targets that tools may call, comma-separated: `host[:port]`, `*.internal.example`, an address or a range such as `10.1.0.0/16`',
      ),
    OUTGOING_PORTS: portList()
      .optional()
      .describe(
        'Permitted ports of tool calls, comma-separated, such as `443`, in addition to those of `OUTGOING_ALLOW`; by default all',
      ),
    HTTP_PROXY: proxyUrl().optional().meta({
      isSecret: true,
      description:
        'Proxy of calls to `http://` URLs of providers, MCP servers and REST tools, such as `http://proxy.example:3128`; also read as `http_proxy`',
    }),
    HTTPS_PROXY: proxyUrl().optional().meta({
      isSecret: true,
      description: 'Proxy of calls to `https://` URLs; by default `HTTP_PROXY`. Also read as `https_proxy`',
    }),
    NO_PROXY: z
      .string()
      .optional()
      .describe(
        'Hosts that are called without a proxy, comma-separated: `internal.example` (with its subdomains), `host:port` or `*` for all; also read as `no_proxy`. This machine never needs a proxy',
      ),
  },
  (env) => ({
    apiKeys: env.API_KEYS ?? [],
    ownership: env.OWNERSHIP,
    /** The first key encrypts, all decrypt. */
    encryption: { keys: env.ENCRYPTION_KEYS ?? [], isStrict: env.ENCRYPTION_STRICT },
    accessLog: { isEnabled: env.ACCESS_LOG === 'on', keptDays: env.ACCESS_LOG_RETENTION_DAYS },
    /** An empty list of ports permits all ports. */
    outgoing: { allow: env.OUTGOING_ALLOW ?? [], ports: env.OUTGOING_PORTS ?? [], proxy: proxyOf(env) },
  }),
);
/** Names of this machine, which a proxy cannot reach. */
const OWN_HOSTS = 'localhost,127.0.0.1,::1';

/** The proxies, as options of undici's `EnvHttpProxyAgent`; `undefined` without one. */
export function proxyOf(env: { HTTP_PROXY?: string; HTTPS_PROXY?: string; NO_PROXY?: string }) {
  const { HTTP_PROXY: httpProxy = '', HTTPS_PROXY: httpsProxy = httpProxy, NO_PROXY } = env;
  if (httpProxy === '' && httpsProxy === '') return undefined;
  return { httpProxy, httpsProxy, noProxy: NO_PROXY ? `${NO_PROXY},${OWN_HOSTS}` : OWN_HOSTS };
}

export type SecurityConfig = NamespaceConfig<typeof securityConfig>;
