// Prints a new API key, once, and its entry for API_KEYS.
// The entry contains the SHA-256 of the key's UTF-8 text, which src/security/api-key.registry.ts compares.
import { createHash, randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';

const USAGE = 'usage: npm run key -- --id <id> [--tenant <tenant>] [--roles <role,role>] [--visibility own|all]';
const ROLES = ['admin', 'user', 'viewer', 'operator'];
const NAME = /^[A-Za-z0-9_.-]{1,64}$/;

function readOptions() {
  try {
    const { id, tenant, roles, visibility } = parseArgs({
      options: {
        id: { type: 'string' },
        tenant: { type: 'string', default: 'default' },
        roles: { type: 'string', default: 'user' },
        visibility: { type: 'string' },
      },
    }).values;
    const options = { id, tenant, roles: roles.split(/[,|]/), visibility };
    if (![undefined, 'own', 'all'].includes(visibility)) throw new Error('--visibility is own or all');
    if (![id ?? '', tenant, ...options.roles].every((name) => NAME.test(name))) {
      throw new Error('--id, --tenant and every role are 1 to 64 of A-Z a-z 0-9 _ . -');
    }
    if (ROLES.some((role) => options.roles.includes(role))) return options;
    throw new Error(`At least one role must be ${ROLES.join(', ')}: it defines the rights of the key`);
  } catch (error) {
    console.error(`${error.message}\n${USAGE}`);
    return process.exit(1);
  }
}

const { id, tenant, roles, visibility } = readOptions();
const key = `jd_${randomBytes(32).toString('base64url')}`;
const hash = createHash('sha256').update(key).digest('hex');
console.log(
  `Key, shown only now:\n  ${key}\nEntry for API_KEYS (entries are separated by commas):\n  ${id}:${tenant}:${roles.join('|')}:${hash}${visibility ? `:${visibility}` : ''}`,
);
