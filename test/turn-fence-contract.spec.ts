import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import { PINNED } from '../src/session/index.js';
import { ownerOf, ProjectedTurnStore, TurnOutbox } from '../src/session/projection/projected-turn-store.js';
import { RedisTurnArchive } from '../src/session/projection/redis-turn-archive.js';
import type { TurnArchive, TurnChange } from '../src/session/projection/turn-archive.js';
import { openDatabase, type OpenDatabase } from './support/run-host.js';
import { storedTurn as turn } from './support/stored-turn.js';
import { testRedisUrl } from './support/test-databases.js';
import { REDIS_PREFIX, turnPlaces } from './support/turn-archives.js';

Logger.overrideLogger(false);
const { places, clear } = await turnPlaces();
afterAll(clear);
const redisUrl = await testRedisUrl();

const ALL = Number.MAX_SAFE_INTEGER;
const DAY_MS = 86_400_000;
let count = 0;
/** The key of an unused session. */
const fresh = () => ({ tenant: 'te nant/é', id: `f${count++}` });
const append = (n: number, runId = `run-${n}`): TurnChange => ({ kind: 'append', turn: turn(n, { runId }) });
const remove = (through: number): TurnChange => ({ kind: 'remove', through });

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);

/** A client of a process that dies after this number of sent changes. */
function diesAfter(redis: Redis, changes: number): Redis {
  let left = changes;
  const send = redis.eval.bind(redis) as (...given: unknown[]) => Promise<unknown>;
  const dying = async (...given: unknown[]) => {
    if (left-- === 0) throw new Error('dead');
    return send(...given);
  };
  return Object.assign(redis, { eval: dying });
}

for (const place of places.filter(({ isShared }) => isShared)) {
  const isLeftOut = !place.answers && !process.env['CI'];
  (isLeftOut ? describe.skip : describe)(`changes of turns in ${place.name}`, () => {
    let archive: TurnArchive;
    let journal: OpenDatabase;
    beforeAll(async () => {
      if (!place.answers) throw new Error(`No ${place.name} answers: start it, or say where it is.`);
      [archive, journal] = [await place.open(), await openDatabase()];
    });
    afterAll(async () => {
      await archive?.close();
      await journal?.close();
    });

    const there = async (key: ReturnType<typeof fresh>) =>
      (await archive.get(key, [1, 2, 3, 4, 5])).map(({ runId }) => runId);

    it('are applied once, and not after later ones', async () => {
      const key = fresh();
      expect(await archive.apply(key, 10, append(1))).toBe(10);
      expect(await archive.apply(key, 10, append(1, 'other'))).toBe(10);
      expect(await archive.apply(key, 12, { kind: 'mark', turn: 1, mark: PINNED })).toBe(12);
      expect(await archive.apply(key, 11, { kind: 'mark', turn: 1, mark: null })).toBe(12);
      expect(await archive.apply(key, 11, append(2))).toBe(12);
      expect(await archive.apply(key, 11, { kind: 'drop', turns: [1] })).toBe(12);
      expect([await there(key), await archive.marks(key)]).toEqual([['run-1'], new Map([[1, PINNED]])]);
    });

    it('restore no removed turn and change no newer turn when they arrive late', async () => {
      const key = fresh();
      await archive.apply(key, 1, append(1));
      await archive.apply(key, 3, remove(2));
      expect(await archive.apply(key, 2, append(2))).toBe(3);
      expect([await there(key), await archive.span(key)]).toMatchObject([[], { last: 0 }]);
      await archive.apply(key, 4, append(1, 'anew'));
      for (const late of [append(1), append(2), remove(5)]) expect(await archive.apply(key, 2, late)).toBe(4);
      expect(await there(key)).toEqual(['anew']);
    });

    it('replace turns from before changes were counted', async () => {
      const key = fresh();
      await archive.apply(key, 1, append(1));
      await archive.forgetDone(key);
      await archive.apply(key, 1, append(1));
      expect(await there(key)).toEqual(['run-1']);
    });

    it('are applied by many nodes at once as by one', async () => {
      const key = fresh();
      const changes = [append(1), append(2), remove(1), append(3), { kind: 'refer', turn: 2, by: 3 } as const];
      const node = async () => {
        for (const [at, change] of changes.entries()) await archive.apply(key, at + 1, change);
      };
      await Promise.all(Array.from({ length: 8 }, node));
      expect([await there(key), await archive.marks(key)]).toEqual([['run-2', 'run-3'], new Map([[2, 3]])]);
    });

    it('are remembered for a day, while others are pruned', async () => {
      const key = fresh();
      await archive.apply(key, 2, append(1));
      await archive.prune(Date.now() + DAY_MS - 60_000);
      expect(await archive.apply(key, 1, append(1, 'late'))).toBe(2);
      await archive.apply(key, 3, remove(1));
      const pruned = Array.from({ length: 5 }, () => archive.prune(Date.now() + DAY_MS + 1000));
      await Promise.all([archive.apply(key, 4, append(1, 'anew')), ...pruned]);
      expect(await there(key)).toEqual(['anew']);
    });

    if (place.name === 'redis') {
      it.each([
        ['the first turns', remove(1100)],
        ['turns in the middle', { kind: 'drop', turns: range(2, 1100) } as const],
      ])('that remove %s are applied in parts, and completely after a crash in between', async (_what, change) => {
        const key = fresh();
        for (const n of [1, 2, 700, 1100, 1101]) await archive.apply(key, n, append(n));
        await archive.apply(key, 1102, { kind: 'mark', turn: 700, mark: PINNED });
        const redis = new Redis(redisUrl!);
        const dying = new RedisTurnArchive(diesAfter(redis, 1), REDIS_PREFIX, 60);
        await expect(dying.apply(key, 1103, change)).rejects.toThrow('dead');
        expect(await redis.hexists(`${REDIS_PREFIX}{te%20nant%2F%C3%A9:${key.id}}:turns`, '700')).toBe(1);
        redis.disconnect();
        expect(await archive.apply(key, 1103, change)).toBe(1103);
        const left = await archive.get(key, [1, 2, 700, 1100, 1101]);
        expect(left.map((one) => one.turn)).toEqual(change.kind === 'drop' ? [1, 1101] : [1101]);
        expect((await archive.marks(key)).size).toBe(0);
      });
    }

    it('continue when the journal was restored to an earlier state', async () => {
      const key = fresh();
      const changes = new TurnOutbox(journal.database);
      const store = new ProjectedTurnStore(changes, archive);
      for (const n of [1, 2]) await archive.apply(key, ALL - 3 + n, append(n, `later ${n}`));
      await journal.database.commit([...store.append(key, turn(1)), ...store.append(key, turn(2))]);
      const turns = await store.read(key, { through: 2, newest: 9 });
      expect(turns.map(({ runId }) => runId)).toEqual(['run-1', 'run-2']);
      expect(await changes.pending(ownerOf(key))).toEqual([]);
    });
  });
}
