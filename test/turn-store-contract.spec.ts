import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { array, assert, asyncProperty, integer } from 'fast-check';
import { Redis } from 'ioredis';
import { mkdtempSync, rmSync, readdirSync } from 'node:fs';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PINNED, type StoredTurn } from '../src/session/index.js';
import { DatabaseTurnArchive } from '../src/session/projection/database-turn-archive.js';
import { FileTurnArchive } from '../src/session/projection/file-turn-archive.js';
import { MemoryTurnArchive } from '../src/session/projection/memory-turn-archive.js';
import { ProjectedTurnStore } from '../src/session/projection/projected-turn-store.js';
import { RedisTurnArchive } from '../src/session/projection/redis-turn-archive.js';
import { SessionChangeStore } from '../src/session/projection/session-change.store.js';
import type { TurnArchive } from '../src/session/projection/turn-archive.js';
import { JournalTurnStore } from '../src/session/turns/journal-turn-store.js';
import type { TurnQuery, TurnStore } from '../src/session/turns/turn-store.js';
import { openDatabase, type OpenDatabase } from './support/run-host.js';
import { testRedisUrl, testServers, type TestDatabase } from './support/test-databases.js';

Logger.overrideLogger(false);
const folder = mkdtempSync(join(tmpdir(), 'jackdaw-turns-'));
const redisUrl = await testRedisUrl();
const servers = await testServers();
const created: TestDatabase[] = [];
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await Promise.all(created.map((one) => one.drop()));
});

const ALL = Number.MAX_SAFE_INTEGER;
let count = 0;
/** A session that nobody has used. */
const fresh = () => ({ tenant: 'te nant/é', id: `s${count++}` });

function turn(n: number, more: Partial<StoredTurn> = {}): StoredTurn {
  return {
    turn: n,
    runId: `run-${n}`,
    status: 'completed',
    messages: [{ role: 'user', content: `question ${n} NUL \0 lone \ud800 bird 🐦 "quoted" \\ \u2028` }],
    tokens: 10,
    plainTokens: 9,
    mark: null,
    createdAt: 1_700_000_000_000 + n,
    ...more,
  };
}

interface Kind {
  readonly name: string;
  readonly answers: boolean;
  /** `null` for the journal's own database. */
  open(): Promise<TurnArchive | null>;
}

async function openOther(kind: string): Promise<TurnArchive> {
  const database = await servers.find((one) => one.kind === kind)!.create();
  created.push(database);
  const opened = await openDatabase({ DATABASE_URL: database.url });
  return new DatabaseTurnArchive(opened.database, () => opened.close());
}

const kinds: readonly Kind[] = [
  { name: 'the journal’s database', answers: true, open: async () => null },
  { name: 'memory', answers: true, open: async () => new MemoryTurnArchive() },
  { name: 'files', answers: true, open: () => FileTurnArchive.open(folder, 0) },
  {
    name: 'redis',
    answers: redisUrl !== null,
    open: async () => new RedisTurnArchive(new Redis(redisUrl!), `test-${process.pid}-${Date.now()}:`, 60),
  },
  ...servers.map(({ kind, answers }) => ({
    name: `another ${kind}`,
    answers,
    open: () => openOther(kind),
  })),
];

for (const kind of kinds) {
  const isLeftOut = !kind.answers && !process.env['CI'];
  (isLeftOut ? describe.skip : describe)(`turns in ${kind.name}`, () => {
    let journal: OpenDatabase;
    let archive: TurnArchive | null;
    let store: TurnStore;
    beforeAll(async () => {
      if (!kind.answers) throw new Error(`No ${kind.name} answers: start it, or say where it is (TEST_REDIS_URL, …).`);
      journal = await openDatabase();
      archive = await kind.open();
      store = archive
        ? new ProjectedTurnStore(new SessionChangeStore(journal.database), archive)
        : new JournalTurnStore(journal.database);
    });
    afterAll(async () => {
      await archive?.close();
      await journal?.close();
    });

    const commit = (...statements: Parameters<OpenDatabase['database']['commit']>[0][number][]) =>
      journal.database.commit(statements);
    const fill = async (key: ReturnType<typeof fresh>, turns: number, more?: (n: number) => Partial<StoredTurn>) => {
      for (let n = 1; n <= turns; n++) await commit(...store.append(key, turn(n, more?.(n))));
    };
    const numbers = async (key: ReturnType<typeof fresh>, query: Partial<TurnQuery>) =>
      (await store.read(key, { through: ALL, newest: 0, ...query })).map((one) => one.turn);

    it('come back byte for byte, in order', async () => {
      const key = fresh();
      await fill(key, 3);
      expect(await store.read(key, { through: ALL, newest: 9 })).toEqual([turn(1), turn(2), turn(3)]);
      expect(await store.after(key, 1, 9)).toEqual([turn(2), turn(3)]);
      expect(await store.after(key, 0, 2)).toEqual([turn(1), turn(2)]);
      expect(await store.after(key, 3, 2)).toEqual([]);
    });

    it('are of their tenant and session alone', async () => {
      const key = fresh();
      await fill(key, 1);
      expect(await numbers({ ...key, tenant: 'other' }, { newest: 9 })).toEqual([]);
      expect(await numbers({ ...key, id: key.id.toUpperCase() }, { newest: 9 })).toEqual([]);
    });

    it('are found by what a query names, each once', async () => {
      const key = fresh();
      await fill(key, 130, (n) => ({ tokens: n % 2 ? 10 : 30 }));
      await commit(...store.mark(key, 4, PINNED), ...store.refer(key, 7, 9), ...store.refer(key, 8, 20));
      expect(await numbers(key, { newest: 3 })).toEqual([128, 129, 130]);
      expect(await numbers(key, { newest: 3, through: 5 })).toEqual([3, 4, 5]);
      expect(await numbers(key, { newest: 2, first: 2, marked: 2 })).toEqual([1, 2, 4, 8, 129, 130]);
      expect(await numbers(key, { newest: 2, first: 9, through: 5 })).toEqual([1, 2, 3, 4, 5]);
      expect(await numbers(key, { newest: 100, maxTokens: 71 })).toEqual([127, 128, 129, 130]);
      expect(await numbers(key, { newest: 2, maxTokens: 1000 })).toEqual([129, 130]);
      expect(await numbers(key, { newest: 120, maxTokens: 1500 })).toHaveLength(75);
      expect(await numbers(key, { only: [130, 3, 999] })).toEqual([3, 130]);
      expect(await numbers(key, {})).toEqual([]);
    });

    it('keep the higher mark of two references, and lose it when they are unpinned', async () => {
      const key = fresh();
      await fill(key, 3);
      await commit(...store.refer(key, 2, 9), ...store.refer(key, 2, 4), ...store.mark(key, 9, 5));
      expect((await store.read(key, { through: ALL, newest: 9 })).map(({ mark }) => mark)).toEqual([null, 9, null]);
      await commit(...store.mark(key, 2, null));
      expect(await numbers(key, { marked: 9 })).toEqual([]);
    });

    it('are copied, and removed up to one', async () => {
      const [key, branch] = [fresh(), fresh()];
      await fill(key, 5);
      await commit(...store.mark(key, 2, PINNED), ...(await store.copy(key, branch, 3)));
      expect(await store.read(branch, { through: ALL, newest: 9 })).toEqual([
        turn(1),
        turn(2, { mark: PINNED }),
        turn(3),
      ]);
      await commit(...store.remove(key, 3));
      expect(await numbers(key, { newest: 9, first: 9, marked: 9 })).toEqual([4, 5]);
      await commit(...store.append(key, turn(6)));
      expect(await numbers(key, { newest: 2 })).toEqual([5, 6]);
      await commit(...store.remove(key, 6));
      expect(await numbers(key, { newest: 9 })).toEqual([]);
      expect(await numbers(branch, { newest: 9 })).toEqual([1, 2, 3]);
    });

    it('keep a message of 1 MB', async () => {
      const key = fresh();
      const long = turn(1, { messages: [{ role: 'user', content: '🐦"\\'.repeat(200_000) }] });
      await commit(...store.append(key, long));
      expect(JSON.stringify(await store.after(key, 0, 1)) === JSON.stringify([long])).toBe(true);
    });

    if (kind.name === 'the journal’s database') return;

    it('are the same when what was decided is done twice, and wait while it cannot be done', async () => {
      await assert(
        asyncProperty(array(integer({ min: 0, max: 8 }), { minLength: 1, maxLength: 6 }), async (fails) => {
          const key = fresh();
          const changes = new SessionChangeStore(journal.database);
          const left = [...fails];
          const moody = new Proxy(archive!, {
            get: (target, name) => {
              const found = Reflect.get(target, name) as unknown;
              if (typeof found !== 'function') return found;
              return (...args: unknown[]) => {
                // Done, but the answer is lost.
                const done = (found as (...given: unknown[]) => Promise<unknown>).apply(target, args);
                const isLost =
                  (name === 'put' || name === 'remove' || name === 'setMark') && left.length > 0 && left.pop()! > 4;
                return isLost ? done.then(() => Promise.reject(new Error('gone'))) : done;
              };
            },
          });
          const restless = new ProjectedTurnStore(changes, moody);
          const settle = () => restless.settle(key).catch(() => undefined);
          for (let n = 1; n <= 4; n++) {
            await commit(...restless.append(key, turn(n)));
            await settle();
          }
          await commit(...restless.mark(key, 3, PINNED), ...restless.remove(key, 1));
          for (let i = 0; i <= fails.length; i++) await settle();
          expect(await changes.waiting(key)).toEqual([]);
          expect(await store.read(key, { through: ALL, newest: 9 })).toEqual([
            turn(2),
            turn(3, { mark: PINNED }),
            turn(4),
          ]);
        }),
        { numRuns: 15 },
      );
    });
  });
}

describe('session files', () => {
  let place: string;
  let files: FileTurnArchive;
  const KEY = { tenant: 't', id: 's' };
  const open = (ttlMs = 0) => FileTurnArchive.open(place, ttlMs);
  const path = () => join(place, readdirSync(place)[0]!);
  beforeEach(async () => {
    place = mkdtempSync(join(folder, 'files-'));
    files = await open();
    await files.put(KEY, [turn(1), turn(2)]);
  });

  it('are read again by another process, one JSON object a line', async () => {
    await files.setMark(KEY, 1, PINNED);
    const again = await open();
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

  it('lose nothing but a torn last line, wherever it is torn', async () => {
    const whole = await readFile(path());
    const lines = whole.toString().trimEnd().split('\n');
    const lastAt = whole.length - Buffer.byteLength(`${lines.at(-1)}\n`);
    for (const cut of [lastAt + 1, lastAt + 40, whole.length - 1]) {
      await writeFile(path(), whole.subarray(0, cut));
      const again = await open();
      expect(await again.last(KEY)).toBe(1);
      await again.put(KEY, [turn(2), turn(3)]);
      expect(await (await open()).get(KEY, [1, 2, 3])).toEqual([turn(1), turn(2), turn(3)]);
    }
  });

  it('say what is wrong with one that is damaged or another session’s', async () => {
    const other = { tenant: 't', id: 'other' };
    await files.put(other, [turn(1)]);
    const [a, b] = readdirSync(place).map((name) => join(place, name));
    await writeFile(a!, await readFile(b!));
    const outcomes = await Promise.allSettled([KEY, other].map(async (key) => (await open()).last(key)));
    expect(outcomes.filter(({ status }) => status === 'rejected')).toMatchObject([
      { reason: { code: 'SESSION_FILE_DAMAGED', message: expect.stringContaining('another session') } },
    ]);
    await appendFile(b!, 'nonsense\n');
    await expect(Promise.all([KEY, other].map(async (key) => (await open()).last(key)))).rejects.toMatchObject({
      code: 'SESSION_FILE_DAMAGED',
    });
  });

  it('go when they were not changed for their time', async () => {
    expect(await files.prune()).toBe(0);
    const short = await open(1000);
    expect(await short.prune(Date.now())).toBe(0);
    expect(await short.prune(Date.now() + 2000)).toBe(1);
    expect(readdirSync(place)).toEqual([]);
    expect(await short.last(KEY)).toBe(0);
  });
});
