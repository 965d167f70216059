import type { ServerProcess } from './process.js';
import type { ProcessWorld } from './process-world.js';
import { stepByStep } from './step-script.js';

/** The ids of open runs. */
export interface OpenRuns {
  /** Was executed when the process was killed. */
  readonly running: string;
  /** Waits for the session of the running one; it never started. */
  readonly queued: string;
  /** Without a session, also interrupted. */
  readonly alone: string;
}

/** A server is killed while it executes two runs; a third one is queued behind one of them. */
export async function interrupt(world: ProcessWorld, env: Readonly<Record<string, string>> = {}): Promise<OpenRuns> {
  world.llm.always(stepByStep('idempotent_step'));
  const server = await world.start({ BLOCK_AT: 'idempotent_step 3', ...env });
  const start = async (sessionId?: string) => {
    const { body } = await server.post('/api/agent/runs', { query: 'do five steps', ...(sessionId && { sessionId }) });
    return (body as unknown as { run_id: string }).run_id;
  };
  const running = await start('shared');
  const [queued, alone] = [await start('shared'), await start()];
  await server.waitForOutput(/(performing idempotent_step 3[\s\S]*){2}/);
  await server.kill();
  return { running, queued, alone };
}

/** The status of each run, and the kinds of its requests. */
export async function statusesOf(server: ServerProcess, runs: OpenRuns): Promise<unknown[]> {
  const found = Object.values(runs).map(async (id: string) => (await server.get(`/api/runs/${id}`)).body);
  return (await Promise.all(found)).map((body) => {
    const { status, waiting } = body as unknown as { status: string; waiting?: { kind: string }[] };
    return [status, ...(waiting ?? []).map(({ kind }) => kind)];
  });
}

/** All runs wait for their release. */
export const PAUSED = [0, 1, 2].map(() => ['waiting', 'restored']);

export async function expectCompleted(server: ServerProcess, ...ids: string[]): Promise<void> {
  for (const id of ids) {
    const events = await server.follow(id);
    await events.waitFor('run.completed');
  }
}
