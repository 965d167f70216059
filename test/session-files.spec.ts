import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PINNED } from '../src/session/index.js';
import { FileTurnArchive } from '../src/session/projection/file-turn-archive.js';
import { MemoryTurnArchive } from '../src/session/projection/turn-archive.factory.js';
import { ownerOf, ProjectedTurnStore, TurnOutbox } from '../src/session/projection/projected-turn-store.js';
import type { SessionKey } from '../src/session/session.types.js';
import { openDatabase, type OpenDatabase } from './support/run-host.js';
import { storedTurn as turn } from './support/stored-turn.js';

Logger.overrideLogger(false);
const folder = mkdtempSync(join(tmpdir(), 'jackdaw-files-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function put(files: FileTurnArchive, key: SessionKey, ...turns: number[]): Promise<void> {
  for (const n of turns) await files.apply(key, n, { kind: 'append', turn: turn(n) });
}

describe('deferred session maintenance', () => {
  let journal: OpenDatabase;
  beforeEach(async () => (journal = await openDatabase()));
  afterEach(() => journal.close());

  it('is done for all sessions except a failing one', async () => {
    const archive = new MemoryTurnArchive();
    const apply = archive.apply.bind(archive);
    archive.apply = (key, seq, change) =>
      key.id === 'broken' ? Promise.reject(new Error('damaged')) : apply(key, seq, change);
    const changes = new TurnOutbox(journal.database);
    const store = new ProjectedTurnStore(changes, archive);
    for (const id of ['broken', 'sound']) await journal.database.commit(store.append({ tenant: 't', id }, turn(1)));
    expect(await store.settleLate()).toEqual([new Error('damaged')]);
    expect(await archive.span({ tenant: 't', id: 'sound' })).toEqual({ first: 1, last: 1 });
    expect(await changes.pending(ownerOf({ tenant: 't', id: 'broken' }))).toHaveLength(1);
  });
});

describe('session files', () => {
  let place: string;
  let files: FileTurnArchive;
  const KEY = { tenant: 't', id: 's' };
  const open = () => new FileTurnArchive(place);
  const path = () => join(place, readdirSync(place)[0]!);
  beforeEach(async () => {
    place = mkdtempSync(join(folder, 'files-'));
    files = open();
    await put(files, KEY, 1, 2);
  });

  it('are read by another process, one JSON object a line', async () => {
    await files.apply(KEY, 1, { kind: 'mark', turn: 1, mark: PINNED });
    const again = open();
    expect(await again.get(KEY, [1, 2])).toEqual([turn(1), turn(2)]);
    expect(await again.marks(KEY)).toEqual(new Map([[1, PINNED]]));
    const lines = (await readFile(path(), 'utf8')).trimEnd().split('\n');
    expect(lines.map((line) => Object.keys(JSON.parse(line) as object))).toEqual([
      ['session', 'version'],
      ['turn'],
      ['turn'],
      ['mark'],
    ]);
  });

  it('lose only a torn last line, wherever it is torn', async () => {
    const whole = await readFile(path());
    const lines = whole.toString().trimEnd().split('\n');
    const lastAt = whole.length - Buffer.byteLength(`${lines.at(-1)}\n`);
    for (const cut of [lastAt + 1, lastAt + 40, whole.length - 1]) {
      await writeFile(path(), whole.subarray(0, cut));
      const again = open();
      expect((await again.span(KEY)).last).toBe(1);
      await put(again, KEY, 2, 3);
      expect(await open().get(KEY, [1, 2, 3])).toEqual([turn(1), turn(2), turn(3)]);
    }
  });

  it('report the fault of a damaged file, and of a file of another session', async () => {
    const other = { tenant: 't', id: 'other' };
    await put(files, other, 1);
    const [a, b] = readdirSync(place).map((name) => join(place, name));
    await writeFile(a!, await readFile(b!));
    const outcomes = await Promise.allSettled([KEY, other].map(async (key) => open().span(key)));
    expect(outcomes.filter(({ status }) => status === 'rejected')).toMatchObject([
      { reason: { code: 'SESSION_FILE_DAMAGED', message: expect.stringContaining('another session') } },
    ]);
    await appendFile(b!, 'nonsense\n');
    await expect(Promise.all([KEY, other].map(async (key) => open().span(key)))).rejects.toMatchObject({
      code: 'SESSION_FILE_DAMAGED',
    });
  });
});
