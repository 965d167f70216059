import { describe, expect, it } from 'vitest';
import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { FakeRequest } from './support/fake-llm.types.js';
import type { ServerProcess } from './support/process.js';
import { IS_LONG_FORM } from './support/long-form.js';
import { ProcessWorld } from './support/process-world.js';
import { doneIn } from './support/step-script.js';

const KILLS = IS_LONG_FORM ? 50 : 4;
const CALLS = 10;
/** Maximum time between an effect and the kill, in ms: the run may be in a later call or at its end by then. */
const MAX_DELAY_MS = 15;

const world = ProcessWorld.prepare();
const AGENTS = JSON.stringify([{ name: 'a', model: { provider: 'openai', name: 'm1' }, codeMode: true }]);

const SCRIPT = `
  const results = [];
  for (let step = 1; step <= ${CALLS}; step++) {
    if (step % 3 === 0) await tools.read_step({ step });
    results.push(await tools.once_step({ step }));
  }
  return results.length;`;

const script = (request: FakeRequest) =>
  doneIn(request) === 0 ? { calls: [{ name: 'run_script', arguments: { script: SCRIPT } }] } : { text: 'done' };

describe('kill -9 at random points of scripts of ten calls', () => {
  it('repeats no effect, and leaves each gap to a person', async () => {
    world.llm.always(script);
    const delays: number[] = [];
    while (delays.length < KILLS) {
      writeFileSync(world.env()['EFFECTS_FILE']!, '');
      const { runId, server, gaps } = await runOnce(delays);
      const events = await server.events(runId);
      expect(events.at(-1), `delays ${delays.join()}`).toMatchObject({ event: 'run.completed' });
      const effects = world.effects().filter((line) => line.startsWith('once_step'));
      // A call of a gap may have been claimed and not made.
      const steps = Array.from({ length: CALLS }, (_, at) => `once_step ${at + 1}`);
      const made = steps.filter((step) => effects.includes(step) || !gaps.has(step));
      expect(effects, `delays ${delays.join()}`).toEqual(made);
      const starts = events.filter(({ event, data }) => event === 'tool.started' && data['tool'] === 'run_script');
      expect(starts).toHaveLength(1);
      await server.kill();
    }
  }, 900_000);
});

/** Starts a run, and kills each process some time after its first effect, until the run has ended. */
async function runOnce(
  delays: number[],
): Promise<{ readonly runId: string; readonly server: ServerProcess; readonly gaps: ReadonlySet<string> }> {
  let server = await world.start({ AGENTS });
  const runId = String((await server.post('/api/agent/runs', { query: 'x' })).body['run_id']);
  const gaps = new Set<string>();
  while (delays.length < KILLS) {
    // The rest of the run may have no such call.
    await Promise.race([server.waitForOutput(/performing once_step/), server.events(runId)]);
    const ms = Math.floor(Math.random() * MAX_DELAY_MS);
    delays.push(ms);
    await delay(ms);
    await server.kill();
    server = await world.start({ AGENTS });
    const gap = await settled(runId, server);
    if (gap === null) break;
    gaps.add(gap);
  }
  return { runId, server, gaps };
}

/** Settles the call whose outcome is unknown. @returns the call; `null` if the run has ended */
async function settled(runId: string, server: ServerProcess): Promise<string | null> {
  const last = (await server.events(runId)).at(-1)!;
  if (last.event !== 'run.waiting') return null;
  expect(last.data['requests']).toMatchObject([{ kind: 'outcome_unknown', tool: 'once_step' }]);
  const { status } = await server.post(`/api/runs/${runId}/settle`, { outcome: 'succeeded', result: 'seen' });
  expect(status).toBe(202);
  const [{ arguments: args }] = last.data['requests'] as [{ arguments: string }];
  return `once_step ${(JSON.parse(args) as { step: number }).step}`;
}
