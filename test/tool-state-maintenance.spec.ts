import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { loadConfig } from '../src/config/index.js';
import { contextIdOf } from '../src/tool-state/index.js';
import { StateBackendRegistry } from '../src/tool-state/state-backend.registry.js';
import { ToolStateMaintenanceService } from '../src/tool-state/tool-state-maintenance.service.js';
import { CounterTools } from './support/counter.tool.js';
import { callTool } from './support/direct-calls.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { testRedisUrl } from './support/test-databases.js';
import { stateBackends } from './support/state-backends.js';

const ID = contextIdOf({ tenant: 'default', session: 's', tool: 'count' });
const folders: string[] = [];
let jackdaw: Jackdaw;
afterEach(() => jackdaw.stop());
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

async function start(env: Readonly<Record<string, string>>, dataDir = newFolder()): Promise<void> {
  if (!folders.includes(dataDir)) folders.push(dataDir);
  jackdaw = await startJackdaw({ tools: [new CounterTools()], env, dataDir });
  await jackdaw.post('/api/sessions', { id: 's' });
}

async function count(): Promise<unknown> {
  return (await callTool(jackdaw, 'count', { arguments: {}, sessionId: 's' })).body['result'];
}

/** Whether the context is where its manager stores it, whatever the journal has. */
async function isStored(manager: 'memory' | 'persistent' | 'distributed'): Promise<boolean> {
  const backend = await jackdaw.app.get(StateBackendRegistry).of(manager);
  return (await backend.store.load(ID)) !== null;
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 200 && !(await condition()); tries++) await pause(50);
}

describe('expired states', () => {
  it('are deleted in the background', async () => {
    await start({ TOOL_STATE_TTL_MS: '1', TOOL_STATE_CLEANUP_INTERVAL_MS: '100' });
    expect(await count()).toBe(1);
    await until(async () => !(await isStored('memory')));
    expect(await isStored('memory')).toBe(false);
  });

  it('are deleted also if no tool was called since the start', async () => {
    const files = { TOOL_STATE_MANAGER: 'persistent', TOOL_STATE_TTL_MS: '1' };
    await start({ ...files, TOOL_STATE_CLEANUP: 'false' });
    await count();
    const file = join(jackdaw.dataDir, 'tool-states', `${ID}.json`);
    expect(existsSync(file)).toBe(true);
    await jackdaw.stop();
    await start({ ...files, TOOL_STATE_CLEANUP_INTERVAL_MS: '100' }, folders.at(-1));
    await until(async () => !existsSync(file));
    expect(existsSync(file)).toBe(false);
  });

  it('are deleted also if one of them cannot be read', async () => {
    await start({ TOOL_STATE_MANAGER: 'persistent', TOOL_STATE_TTL_MS: '1', TOOL_STATE_CLEANUP: 'false' });
    await count();
    for (const id of ['other', 'third']) {
      await jackdaw.post('/api/sessions', { id });
      await callTool(jackdaw, 'count', { arguments: {}, sessionId: id });
    }
    const folder = join(jackdaw.dataDir, 'tool-states');
    writeFileSync(join(folder, `${ID}.json`), '{');
    expect(await jackdaw.app.get(ToolStateMaintenanceService, { strict: false }).sweep()).toBe(3);
    expect(readdirSync(folder).filter((name) => name.endsWith('.json'))).toEqual([]);
  });

  it('stay stored with cleanup off, and are invisible', async () => {
    await start({ TOOL_STATE_TTL_MS: '1', TOOL_STATE_CLEANUP: 'false' });
    await count();
    await pause(300);
    expect(await isStored('memory')).toBe(true);
    expect((await jackdaw.get(`/api/tool-states/${ID}`)).status).toBe(404);
    expect(await count()).toBe(1);
  });
});

describe('changes', () => {
  const FILES = { TOOL_STATE_MANAGER: 'persistent' };

  it('are in their file at once', async () => {
    await start(FILES);
    await count();
    expect(readdirSync(join(folders.at(-1)!, 'tool-states'))).toContain(`${ID}.json`);
  });

  it('are in the configured path', async () => {
    const path = join(newFolder(), 'mine');
    folders.push(join(path, '..'));
    await start({ ...FILES, TOOL_STATE_PATH: path });
    await count();
    expect(existsSync(join(path, `${ID}.json`))).toBe(true);
  });

  it('are written with the next sync, if not at once, and are visible before', async () => {
    await start({ ...FILES, TOOL_STATE_SYNC_ON_CHANGE: 'false', TOOL_STATE_SYNC_INTERVAL_MS: '3000' });
    expect(await count()).toBe(1);
    expect(await isStored('persistent')).toBe(false);
    await until(() => isStored('persistent'));
    expect(await isStored('persistent')).toBe(true);
    expect(await count()).toBe(2);
  });

  it('are found by the next process, also those that were never written', async () => {
    const env = { ...FILES, TOOL_STATE_SYNC_ON_CHANGE: 'false' };
    await start(env);
    const folder = folders.at(-1)!;
    expect([await count(), await count()]).toEqual([1, 2]);
    await jackdaw.stop();
    await start(env, folder);
    expect(await count()).toBe(3);
  });

  it.each([
    ['persistent', { TOOL_STATE_FORMAT: 'sqlite' }],
    ['distributed', {}],
  ] as const)('remain, with an error, if the store of `%s` is no longer configured', async (manager, other) => {
    const env = { TOOL_STATE_MANAGER: manager, TOOL_STATE_SYNC_ON_CHANGE: 'false' };
    const redis = { TOOL_STATE_REDIS_URL: (await testRedisUrl())!, TOOL_STATE_REDIS_PREFIX: `t${Date.now()}` };
    const configured = { ...env, ...(manager === 'distributed' && redis) };
    const carryOver = () => jackdaw.app.get(ToolStateMaintenanceService, { strict: false }).carryOver('default');
    await start(configured);
    const folder = folders.at(-1)!;
    await count();
    await jackdaw.stop();
    await start({ ...env, ...other }, folder);
    await expect(carryOver()).rejects.toMatchObject({
      code: 'TOOL_STATE_UNAVAILABLE',
      message: expect.stringContaining(`Changes of \`${manager}\` states are pending for a store that is no longer`),
    });
    await jackdaw.stop();
    await start(configured, folder);
    await carryOver();
    expect(await isStored(manager)).toBe(true);
  });

  it('are in Redis if its URL is set', async () => {
    const url = await testRedisUrl();
    await start({
      TOOL_STATE_MANAGER: 'distributed',
      TOOL_STATE_REDIS_URL: url!,
      TOOL_STATE_REDIS_PREFIX: `t${Date.now()}`,
    });
    expect([await count(), await count()]).toEqual([1, 2]);
    expect(await isStored('distributed')).toBe(true);
    await jackdaw.send('/api/sessions/s', { method: 'DELETE' });
    expect(await isStored('distributed')).toBe(false);
  });
});

it('refuse managers of one process if many processes share the database', async () => {
  const { config } = loadConfig({ env: { DATABASE_URL: 'postgres://u@h/d' } });
  const registry = stateBackends({ config });
  await expect(registry.of('memory')).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  await start({});
});
