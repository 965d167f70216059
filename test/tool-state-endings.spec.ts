import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { Database } from '../src/persistence/index.js';
import { contextIdOf } from '../src/tool-state/index.js';
import { Tool, type ToolContext } from '../src/tool/method/index.js';
import { StateBackendRegistry } from '../src/tool-state/state-backend.registry.js';
import { CounterTools } from './support/counter.tool.js';
import { FakeLlm } from './support/fake-llm.js';
import { gate, newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';

/** Tools in which a run blocks, or loses its session. */
class HoldingTools {
  arrived = gate();
  vanish: (sessionId: string) => Promise<void> = async () => undefined;

  @Tool({ description: 'Never ends.', effect: 'read', input: { type: 'object' } })
  hold(): Promise<never> {
    this.arrived.open();
    return new Promise(() => undefined);
  }

  @Tool({ description: 'Deletes the session.', effect: 'read', input: { type: 'object' } })
  async lose(_input: object, { sessionId }: ToolContext): Promise<string> {
    await this.vanish(sessionId!);
    return 'gone';
  }
}

const calls = (...names: readonly string[]) => ({ calls: names.map((name) => ({ name, arguments: {} })) });

let llm: FakeLlm;
beforeAll(async () => {
  llm = await FakeLlm.start();
});
afterAll(() => llm.close());

/** Whether its manager still stores it. */
async function isStored(jackdaw: Jackdaw, tool: 'passing' | 'count'): Promise<boolean> {
  const backends = jackdaw.app.get(StateBackendRegistry);
  const backend = await backends.of(backends.nameOf({}));
  const id = contextIdOf({ tenant: 'default', session: 's', tool });
  await backend.catchUp(id);
  return (await backend.store.load(id)) !== null;
}

async function change(jackdaw: Jackdaw, sql: string, params: readonly string[] = []): Promise<void> {
  await jackdaw.app.get(Database, { strict: false }).commit([{ sql, params }]);
}

async function endOf(jackdaw: Jackdaw, runId: string): Promise<unknown> {
  return (await (await jackdaw.follow(runId)).all()).at(-1);
}

describe.each(['memory', 'session', 'persistent', 'distributed'])('run-scoped states in %s', (manager) => {
  const tools = new HoldingTools();
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    const env = { TOOL_STATE_MANAGER: manager };
    jackdaw = await startJackdaw({ llm, tools: [tools, new CounterTools()], env });
    tools.vanish = (id) => change(jackdaw, 'DELETE FROM session WHERE id = ?', [id]);
  });
  afterAll(() => jackdaw.stop());

  it('are deleted even when the end of the run is refused, and others stay', async () => {
    llm.reset();
    await jackdaw.post('/api/sessions', { id: 's' });
    llm.reply(calls('passing', 'count'), calls('lose'), { text: 'done' });
    const { body } = await jackdaw.post('/api/agent/runs', { query: 'go', sessionId: 's' });
    expect(await endOf(jackdaw, String(body['run_id']))).toMatchObject({
      event: 'run.failed',
      data: { error: { code: 'COMMIT_REFUSED' } },
    });
    expect([await isStored(jackdaw, 'passing'), await isStored(jackdaw, 'count')]).toEqual([false, true]);
  });
});

describe.each(['persistent', 'distributed'])('run-scoped states in %s, after a restart', (manager) => {
  let jackdaw: Jackdaw;
  let dataDir: string;
  let runId: string;

  async function start(...tools: object[]): Promise<HoldingTools> {
    const holding = new HoldingTools();
    const env = { TOOL_STATE_MANAGER: manager };
    jackdaw = await startJackdaw({ llm, dataDir, tools: [holding, ...tools], env });
    return holding;
  }

  beforeEach(async () => {
    llm.reset();
    dataDir = newFolder();
    const { arrived } = await start(new CounterTools());
    await jackdaw.post('/api/sessions', { id: 's' });
    llm.reply(calls('passing', 'count'), calls('hold'));
    const { body } = await jackdaw.post('/api/agent/runs', { query: 'go', sessionId: 's' });
    runId = String(body['run_id']);
    await arrived.opened;
    assert.deepEqual([await isStored(jackdaw, 'passing'), await isStored(jackdaw, 'count')], [true, true]);
  });
  afterEach(async () => {
    await jackdaw.stop();
    rmSync(dataDir, { recursive: true });
  });

  it.each([
    ['whose definition cannot be read', "UPDATE run_definition SET content = '{}'", 'failed'],
    ['of another loop version', 'UPDATE run SET loop_version = 0', 'failed'],
    ['that was cancelled in the meantime', 'UPDATE run SET cancel_requested_at = 1', 'cancelled'],
  ])('are deleted with a run %s', async (_, sql, status) => {
    await change(jackdaw, sql);
    await jackdaw.stop();
    await start(new CounterTools());
    expect(await endOf(jackdaw, runId)).toMatchObject({ event: `run.${status}` });
    expect([await isStored(jackdaw, 'passing'), await isStored(jackdaw, 'count')]).toEqual([false, true]);
  });

  it('are deleted with a run whose tool is gone', async () => {
    await jackdaw.stop();
    const { arrived } = await start();
    await arrived.opened;
    await jackdaw.post(`/api/runs/${runId}/cancel`, {});
    expect(await endOf(jackdaw, runId)).toMatchObject({ event: 'run.cancelled' });
    expect([await isStored(jackdaw, 'passing'), await isStored(jackdaw, 'count')]).toEqual([false, true]);
  });
});
