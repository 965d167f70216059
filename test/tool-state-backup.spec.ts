import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { Logger } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { contextIdOf, ToolStateBackups } from '../src/tool-state/index.js';
import { CounterTools } from './support/counter.tool.js';
import { callTool } from './support/direct-calls.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { restore } from './support/restore-states.js';

const ID = contextIdOf({ tenant: 'default', session: 's', tool: 'count' });
const folders: string[] = [];
let jackdaw: Jackdaw;
afterEach(() => jackdaw.stop());
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

async function start(env: Readonly<Record<string, string>>, dataDir = newFolder()): Promise<Jackdaw> {
  if (!folders.includes(dataDir)) folders.push(dataDir);
  jackdaw = await startJackdaw({ tools: [new CounterTools()], env, dataDir });
  await jackdaw.post('/api/sessions', { id: 's' });
  return jackdaw;
}

async function count(): Promise<unknown> {
  return (await callTool(jackdaw, 'count', { arguments: {}, sessionId: 's' })).body['result'];
}

async function read(path = ''): Promise<unknown> {
  return (await jackdaw.get(`/api/tool-states/${ID}${path}`)).body;
}

describe.each([
  ['memory', {}],
  ['persistent', {}],
  ['persistent', { TOOL_STATE_FORMAT: 'sqlite' }],
  ['distributed', { ENCRYPTION_KEYS: `k:${randomBytes(32).toString('base64')}` }],
])('a backup of %s %j', (manager, more) => {
  it('restores states with versions and history', async () => {
    await start({ TOOL_STATE_MANAGER: manager, ...more });
    for (let n = 0; n < 3; n++) await count();
    const before = [await read('/versions'), await read('/history')];
    const backups = jackdaw.app.get(ToolStateBackups);
    const file = await backups.backup();
    for (let n = 0; n < 3; n++) await count();
    expect(await backups.restore(file)).toBe(1);
    expect([await read('/versions'), await read('/history')]).toEqual(before);
    expect(await count()).toBe(4);
    const isSealed = 'ENCRYPTION_KEYS' in more;
    expect(gunzipSync(readFileSync(file)).includes('count')).toBe(!isSealed);
  });
});

describe('a backup of files', () => {
  const linesOf = (file: string) => gunzipSync(readFileSync(file)).toString().split('\n').slice(0, -1);

  it('contains them also before a tool is called', async () => {
    await start({ TOOL_STATE_MANAGER: 'persistent' });
    await count();
    await jackdaw.stop();
    await start({ TOOL_STATE_MANAGER: 'persistent' }, folders.at(-1));
    expect(linesOf(await jackdaw.app.get(ToolStateBackups).backup())).toHaveLength(1);
  });

  it('omits an unreadable one, and reports it', async () => {
    await start({ TOOL_STATE_MANAGER: 'persistent' });
    await count();
    await jackdaw.post('/api/sessions', { id: 'other' });
    await callTool(jackdaw, 'count', { arguments: {}, sessionId: 'other' });
    writeFileSync(join(jackdaw.dataDir, 'tool-states', `${ID}.json`), '{');
    const warn = vi.spyOn(Logger.prototype, 'warn');
    const [line, ...others] = linesOf(await jackdaw.app.get(ToolStateBackups).backup());
    expect([line?.includes(ID), others]).toEqual([false, []]);
    expect(warn).toHaveBeenCalledWith(expect.stringContaining(`${ID}.json`));
    warn.mockRestore();
  });
});

describe('the script of docs/tool-state.md', () => {
  it('restores a damaged state while the server is stopped', async () => {
    await start({ TOOL_STATE_MANAGER: 'persistent' });
    for (let n = 0; n < 3; n++) await count();
    const file = await jackdaw.app.get(ToolStateBackups).backup();
    await jackdaw.stop();
    writeFileSync(join(jackdaw.dataDir, 'tool-states', `${ID}.json`), '{');
    expect(await restore({ DATA_DIR: jackdaw.dataDir, TOOL_STATE_MANAGER: 'persistent' }, file)).toBe(1);
    await start({ TOOL_STATE_MANAGER: 'persistent' }, jackdaw.dataDir);
    expect(await count()).toBe(4);
  });

  it('equals the script of this test', () => {
    const code = readFileSync('test/support/restore-states.ts', 'utf8').replaceAll('../../src/index.js', 'jackdaw');
    expect(readFileSync('docs/tool-state.md', 'utf8')).toContain(`\`\`\`ts\n${code}\`\`\`\n`);
  });
});

it('a backup is made at the configured interval, and retained for the configured days', async () => {
  await start({ TOOL_STATE_BACKUP: 'true', TOOL_STATE_BACKUP_INTERVAL_MS: '1000' });
  await count();
  const folder = join(folders.at(-1)!, 'backups');
  const files = () => readdirSync(folder).filter((name) => name.endsWith('.gz'));
  for (let tries = 0; tries < 100 && !isThere(folder); tries++) await pause(100);
  writeFileSync(join(folder, 'tool-states-1-old.jsonl.gz'), '');
  writeFileSync(join(folder, 'mine.gz'), '');
  await jackdaw.app.get(ToolStateBackups).prune(Date.now() - 86_400_000);
  expect(files()).toContain('mine.gz');
  expect(files()).not.toContain('tool-states-1-old.jsonl.gz');
  expect(files().length).toBeGreaterThan(1);
});

it('an invalid backup is refused', async () => {
  await start({});
  const file = join(folders.at(-1)!, 'broken.jsonl.gz');
  const backups = jackdaw.app.get(ToolStateBackups);
  const { gzipSync } = await import('node:zlib');
  writeFileSync(file, gzipSync('{"manager":"memory"}'));
  await expect(backups.restore(file)).rejects.toMatchObject({
    code: 'VALIDATION_FAILED',
    message: expect.stringContaining('Line 1 of'),
  });
});

function isThere(folder: string): boolean {
  try {
    return readdirSync(folder).some((name) => name.endsWith('.gz'));
  } catch {
    return false;
  }
}
