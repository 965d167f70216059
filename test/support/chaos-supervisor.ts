import { describeKill, type Kill } from './chaos-points.js';
import type { ChaosStore } from './chaos-stores.js';
import { add, judge, storeReport, NOTHING, type Totals, type Verdict } from './chaos-totals.js';
import { ChaosWorld } from './chaos-world.js';

export interface Ordeal {
  readonly kills: readonly Kill[];
  /** Number of processes killed on one database before its runs must end and are checked. */
  readonly killsAWorld: number;
  /** Number of concurrent databases. */
  readonly worlds: number;
  readonly seed: number;
  /** Variables of those processes; the last process, which is not killed, runs without them. */
  readonly env?: Readonly<Record<string, string>>;
  /** Called after each world. */
  readonly progress?: (totals: Totals) => void;
}

export interface Outcome {
  readonly totals: Totals;
  readonly verdicts: readonly Verdict[];
  /** Points that no process reached. */
  readonly missed: readonly string[];
}

/** Kills processes on many databases, and checks each. */
export async function endure(store: ChaosStore, ordeal: Ordeal): Promise<Outcome> {
  const verdicts: Verdict[] = [];
  const missed: string[] = [];
  let totals = NOTHING;
  const worlds = chunks(ordeal.kills, ordeal.killsAWorld).entries();
  const worker = async () => {
    for (const [at, kills] of worlds) {
      const verdict = await endureOne(store, kills, ordeal.seed + at, ordeal.env, missed);
      totals = add(totals, verdict.totals);
      verdicts.push(verdict);
      ordeal.progress?.(totals);
    }
  };
  await Promise.all(Array.from({ length: ordeal.worlds }, worker));
  return { totals, verdicts, missed };
}

async function endureOne(
  store: ChaosStore,
  kills: readonly Kill[],
  seed: number,
  env: Ordeal['env'],
  missed: string[],
): Promise<Verdict> {
  const world = await ChaosWorld.open(store, seed);
  world.story.push(`${store.name}, seed ${seed}`);
  const unreached = await world.endure(kills, env);
  missed.push(...unreached.filter((kill) => !isRandom(kill)).map(describeKill));
  await world.calm();
  const verdict = await judge(world, kills.length);
  await world.close();
  if (!env?.['CHAOS_SABOTAGE']) storeReport(verdict, `${store.name}-${world.name}`);
  return verdict;
}

/** A random commit number may exceed the commits of its process. */
function isRandom(kill: Kill): boolean {
  return !('point' in kill) || kill.point.startsWith('commit.');
}

function chunks<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));
}
