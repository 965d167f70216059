import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { deploy, storeOn, suffer } from '../support/chaos-outages.js';
import { namedKills, POINTS, randomKills, SOME_POINTS, type Kill } from '../support/chaos-points.js';
import { startPrivatePostgres, startPrivateRedis } from '../support/chaos-private-servers.js';
import { chaosStores, type ChaosStore } from '../support/chaos-stores.js';
import { endure, type Outcome } from '../support/chaos-supervisor.js';
import { toTable, type Totals, type Verdict } from '../support/chaos-totals.js';
import { buildIfStale, killAll } from '../support/process.js';
import { testServers } from '../support/test-databases.js';
import { IS_LONG_FORM } from '../support/long-form.js';

const SEED = Number(process.env['CHAOS_SEED'] ?? (IS_LONG_FORM ? Date.now() % 1e9 : 1));
const RANDOM_POINTS = process.env['CHAOS_RANDOM_POINTS'] ?? (IS_LONG_FORM ? 1000 : undefined);
const ONLY = process.env['CHAOS_STORES']?.split(',');
const PROGRESS_EVERY = 50;

/** MariaDB is also tested with Redis. */
const LEFT_OUT = IS_LONG_FORM ? [] : ['mariadb'];
const stores = (await chaosStores()).filter(({ name }) => ONLY?.includes(name) ?? !LEFT_OUT.includes(name));
const seen = new Map<string, Totals>();

const TIMEOUT_MS = IS_LONG_FORM ? 12 * 3_600_000 : 900_000;
vi.setConfig({ testTimeout: TIMEOUT_MS, hookTimeout: TIMEOUT_MS });
beforeAll(() => buildIfStale());
afterEach(() => killAll());
afterAll(() => {
  if (IS_LONG_FORM) print(`seed ${SEED}\n${toTable(seen)}`);
});

function print(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Prints the progress at intervals. */
function progressOf(name: string, all: number) {
  let printed = 0;
  return (totals: Totals) => {
    if (!IS_LONG_FORM || (totals.points - printed < PROGRESS_EVERY && totals.points < all)) return;
    printed = totals.points;
    print(`${new Date().toISOString()} ${name}: ${totals.points} of ${all} points, ${JSON.stringify(totals)}`);
  };
}

async function endureAll(
  store: ChaosStore,
  title: string,
  kills: readonly Kill[],
  killsAWorld: number,
): Promise<Outcome> {
  const name = `${store.name}, ${title}`;
  const progress = progressOf(name, kills.length);
  const outcome = await endure(store, { kills, killsAWorld, worlds: 2, seed: SEED, progress });
  seen.set(name, outcome.totals);
  return outcome;
}

/**
 * Expects all invariants: no acknowledged message lost, no `once` effect repeated, each gap visible, each run ended,
 * history complete.
 */
function expectRulesHeld({ verdicts }: Outcome): void {
  expect(verdicts.flatMap(({ violations }) => violations)).toEqual([]);
}

for (const [at, store] of stores.entries()) {
  const isLeftOut = !store.answers && !process.env['CI'];
  (isLeftOut ? describe.skip : describe)(`processes that are killed, on ${store.name}`, () => {
    beforeAll(() => {
      if (!store.answers)
        throw new Error(`No ${store.name} answers: start it, or say where it is (TEST_POSTGRES_URL, …).`);
    });

    if (IS_LONG_FORM || store.name === 'sqlite') {
      const points = IS_LONG_FORM ? POINTS : SOME_POINTS;
      it(`keep every promise at ${points.length} named points`, async () => {
        const outcome = await endureAll(store, 'named', namedKills(points, SEED), IS_LONG_FORM ? 2 : 8);
        expectRulesHeld(outcome);
        expect(outcome.missed).toEqual([]);
      });
      if (!IS_LONG_FORM) return;
    }

    // In the short form each process that shares a store is killed once, at a different point per store.
    const count = Number(RANDOM_POINTS ?? store.nodes);
    const seed = IS_LONG_FORM ? SEED : SEED + at;
    it(`keep every promise at ${count} random points`, async () => {
      expectRulesHeld(await endureAll(store, 'random', randomKills(count, seed), 10));
    });
  });
}

/** The following tests need private servers and much time, so they run in the whole form only. */
if (IS_LONG_FORM && !ONLY) {
  describe('a cluster', () => {
    const expectNothing = (name: string, { totals, violations }: Verdict) => {
      seen.set(name, totals);
      expect(violations).toEqual([]);
    };

    it('recovers from repeated crashes of its PostgreSQL', async () => {
      const postgres = await startPrivatePostgres();
      const crash = () => postgres.crash();
      const store = storeOn('private postgres', { DATABASE_URL: postgres.url });
      const verdict = await suffer(store, {}, [crash, crash, crash, crash, crash], SEED);
      await postgres.stop();
      expectNothing('postgres that crashes', verdict);
    });

    it.each(['postgres', 'mariadb'])('recovers from a Redis that lost its data, on %s', async (kind) => {
      const redis = await startPrivateRedis();
      const [flush, crash] = [() => redis.flush(), () => redis.crash()];
      const server = (await testServers()).find((one) => one.kind === kind);
      const store = storeOn(`${kind} with private redis`, { REDIS_URL: redis.url }, server);
      // A low concurrency, so that the queue always contains runs when Redis loses it.
      const verdict = await suffer(store, { RUN_CONCURRENCY: '2' }, [flush, crash, flush, crash, flush], SEED);
      await redis.stop();
      expectNothing(`${kind}, redis that forgets`, verdict);
    });

    it.each([
      ['can replay the old runs', [1, 2]],
      ['cannot replay the old runs', [2]],
    ])('survives a rolling deployment of a release that %s', async (what, replayed) => {
      const server = (await testServers()).find(({ kind }) => kind === 'postgres');
      const verdict = await deploy(storeOn('postgres', {}, server), replayed, SEED);
      expectNothing(`deploy that ${what}`, verdict);
    });
  });
}

describe('the invariant checks', () => {
  const sqlite = stores.find(({ name }) => name === 'sqlite');
  const broken = async (sabotage: string, kills: readonly Kill[]) => {
    const env = { CHAOS_SABOTAGE: sabotage };
    return endure(sqlite!, { kills, killsAWorld: kills.length, worlds: 1, seed: SEED, env });
  };
  if (!sqlite) {
    it.todo('detect sabotage if SQLite is among the databases');
    return;
  }

  it('detect an engine that does not journal its intents', async () => {
    const { totals } = await broken(
      'intents',
      Array.from({ length: 2 }, () => ({ point: 'once.after', nth: 2 }) as const),
    );
    expect(totals.repeated).toBeGreaterThan(0);
  });

  it('detect an engine that reports durability too early', async () => {
    const { totals } = await broken(
      'durability',
      Array.from({ length: 2 }, () => ({ point: 'event.after', nth: 9 }) as const),
    );
    expect(totals.lost).toBeGreaterThan(0);
  });
});
