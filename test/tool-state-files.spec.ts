import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { AesGcmCipher } from '../src/security/encryption/aes-gcm-cipher.js';
import { FileStateStore, type FileStateOptions } from '../src/tool-state/backend/file-state-store.js';
import type { StoredStateManager } from '../src/tool-state/stored-state-manager.js';
import { managerOf } from './support/state-stores.js';

Logger.overrideLogger(false);
const KEY = { tenant: 't', session: 's', tool: 'a' };
const WORD = 'kingfisher '.repeat(300);
const [K1, K2] = ['k1', 'k2'].map((id) => ({ id, key: randomBytes(32).toString('base64') }));
const cipherOf = (...keys: (typeof K1)[]) =>
  new AesGcmCipher(
    keys.map((key) => key!),
    false,
  );

describe('files of tool states', () => {
  let folder: string;
  let store: FileStateStore;
  let states: StoredStateManager;
  let id: string;
  const open = async (options?: FileStateOptions) => {
    store = await FileStateStore.open(folder, options);
    states = managerOf(store);
  };
  const reopen = async (options?: FileStateOptions) => {
    await store.close();
    await open(options);
  };
  const files = () => readdirSync(folder).filter((name) => !name.startsWith('.lock'));
  const path = (suffix = '.json') => join(folder, id + suffix);
  const data = async (of = id) => (await states.getState(of, 'business'))?.data;

  beforeEach(async () => {
    folder = join(mkdtempSync(join(tmpdir(), 'jackdaw-state-files-')), 'states');
    await open();
    id = await states.createContext(KEY);
    await states.setState(id, 'business', { word: WORD });
  });
  afterEach(async () => {
    await store.close().catch(() => undefined);
    rmSync(folder, { recursive: true });
  });

  it('are readable JSON, for their owner only', async () => {
    expect(files()).toEqual([`${id}.json`]);
    const file = JSON.parse(readFileSync(path(), 'utf8')) as object;
    expect(file).toMatchObject({
      format: 1,
      context: { id, ...KEY, revision: 2 },
      states: { business: { version: 1, data: { word: WORD } } },
      versions: [{ version: 1, data: { word: WORD } }],
      history: [],
    });
    expect([statSync(folder).mode & 0o777, statSync(path()).mode & 0o777]).toEqual([0o700, 0o600]);
  });

  it('are found on a file system that lists names in lower case', async () => {
    renameSync(path(), join(folder, `${id.toLowerCase()}.json`));
    await reopen();
    expect([files(), await data()]).toEqual([[`${id}.json`], { word: WORD }]);
  });

  it('are found by the next process, which deletes the leftovers of a crash', async () => {
    const other = await states.createContext({ ...KEY, tool: 'b' });
    writeFileSync(join(folder, `${id}.0.new`), '{"format":1,');
    await reopen();
    expect(files().toSorted()).toEqual([`${id}.json`, `${other}.json`].toSorted());
    expect(await states.listContexts({ tenant: 't', session: 's' })).toEqual([id, other].toSorted());
    expect(await states.listContexts({ tenant: 't', tool: 'a' })).toEqual([id]);
    expect(await data()).toEqual({ word: WORD });
    expect(await states.updateState(id, 'business', { n: 1 })).toMatchObject({ version: 2 });
  });

  it.each([
    ['truncated', (text: string) => text.slice(0, text.length / 2)],
    ['empty', () => ''],
    ['different JSON', () => 'null'],
    ['of another version', (text: string) => text.replace('"format":1', '"format":2')],
    ['of another context', (text: string) => text.replaceAll('ctx_', 'ctx-')],
    ['incomplete', (text: string) => text.replace('"versions"', '"lost"')],
  ])('that are %s cause an error that names them, and are not replaced', async (_how, damage) => {
    const other = await states.createContext({ ...KEY, tool: 'b' });
    await states.setState(other, 'business', { sound: true });
    const whole = readFileSync(path(), 'utf8');
    const damaged = damage(whole);
    writeFileSync(path(), damaged);
    const fault = { code: 'TOOL_STATE_UNAVAILABLE', isRetryable: false, message: expect.stringContaining(path()) };
    for (const again of [false, true]) {
      if (again) await reopen();
      await expect(states.getState(id, 'business')).rejects.toMatchObject(fault);
      await expect(states.createContext(KEY)).rejects.toMatchObject(fault);
      await expect(states.setState(id, 'business', {})).rejects.toMatchObject(fault);
      expect([readFileSync(path(), 'utf8'), await data(other)]).toEqual([damaged, { sound: true }]);
    }
    writeFileSync(path(), whole);
    expect(await data()).toEqual({ word: WORD });
    await states.setState(id, 'business', { mended: true });
    expect(await states.listContexts({ tenant: 't' })).toContain(id);
  });

  it('that cannot be read can be deleted', async () => {
    await reopen({ isCompressed: true });
    writeFileSync(path('.json.gz'), 'not compressed');
    await reopen();
    await expect(states.createContext(KEY)).rejects.toMatchObject({ message: expect.stringContaining('.json.gz') });
    expect([await states.cleanupContext(id), files()]).toEqual([true, []]);
    await states.createContext(KEY);
    expect(await data()).toBeUndefined();
  });

  it('that were moved away are gone', async () => {
    renameSync(path(), join(folder, 'elsewhere'));
    expect(await data()).toBeUndefined();
    await states.createContext(KEY);
    expect(await states.setState(id, 'business', { n: 1 })).toMatchObject({ version: 1 });
  });

  it('are compressed or not according to the option when they are opened', async () => {
    const plain = statSync(path()).size;
    await reopen({ isCompressed: true });
    expect([files(), await data()]).toEqual([[`${id}.json.gz`], { word: WORD }]);
    const compressed = readFileSync(path('.json.gz'));
    expect(compressed.length).toBeLessThan(plain / 5);
    expect(gunzipSync(compressed).toString()).toContain(WORD);
    await reopen();
    expect([files(), await data()]).toEqual([[`${id}.json`], { word: WORD }]);
    // A crash between the new file and the end of the old one.
    await states.setState(id, 'business', { newer: true });
    writeFileSync(path('.json.gz'), compressed);
    await reopen();
    expect([files(), await data()]).toEqual([[`${id}.json`], { newer: true }]);
  });

  it.each([false, true])(
    'are encrypted, and re-encrypted with another key, when they are opened; compressed: %s',
    async (gz) => {
      const head = () => [files(), readFileSync(path(), 'utf8').slice(0, 9)];
      await reopen({ cipher: cipherOf(K1), isCompressed: gz });
      expect([head(), await data()]).toEqual([[[`${id}.json`], 'enc:1:k1:'], { word: WORD }]);
      await store.close();
      await expect(open({ cipher: cipherOf(K2) })).rejects.toMatchObject({ code: 'ENCRYPTION_KEY_UNKNOWN' });
      await expect(open()).rejects.toMatchObject({ code: 'ENCRYPTION_KEY_UNKNOWN' });
      await open({ cipher: cipherOf(K2, K1), isCompressed: gz });
      expect(head()).toEqual([[`${id}.json`], 'enc:1:k2:']);
      await reopen({ cipher: cipherOf(K2), isCompressed: gz });
      expect(await data()).toEqual({ word: WORD });
      const [a, b] = [id, await states.createContext({ ...KEY, tool: 'b' })];
      writeFileSync(join(folder, `${b}.json`), readFileSync(join(folder, `${a}.json`)));
      await expect(data(b)).rejects.toMatchObject({ code: 'TOOL_STATE_UNAVAILABLE' });
    },
  );

  it('belong to one process', async () => {
    await expect(FileStateStore.open(folder)).rejects.toMatchObject({
      code: 'DATABASE_LOCKED',
      message: expect.stringContaining(folder),
    });
    await store.close();
    await open();
    expect(await data()).toEqual({ word: WORD });
  });

  it('are never those of another folder', async () => {
    const secret = join(folder, '..', 'secret.json');
    writeFileSync(secret, readFileSync(path(), 'utf8').replaceAll(id, '../secret'));
    expect(await states.getContextInfo('../secret')).toBeNull();
    expect([await states.cleanupContext('../secret'), existsSync(secret)]).toEqual([false, true]);
  });

  it('stay complete when the disk is full, or refuses', async () => {
    const before = readFileSync(path(), 'utf8');
    rmSync(path());
    // A folder at this path cannot be replaced by a file.
    const taken = join(folder, `${id}.json`, 'x');
    mkdirSync(taken, { recursive: true });
    const fault = { code: 'TOOL_STATE_UNAVAILABLE', isRetryable: true };
    await expect(states.setState(id, 'business', {})).rejects.toMatchObject(fault);
    rmSync(path(), { recursive: true });
    writeFileSync(path(), before);
    expect([files(), await data()]).toEqual([[`${id}.json`], { word: WORD }]);
  });
});
