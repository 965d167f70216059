import { createHash, randomBytes } from 'node:crypto';
import type { JackdawClient } from '../http-client/index.js';
import { ROLES } from '../kernel/index.js';
import { usageError } from './cli.error.js';
import type { Call, Command } from './command.types.js';
import { PAGE_OPTIONS, pageQuery } from './session-commands.js';
import { localTime } from './terminal.js';
import { given, parseChoice } from './value.parser.js';

type KeyRequest = Parameters<JackdawClient['keys']['create']>[0];

const NAME = /^[A-Za-z0-9_.-]{1,64}$/;

export const KEY_COMMANDS: readonly Command[] = [
  {
    name: 'key create',
    summary: 'Create an API key; it is shown once',
    arguments: [{ name: 'name', help: 'Purpose of the key' }],
    options: {
      role: { value: 'role', help: 'admin, user (default), viewer or operator' },
      scope: { value: 'scope', help: 'Narrows the rights of the role; may be repeated', isMultiple: true },
      visibility: { value: 'own|all', help: 'The visible runs and sessions' },
      expires: { value: 'time', help: 'End, such as 2030-01-31' },
    },
    json: 'NewKeyDto',
    run: createKey,
  },
  {
    name: 'key list',
    summary: 'List API keys, newest first; without those of API_KEYS',
    options: PAGE_OPTIONS,
    json: 'KeyPageDto',
    run: async (call) => {
      const { client } = await call.connect();
      const page = await client.keys.list(pageQuery(call));
      if (call.isJson) return call.terminal.json(page);
      call.terminal.table(
        [
          { title: 'KEY' },
          { title: 'ROLE' },
          { title: 'CREATED' },
          { title: 'LAST USED' },
          { title: 'STATUS' },
          { title: 'NAME' },
        ],
        page.keys.map((key) => [
          key.id,
          key.role,
          localTime(key.created_at),
          localTime(key.last_used_at),
          key.revoked_at === null
            ? key.expires_at === null
              ? 'valid'
              : `until ${localTime(key.expires_at)}`
            : 'revoked',
          key.name,
        ]),
      );
      if (page.next !== null) call.terminal.note(`More: --cursor ${page.next}`);
    },
  },
  {
    name: 'key revoke',
    summary: 'Revoke an API key',
    arguments: [{ name: 'key', help: 'Id of the key' }],
    json: '{ id, revoked }',
    run: async (call) => {
      const id = call.args[0]!;
      const { client } = await call.connect();
      await client.keys.revoke(id);
      if (call.isJson) return call.terminal.json({ id, revoked: true });
      call.terminal.line(`Revoked key ${id}.`);
    },
  },
  {
    name: 'key entry',
    summary: 'Make a key and its entry for API_KEYS, without a server',
    arguments: [{ name: 'id', help: 'Id of its principal' }],
    options: {
      tenant: { value: 'tenant', help: 'Its tenant; by default default' },
      roles: { value: 'roles', help: 'Its roles with commas; by default user' },
      visibility: { value: 'own|all', help: 'The visible runs and sessions' },
    },
    json: '{ key, entry }',
    run: makeEntry,
  },
];

async function createKey(call: Call): Promise<void> {
  const scopes = call.texts('scope');
  const request = {
    name: call.args[0]!,
    role: parseChoice(call.text('role'), ROLES, '--role') ?? 'user',
    ...given({
      visibility: parseChoice(call.text('visibility'), ['own', 'all'], '--visibility'),
      expiresAt: call.text('expires'),
    }),
    // The server validates them.
    ...(scopes.length > 0 && { scopes: scopes as NonNullable<KeyRequest['scopes']> }),
  };
  const { client } = await call.connect();
  const created = await client.keys.create(request);
  if (call.isJson) return call.terminal.json(created);
  call.terminal.note(`Key ${created.id} (${created.role}), shown only now; from now on each request needs a key:`);
  call.terminal.line(created.key ?? '');
}

/** The entry contains the SHA-256 of the key's UTF-8 text (src/security/api-key.registry.ts). */
async function makeEntry(call: Call): Promise<void> {
  const [id = ''] = call.args;
  const tenant = call.text('tenant') ?? 'default';
  const roles = (call.text('roles') ?? 'user').split(/[,|]/);
  const visibility = parseChoice(call.text('visibility'), ['own', 'all'], '--visibility');
  if (![id, tenant, ...roles].every((name) => NAME.test(name))) {
    throw usageError('The id, the tenant and every role are 1 to 64 of A-Z a-z 0-9 _ . -.');
  }
  if (!ROLES.some((role) => roles.includes(role))) {
    throw usageError(`At least one role must be ${ROLES.join(', ')}: it defines the rights of the key.`);
  }
  const key = `jd_${randomBytes(32).toString('base64url')}`;
  const hash = createHash('sha256').update(key).digest('hex');
  const entry = [id, tenant, roles.join('|'), hash, ...(visibility ? [visibility] : [])].join(':');
  if (call.isJson) return call.terminal.json({ key, entry });
  call.terminal.line(`Key, shown only now:\n  ${key}`);
  call.terminal.line(`Entry for API_KEYS (entries are separated by commas):\n  ${entry}`);
}
