import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { Logger } from '@nestjs/common';
import type { Principal } from '../src/kernel/index.js';
import { loadConfig } from '../src/config/index.js';
import { openPersistence } from '../src/persistence/shared-persistence.registry.js';
import type { OpenPersistence } from '../src/persistence/persistence.types.js';
import { SECURITY_ENTITIES, SECURITY_MIGRATIONS } from '../src/security/index.js';
import type { NewApiKey } from '../src/security/keys/index.js';
import { ApiKeyService } from '../src/security/keys/api-key.service.js';
import { ApiKeyStore } from '../src/security/keys/api-key.store.js';
import { KeyUseRegistry } from '../src/security/request-authenticator.service.js';
import { StoredKeyRegistry } from '../src/security/keys/stored-key.registry.js';
import { describeDatabases, testServers } from './support/test-databases.js';

Logger.overrideLogger(false);
const servers = await testServers();
const MINUTE_MS = 60_000;

const admin = (tenant: string): Principal => ({ id: 'boss', tenant, roles: ['admin'] });
const USER: NewApiKey = {
  name: 'größer 🐦',
  role: 'user',
  scopes: ['chat', 'runs:read'],
  visibility: null,
  expiresAt: null,
};

/** The key services of one process. */
class KeyProcess {
  readonly store: ApiKeyStore;
  readonly stored: StoredKeyRegistry;
  readonly use: KeyUseRegistry;
  readonly service: ApiKeyService;

  constructor({ database }: OpenPersistence) {
    this.store = new ApiKeyStore(database);
    this.stored = new StoredKeyRegistry(this.store);
    this.use = new KeyUseRegistry(false, this.store);
    this.service = new ApiKeyService(this.store, this.stored, this.use);
  }
}

describeDatabases('the API keys', servers, (created) => {
  let opened: OpenPersistence;
  let here: KeyProcess;
  let there: KeyProcess;
  beforeAll(async () => {
    const { config } = loadConfig({ env: { DATABASE_URL: created().url } });
    opened = await openPersistence(config.database, { entities: SECURITY_ENTITIES, migrations: SECURITY_MIGRATIONS });
    [here, there] = [new KeyProcess(opened), new KeyProcess(opened)];
  });
  afterEach(() => void vi.restoreAllMocks());
  afterAll(() => opened.close());

  function pass(ms: number): void {
    for (const clock of [Date, performance]) {
      const now = clock.now.bind(clock);
      vi.spyOn(clock, 'now').mockImplementation(() => now() + ms);
    }
  }

  it('are required in all processes soon after one process created the first', async () => {
    const now = vi.spyOn(performance, 'now').mockReturnValue(MINUTE_MS);
    expect([await here.use.areNeeded(), await there.use.areNeeded()]).toEqual([false, false]);
    await here.service.create(admin('first'), USER);
    expect([await here.use.areNeeded(), await there.use.areNeeded()]).toEqual([true, false]);
    now.mockReturnValue(2 * MINUTE_MS);
    expect(await there.use.areNeeded()).toBe(true);
  });

  it('are read back unchanged', async () => {
    const { record } = await here.service.create(admin('a'), { ...USER, expiresAt: Date.UTC(2100, 0, 1) });
    expect(await there.store.find('a', record.id)).toEqual(record);
    for (const tenant of ['A', 'a ', 'b', '']) expect(await there.store.find(tenant, record.id)).toBeNull();
  });

  it('are found by the key alone', async () => {
    const { key, record } = await here.service.create(admin('a'), USER);
    const principal = { id: record.id, tenant: 'a', roles: ['user'], scopes: ['chat', 'runs:read'] };
    expect(await here.stored.find(key)).toEqual(principal);
    expect(await there.stored.find(key)).toEqual(principal);
    expect(await there.stored.ownerOf('a', record.id)).toEqual(principal);
    for (const wrong of [key.slice(0, -1), `${key}x`, key.toUpperCase(), `jd_${'x'.repeat(43)}`, '', record.id]) {
      expect(await here.stored.find(wrong)).toBeNull();
    }
  });

  it('are refused at once after revocation in this process and for resumed runs, within seconds elsewhere', async () => {
    const { key, record } = await here.service.create(admin('a'), USER);
    await Promise.all([here.stored.find(key), there.stored.find(key)]);
    await expect(there.service.revoke(admin('b'), record.id)).rejects.toMatchObject({ code: 'KEY_NOT_FOUND' });
    await here.service.revoke(admin('a'), record.id);
    const refused = expect.objectContaining({ code: 'UNAUTHENTICATED', message: expect.stringContaining('revoked') });
    await expect(here.stored.find(key)).rejects.toEqual(refused);
    expect(await there.stored.ownerOf('a', record.id)).toBeNull();
    pass(3_000);
    await expect(there.stored.find(key)).rejects.toEqual(refused);
  });

  it('are not cached if a revocation occurs during their read', async () => {
    const { key, record } = await here.service.create(admin('a'), USER);
    const read = here.stored.find(key);
    here.stored.forget(record.id);
    await read;
    await there.service.revoke(admin('a'), record.id);
    await expect(here.stored.find(key)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it('expire although they are cached', async () => {
    const { key, record } = await here.service.create(admin('a'), { ...USER, expiresAt: Date.now() + MINUTE_MS });
    expect(await here.stored.find(key)).not.toBeNull();
    const now = Date.now;
    vi.spyOn(Date, 'now').mockImplementation(() => now() + MINUTE_MS);
    await expect(here.stored.find(key)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(await here.stored.ownerOf('a', record.id)).toBeNull();
  });

  it('are listed in pages, each once, for their tenant', async () => {
    for (let at = 0; at < 7; at++)
      await here.service.create(admin(at % 2 ? 'odd' : 'even'), { ...USER, name: `${at}` });
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await there.service.list(admin('even'), 3, cursor);
      names.push(...page.keys.map(({ name }) => name));
      cursor = page.next ?? undefined;
    } while (cursor);
    expect(names.toSorted()).toEqual(['0', '2', '4', '6']);
  });
});
