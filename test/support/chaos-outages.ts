import { setTimeout as passes } from 'node:timers/promises';
import { judge, storeReport, type Verdict } from './chaos-totals.js';
import { CLUSTER, readFrom, type ChaosStore } from './chaos-stores.js';
import { ChaosWorld } from './chaos-world.js';
import type { TestServer } from './test-databases.js';

/** Interval between two outages, in ms. */
const PEACE_MS = 1_000;

/** A cluster on servers that are not shared with other tests. */
export function storeOn(name: string, env: Readonly<Record<string, string>>, database?: TestServer): ChaosStore {
  return {
    name,
    answers: true,
    nodes: 2,
    open: async () => {
      const created = await database?.create();
      const url = created?.url ?? env['DATABASE_URL']!;
      const kind = created?.kind ?? 'postgres';
      return {
        env: { ...CLUSTER, ...env, DATABASE_URL: url },
        query: (sql) => readFrom(kind, url, sql),
        drop: async () => created?.drop(),
      };
    },
  };
}

type Disaster = (world: ChaosWorld) => Promise<void>;

/** Processes work while their servers fail repeatedly, or while the processes themselves are replaced. */
export async function suffer(
  store: ChaosStore,
  env: Readonly<Record<string, string>>,
  disasters: readonly Disaster[],
  seed: number,
): Promise<Verdict> {
  const world = await ChaosWorld.open(store, seed);
  world.log(`${store.name}, seed ${seed}`);
  const nodes = [await world.serve(env), await world.serve(env)];
  const peace = new AbortController();
  const end = new Promise((resolve) => peace.signal.addEventListener('abort', resolve));
  const loads = nodes.map((node) => world.load(node, end));
  for (const disaster of disasters) {
    await passes(PEACE_MS);
    world.log('a disaster begins');
    await disaster(world);
    world.log('it is over');
  }
  await passes(PEACE_MS);
  peace.abort();
  await Promise.all(loads);
  await world.settle(nodes[0]!);
  await Promise.all(nodes.map((node) => node.kill()));
  return conclude(world, store, disasters.length);
}

/**
 * Processes of an old release are killed one after the other, and replaced by those of a new one.
 * @param replayed the versions of the loop that the new release, whose own is 2, can replay
 */
export async function deploy(store: ChaosStore, replayed: readonly number[], seed: number): Promise<Verdict> {
  const world = await ChaosWorld.open(store, seed);
  world.log(`${store.name}, seed ${seed}, a new release replays ${replayed.join()}`);
  const before = { CHAOS_LOOP: '1', CHAOS_LOOPS: '1' };
  const old = [await world.serve(before), await world.serve(before)];
  const peace = new AbortController();
  const end = new Promise((resolve) => peace.signal.addEventListener('abort', resolve));
  const loads = old.map((node) => world.load(node));
  const fresh = [];
  for (const node of old) {
    const next = await world.serve({ CHAOS_LOOP: '2', CHAOS_LOOPS: replayed.join() });
    fresh.push(next);
    loads.push(world.load(next, end));
    await passes(PEACE_MS);
    await node.kill();
    world.log('a process of the old release died');
    await passes(PEACE_MS);
  }
  if (!replayed.includes(1)) world.outdatedFrom = Date.now() - PEACE_MS;
  peace.abort();
  await Promise.all(loads);
  await world.settle(fresh[0]!);
  await Promise.all(fresh.map((node) => node.kill()));
  return conclude(world, store, old.length);
}

async function conclude(world: ChaosWorld, store: ChaosStore, points: number): Promise<Verdict> {
  const verdict = await judge(world, points);
  await world.close();
  storeReport(verdict, `${store.name}-${world.name}`);
  return verdict;
}
