import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { array, assert, asyncProperty, integer } from 'fast-check';
import { Redis } from 'ioredis';
import { PINNED, type StoredTurn } from '../src/session/index.js';
import { ownerOf, ProjectedTurnStore, TurnOutbox } from '../src/session/projection/projected-turn-store.js';
import type { TurnArchive } from '../src/session/projection/turn-archive.js';
import { JournalTurnStore } from '../src/session/turns/journal-turn-store.js';
import type { TurnQuery, TurnStore } from '../src/session/turns/turn-store.js';
import { openDatabase, type OpenDatabase } from './support/run-host.js';
import { storedTurn as turn } from './support/stored-turn.js';
import { testRedisUrl } from './support/test-databases.js';
import { REDIS_PREFIX, turnPlaces } from './support/turn-archives.js';
import { PLAIN_CIPHER } from '../src/security/encryption/index.js';

Logger.overrideLogger(false);
const redisUrl = await testRedisUrl();
const { places, clear } = await turnPlaces();
afterAll(clear);

const ALL = Number.MAX_SAFE_INTEGER;
let count = 0;
/** The key of an unused session. */
const fresh = () => ({ tenant: 'te nant/é', id: `s${count++}` });

const kinds = [{ name: 'the journal’s database', answers: true, open: async () => null }, ...places];

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
        ? new ProjectedTurnStore(new TurnOutbox(journal.database), archive)
        : new JournalTurnStore(journal.database, PLAIN_CIPHER);
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

    it('are read byte for byte, in order', async () => {
      const key = fresh();
      await fill(key, 3);
      expect(await store.read(key, { through: ALL, newest: 9 })).toEqual([turn(1), turn(2), turn(3)]);
      expect(await store.after(key, 1, 9)).toEqual([turn(2), turn(3)]);
      expect(await store.after(key, 0, 2)).toEqual([turn(1), turn(2)]);
      expect(await store.after(key, 3, 2)).toEqual([]);
    });

    it('belong to their tenant and session only', async () => {
      const key = fresh();
      await fill(key, 1);
      expect(await numbers({ ...key, tenant: 'other' }, { newest: 9 })).toEqual([]);
      expect(await numbers({ ...key, id: key.id.toUpperCase() }, { newest: 9 })).toEqual([]);
    });

    it('are found by every part of a query, each once', async () => {
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
      expect(await numbers(key, { newest: 120, maxMessages: 2 })).toEqual([129, 130]);
      expect(await numbers(key, { newest: 120, maxMessages: 80 })).toHaveLength(80);
      expect(await numbers(key, { newest: 120, maxMessages: 900, first: 1 })).toHaveLength(121);
      expect(await numbers(key, { only: [130, 3, 999] })).toEqual([3, 130]);
      expect(await numbers(key, {})).toEqual([]);
    });

    it('retain the higher mark of two references, and lose it when they are unpinned', async () => {
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
      await commit(...store.mark(key, 2, PINNED));
      await commit(...(await store.copy(key, branch, 3)));
      expect(await store.read(branch, { through: ALL, newest: 9 })).toEqual([
        turn(1),
        turn(2, { mark: PINNED }),
        turn(3),
      ]);
      await commit(...store.remove(key, 3));
      expect(await numbers(key, { newest: 9, first: 9, marked: 9 })).toEqual([4, 5]);
      expect(await numbers(key, { first: 1 })).toEqual([4]);
      expect((await store.after(key, 0, 1)).map((one) => one.turn)).toEqual([4]);
      await commit(...store.append(key, turn(6)));
      expect(await numbers(key, { newest: 2 })).toEqual([5, 6]);
      await commit(...store.remove(key, 6));
      expect(await numbers(key, { newest: 9 })).toEqual([]);
      expect(await numbers(branch, { newest: 9 })).toEqual([1, 2, 3]);
    });

    it('are dropped from between others', async () => {
      const key = fresh();
      await fill(key, 6);
      await commit(...store.mark(key, 2, PINNED), ...store.mark(key, 4, PINNED));
      await commit(...store.drop(key, [2, 3, 9]));
      await commit(...store.drop(key, [2]));
      expect(await numbers(key, { newest: 9 })).toEqual([1, 4, 5, 6]);
      expect(await numbers(key, { newest: 1, first: 1 })).toEqual([1, 6]);
      expect(await numbers(key, { marked: 9 })).toEqual([4]);
      expect((await store.after(key, 1, 2)).map((one) => one.turn)).toEqual([4, 5]);
      await commit(...store.append(key, turn(7)));
      expect(await numbers(key, { newest: 9, maxTokens: 25 })).toEqual([5, 6, 7]);
      await commit(...store.drop(key, [1, 7]));
      expect(await numbers(key, { newest: 2, first: 1 })).toEqual([4, 5, 6]);
    });

    it('store a message of 1 MB', async () => {
      const key = fresh();
      const long = turn(1, { messages: [{ role: 'user', content: '🐦"\\'.repeat(200_000) }] });
      await commit(...store.append(key, long));
      expect(JSON.stringify(await store.after(key, 0, 1)) === JSON.stringify([long])).toBe(true);
    });

    if (kind.name === 'the journal’s database') return;

    if (kind.name === 'redis') {
      it('expire with their marks', async () => {
        const key = fresh();
        await fill(key, 1);
        await commit(...store.mark(key, 1, PINNED));
        await store.read(key, { through: ALL, newest: 1 });
        const redis = new Redis(redisUrl!);
        const names = await redis.keys(`${REDIS_PREFIX}*${key.id}}:*`);
        const left = await Promise.all(names.map((name) => redis.ttl(name)));
        redis.disconnect();
        const ofDone = left.splice(
          names.findIndex((name) => name.endsWith(':done')),
          1,
        );
        expect([left.length, left.every((seconds) => seconds > 0 && seconds <= 60)]).toEqual([2, true]);
        expect(Math.ceil(ofDone[0]! / 60)).toBe(24 * 60);
      });
    }

    it('are the same when a change is applied twice, and wait while it fails', async () => {
      await assert(
        asyncProperty(array(integer({ min: 0, max: 8 }), { minLength: 1, maxLength: 6 }), async (fails) => {
          const key = fresh();
          const changes = new TurnOutbox(journal.database);
          const left = [...fails];
          const moody = new Proxy(archive!, {
            get: (target, name) => {
              const found = Reflect.get(target, name) as unknown;
              if (typeof found !== 'function') return found;
              return (...args: unknown[]) => {
                // The change is applied, but its reply is lost.
                const done = (found as (...given: unknown[]) => Promise<unknown>).apply(target, args);
                const isLost = name === 'apply' && left.length > 0 && left.pop()! > 4;
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
          expect(await changes.pending(ownerOf(key))).toEqual([]);
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
