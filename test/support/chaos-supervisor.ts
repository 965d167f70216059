import { describeKill, type Kill } from './chaos-points.js';
import type { ChaosStore } from './chaos-stores.js';
import { add, judge, keep, NOTHING, type Totals, type Verdict } from './chaos-totals.js';
import { ChaosWorld } from './chaos-world.js';

export interface Ordeal {
  readonly kills: readonly Kill[];
  /** How many processes die on one database before all that is left must come to its end and is looked at. */
  readonly killsAWorld: number;
  /** Databases at once. */
  readonly worlds: number;
  readonly seed: number;
  /** Of those processes; the last one, which is not killed, goes without. */
  readonly env?: Readonly<Record<string, string>>;
  /** Told after each world. */
  readonly progress?: (totals: Totals) => void;
}

export interface Outcome {
  readonly totals: Totals;
  readonly verdicts: readonly Verdict[];
  /** Points that were never come to. */
  readonly missed: readonly string[];
}

/** Kills processes on many databases, and judges each. */
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
  if (!env?.['CHAOS_SABOTAGE']) keep(verdict, `${store.name}-${world.name}`);
  return verdict;
}

/** A random commit may be later than all that its process had to do. */
function isRandom(kill: Kill): boolean {
  return !('point' in kill) || kill.point.startsWith('commit.');
}

function chunks<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));
}
