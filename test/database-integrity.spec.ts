import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  closeSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { checkSqliteFile } from '../src/persistence/sqlite-check.executor.js';
import { insert } from '../src/persistence/statement/index.js';
import { newFolder } from './support/jackdaw.js';
import { buildIfStale, killAll, program, ServerProcess } from './support/process.js';
import { openDatabase, type OpenDatabase } from './support/run-host.js';

const PAGE = 4096;

let folder: string;
let file: string;
const opened: OpenDatabase[] = [];
beforeAll(() => buildIfStale());
beforeEach(() => {
  folder = newFolder();
  file = join(folder, 'jackdaw.db');
});
afterEach(async () => {
  await killAll();
  await Promise.all(opened.splice(0).map((one) => one.close()));
  rmSync(folder, { recursive: true });
});

async function open(env: Readonly<Record<string, string>> = {}): Promise<OpenDatabase> {
  const one = await openDatabase({ DATA_DIR: folder, ...env });
  opened.push(one);
  return one;
}

const close = () => opened.pop()!.close();

/** A closed database with about a hundred pages of rows. */
async function fill(): Promise<void> {
  const { database } = await open();
  const row = (n: number) => ({ tenant: 't', hash: `h${n}`, content: 'x'.repeat(2000), created_at: n });
  await database.commit(Array.from({ length: 200 }, (_, n) => insert('run_definition', row(n))));
  await close();
}

/** Another process opens the database and is killed. */
async function stopUncleanly(): Promise<void> {
  const owner = ServerProcess.start(program('file-owner'), {}, [folder, 'run']);
  await owner.waitForLine('ready');
  await owner.kill();
  expect(existsSync(`${file}-wal`)).toBe(true);
}

/** Overwrites some pages behind the schema. */
function damage(): void {
  const handle = openSync(file, 'r+');
  const pages = statSync(file).size / PAGE;
  for (let page = Math.floor(pages / 2); page < pages - 1; page += 3)
    writeSync(handle, Buffer.alloc(PAGE, 0xa5), 0, PAGE, page * PAGE);
  closeSync(handle);
}

function hashes(): Record<string, string> {
  const names = [file, `${file}-wal`].filter((path) => existsSync(path));
  return Object.fromEntries(names.map((path) => [path, createHash('sha256').update(readFileSync(path)).digest('hex')]));
}

describe('a SQLite file after an unclean stop', () => {
  it('is checked: damage stops the start with the remedy, and the files are unchanged', async () => {
    await fill();
    await stopUncleanly();
    damage();
    const before = hashes();
    for (const _ of [1, 2]) {
      await expect(open()).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringMatching(
          new RegExp(
            `^The database ${file} is damaged: .*[Pp]age.*It was not changed\\. Restore it from a backup: move it away with ${file}-wal`,
          ),
        ),
      });
    }
    expect(hashes()).toEqual(before);
  });

  it('stops the server with one line and a code that is not 0', async () => {
    await fill();
    await stopUncleanly();
    damage();
    const server = ServerProcess.start('dist/main.js', { DATA_DIR: folder, LLM_PROVIDER: 'offline', PORT: '0' });
    expect(await server.ended).toEqual({ code: 1, signal: null });
    expect(server.stderr).toMatch(/^The database .* is damaged: .*\n$/);
  });

  it('opens with its data if it is intact', async () => {
    await fill();
    await stopUncleanly();
    const { database } = await open();
    expect(await database.query('SELECT COUNT(*) AS n FROM run WHERE status = ?', ['running'])).toEqual([{ n: 1 }]);
  });

  it('opens with a warning if the check takes too long, and the check is ended', async () => {
    await fill();
    await stopUncleanly();
    expect(await checkSqliteFile(file, 0)).toMatch(
      /did not finish \(it takes more than 0 s\). Check it when Jackdaw is stopped/,
    );
    expect(await checkSqliteFile(file)).toBeNull();
  });
});

describe('a database that was lost', () => {
  const LOST = { code: 'CONFIG_INVALID' };

  it.each([
    ['its log', 'jackdaw.db-wal'],
    ['its shared memory', 'jackdaw.db-shm'],
    ['its lock', 'jackdaw.db.lock'],
    ['files of sessions', join('sessions', 'a.jsonl')],
    ['files of tool states', join('tool-states', 'a.json')],
  ])('is not replaced by an empty one beside %s', async (_what, trace) => {
    const path = join(folder, trace);
    const named = trace.includes('jackdaw') ? path : dirname(path);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, 'x');
    await expect(open()).rejects.toMatchObject({
      ...LOST,
      message: expect.stringContaining(
        `The database ${file} is missing, but there are traces of an earlier one: ${named}.`,
      ),
    });
    expect(existsSync(file)).toBe(false);
  });

  it('is not replaced after it was emptied', async () => {
    await fill();
    await stopUncleanly();
    truncateSync(file);
    await expect(open()).rejects.toMatchObject({ ...LOST, message: expect.stringContaining('is empty, but') });
  });

  it('is replaced if ALLOW_NEW_DATABASE is true', async () => {
    await fill();
    await stopUncleanly();
    rmSync(file);
    await expect(open()).rejects.toMatchObject(LOST);
    const { database } = await open({ ALLOW_NEW_DATABASE: 'true' });
    expect(await database.query('SELECT COUNT(*) AS n FROM run')).toEqual([{ n: 0 }]);
    await close();
    await open();
  });

  it('is no loss in an empty folder, and with an empty file alone', async () => {
    await open();
    await close();
    rmSync(folder, { recursive: true });
    mkdirSync(folder);
    writeFileSync(file, '');
    await expect(open()).resolves.toBeDefined();
  });

  it('stops the library with the name that the variable has there', async () => {
    writeFileSync(`${file}-wal`, 'x');
    const owner = ServerProcess.start(program('file-owner'), {}, [folder]);
    expect(await owner.ended).toMatchObject({ code: 1 });
    expect(owner.stderr).toContain('with JACKDAW_ALLOW_NEW_DATABASE=true Jackdaw starts with an empty database');
  });
});

describe('the owner of a SQLite file', () => {
  it('gets an error with the name of a damaged lock file, not of the database', async () => {
    await fill();
    writeFileSync(`${file}.lock`, 'This is a text. '.repeat(500));
    await expect(open()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(new RegExp(`^The lock file ${file}\\.lock is damaged .*It contains no data`)),
    });
    rmSync(`${file}.lock`);
    await open();
  });

  it('is the only one after the lock file was removed', async () => {
    const owner = ServerProcess.start(program('file-owner'), {}, [folder]);
    await owner.waitForLine('ready');
    rmSync(`${file}.lock`);
    await expect(open()).rejects.toMatchObject({ code: 'DATABASE_LOCKED' });
    await owner.kill();
    await open();
  });

  it('is the only one in one process, too', async () => {
    await open();
    rmSync(`${file}.lock`);
    await expect(open()).rejects.toMatchObject({ code: 'DATABASE_LOCKED' });
  });

  it('may open a file with one name only: hard links are refused', async () => {
    await fill();
    const other = join(folder, 'other.db');
    linkSync(file, other);
    const before = readdirSync(folder).toSorted();
    for (const env of [{ DATABASE_URL: `sqlite:${file}` }, { DATABASE_URL: `sqlite:${other}` }])
      await expect(open(env)).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining('has 2 names (hard links)'),
      });
    expect(readdirSync(folder).toSorted()).toEqual(before);
    rmSync(other);
    cpSync(file, other);
    await open();
  });
});
