import { describe, expect, it } from 'vitest';
import { callTool } from './support/direct-calls.js';
import type { ServerProcess } from './support/process.js';
import { ProcessWorld } from './support/process-world.js';
import { inShortForm } from './support/long-form.js';

const world = ProcessWorld.prepare();

/** Kills a process during a direct call of a step. @returns the run's id */
async function crashIn(tool: string): Promise<string> {
  const server = await world.start({ BLOCK_AT: `${tool} 1` });
  const answered = callTool(server, tool, { arguments: { step: 1 } }).catch(() => undefined);
  await server.waitForLine(`performing ${tool} 1`);
  const { body } = await server.get('/api/runs?status=running');
  const [run] = body['runs'] as unknown as { run_id: string }[];
  await server.kill();
  expect(await answered).toBeUndefined();
  return run!.run_id;
}

async function endOf(server: ServerProcess, runId: string): Promise<unknown> {
  return (await server.events(runId)).at(-1);
}

describe('kill -9 in a direct call', () => {
  it.each(inShortForm(1, ['read_step', 'idempotent_step']))('repeats the call at the next start: %s', async (tool) => {
    const runId = await crashIn(tool);
    const second = await world.start();
    expect(await endOf(second, runId)).toMatchObject({ event: 'run.completed', data: { output: 'did step 1' } });
    expect(world.effects()).toEqual([`${tool} 1`, `${tool} 1`]);
  });

  it('does not repeat a call that must not repeat: the run waits for settlement', async () => {
    const runId = await crashIn('once_step');
    const second = await world.start();
    expect(await endOf(second, runId)).toMatchObject({
      event: 'run.waiting',
      data: { reason: 'outcome_unknown', requests: [{ id: 'settle:1:1', tool: 'once_step' }] },
    });
    await second.kill();
    const third = await world.start();
    const settled = await third.post(`/api/runs/${runId}/settle`, { outcome: 'succeeded', result: 'seen' });
    expect(settled.status).toBe(202);
    expect(await endOf(third, runId)).toMatchObject({ event: 'run.completed', data: { output: 'seen' } });
    expect(world.effects()).toEqual(['once_step 1']);
  });

  it('preserves a call that waits for approval, which is then executed once', async () => {
    const first = await world.start();
    const { status, body } = await callTool(first, 'approved_step', { arguments: { step: 1 } });
    expect([status, body['status']]).toEqual([202, 'waiting']);
    await first.kill();
    const second = await world.start();
    const runId = String(body['run_id']);
    expect((await second.post(`/api/runs/${runId}/approve`)).status).toBe(202);
    expect(await endOf(second, runId)).toMatchObject({ event: 'run.completed', data: { output: 'did step 1' } });
    expect(world.effects()).toEqual(['approved_step 1']);
  });
});
