import { beforeEach, expect, it } from 'vitest';
import { clusterStores, describeClusters } from './support/cluster-stores.js';
import type { ServerProcess } from './support/process.js';
import { ProcessWorld } from './support/process-world.js';
import { describeInLongForm } from './support/long-form.js';

const SCHEDULES = 20;
/** Between the times of two schedules, in ms. */
const GAP = 50;

const world = ProcessWorld.prepare();

beforeEach(() => {
  world.llm.always({ text: 'done' });
});

/** Creates schedules whose times are a short time apart. @returns the time of the middle one, epoch ms */
async function make(server: ServerProcess): Promise<number> {
  const first = Date.now() + 2_500;
  const times = Array.from({ length: SCHEDULES }, (_, at) => first + at * GAP);
  await Promise.all(
    times.map(async (at, number) => {
      const { status } = await server.post('/api/schedules', { query: `schedule ${number}.`, at: String(at) });
      expect(status).toBe(201);
    }),
  );
  return times[SCHEDULES / 2]!;
}

async function untilTime(at: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, Math.max(at - Date.now(), 0)));
}

interface Listed {
  readonly query_preview: string;
  readonly status: string;
}

async function questions(server: ServerProcess): Promise<string[]> {
  const { body } = await server.get('/api/runs?limit=200');
  return (body['runs'] as unknown as Listed[]).map((run) => `${run.query_preview} ${run.status}`).toSorted();
}

const ALL = Array.from({ length: SCHEDULES }, (_, number) => `schedule ${number}. completed`).toSorted();

describeInLongForm('the schedules of a process that was killed', () => {
  it('have one run each', async () => {
    const first = await world.start();
    await untilTime(await make(first));
    await first.kill();
    const second = await world.start();
    await expect.poll(() => questions(second)).toEqual(ALL);
    // A further round finds nothing to start.
    await untilTime(Date.now() + 1_000);
    expect(await questions(second)).toEqual(ALL);
  });
});

describeClusters('the schedules of two nodes', await clusterStores(), (store) => {
  world.share(store, { CLUSTER_LEASE_MS: '5000', CLUSTER_CHECK_MS: '300' });

  it('have one run each, also if a node is killed', async () => {
    const [first, second] = await Promise.all([world.start(), world.start()]);
    const middle = await make(first);
    // Both nodes read all of them, and compete.
    await Promise.all(
      [first, second].map((node) => node.post('/api/schedules', { query: 'never', cron: '0 0 1 1 *' })),
    );
    await untilTime(middle);
    await first.kill();
    await expect.poll(() => questions(second)).toEqual(ALL);
  });
});
