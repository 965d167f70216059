import { describe, expect, it } from 'vitest';
import type { FakeRequest } from './support/fake-llm.types.js';
import { ProcessWorld } from './support/process-world.js';
import { doneIn } from './support/step-script.js';

/** Runs of ten calls; each call of each run kills its process. */
const RUNS = process.env['CHAOS_WHOLE'] === undefined ? 1 : 5;
const CALLS = 10;
/** Maximum time between the effect and the end of the process, in ms. */
const MAX_DELAY_MS = 25;

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

describe('kill -9 in each of ten calls of a script', () => {
  it('repeats no effect, and leaves each gap to a person', async () => {
    world.llm.always(script);
    const delays: number[] = [];
    for (let run = 0; run < RUNS; run++) {
      let runId = '';
      const gaps: string[] = [];
      for (let step = 1; step <= CALLS; step++) {
        const delay = Math.floor(Math.random() * MAX_DELAY_MS);
        delays.push(delay);
        const server = await world.start({ AGENTS, DIE_AT: `once_step ${step}`, DIE_AFTER_MS: String(delay) });
        if (runId === '') runId = String((await server.post('/api/agent/runs', { query: 'x' })).body['run_id']);
        else await settle(runId, gaps, server);
        await server.ended;
      }
      const last = await world.start({ AGENTS });
      await settle(runId, gaps, last);
      const events = await last.events(runId);
      expect(events.at(-1), `delays ${delays.join()}`).toMatchObject({ event: 'run.completed' });
      const effects = world.effects().filter((line) => line.startsWith('once_step'));
      const steps = Array.from({ length: CALLS }, (_, at) => `once_step ${at + 1}`);
      expect(effects.slice(run * CALLS)).toEqual(steps);
      const starts = events.filter(({ event, data }) => event === 'tool.started' && data['tool'] === 'run_script');
      expect(starts).toHaveLength(1);
      await last.kill();
    }
  }, 600_000);
});

type Server = Awaited<ReturnType<ProcessWorld['start']>>;

/** Settles the interrupted call; none is unknown if its result was recorded before the process died. */
async function settle(runId: string, gaps: string[], server: Server): Promise<void> {
  const events = await server.events(runId).catch(() => []);
  const waiting = events.at(-1);
  if (waiting?.event !== 'run.waiting') return;
  const [request, ...others] = waiting.data['requests'] as { id: string; kind: string; tool: string }[];
  expect([request, others]).toMatchObject([{ kind: 'outcome_unknown', tool: 'once_step' }, []]);
  gaps.push(request!.id);
  await server.post(`/api/runs/${runId}/settle`, { outcome: 'succeeded', result: 'seen' });
}
