import { beforeAll, expect, it } from 'vitest';
import { untilAnswered } from './support/agent-folder.js';
import { clusterStores, describeClusters } from './support/cluster-stores.js';
import { callTool } from './support/direct-calls.js';
import type { FakeRequest } from './support/fake-llm.types.js';
import type { ServerProcess } from './support/process.js';
import { ProcessWorld } from './support/process-world.js';

const TOOL = 'read_step';
const ONE = { arguments: { step: 1 } };
const CALL = { calls: [{ id: 'c', name: TOOL, ...ONE }] };

const world = ProcessWorld.prepareLasting();

describeClusters('a tool that another process disables', await clusterStores(), (store) => {
  world.share(store);
  let a: ServerProcess;
  let b: ServerProcess;
  beforeAll(async () => {
    [a, b] = await Promise.all([world.start(), world.start()]);
  });

  /** Polls a process until it knows the switch of the tool. */
  async function untilKnown(at: ServerProcess, isOn: boolean): Promise<void> {
    await untilAnswered(at, `/api/tools/${TOOL}`, ({ enabled }) => enabled === isOn);
  }

  function shown(): readonly string[] {
    const { tools = [] } = world.llm.lastRequest as FakeRequest & { tools?: { function: { name: string } }[] };
    return tools.map((tool) => tool.function.name);
  }

  it('is off here too: it is shown to no model, and every call is refused', async () => {
    world.llm.reply(CALL, { text: 'done' });
    expect((await b.chat({ query: 'go' })).body['result']).toBe('done');
    expect([shown().includes(TOOL), world.effects()]).toEqual([true, ['read_step 1']]);

    expect((await a.post(`/api/tools/${TOOL}/disable`)).status).toBe(204);
    await untilKnown(b, false);
    world.llm.reply(CALL, { text: 'done without' });
    const { body } = await b.chat({ query: 'go', includeDetails: true });
    expect([shown().includes(TOOL), shown().includes('once_step')]).toEqual([false, true]);
    expect([body['result'], body['tool_results']]).toMatchObject([
      'done without',
      [{ tool: TOOL, success: false, error: expect.stringContaining('is disabled') }],
    ]);
    expect(await callTool(b, TOOL, ONE)).toMatchObject({ status: 409, body: { code: 'TOOL_DISABLED' } });
    expect(world.effects()).toEqual(['read_step 1']);
  });

  it('is on again when any process enables it', async () => {
    await untilKnown(a, false);
    expect((await b.post(`/api/tools/${TOOL}/enable`)).status).toBe(204);
    await untilKnown(a, true);
    expect((await callTool(a, TOOL, ONE)).body['result']).toBe('did step 1');
  });
});
