import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import {
  AgentNode,
  CodeNode,
  LlmNode,
  MapNode,
  WorkflowBuilder,
  WorkflowCode,
  type WorkflowInput,
} from '../src/index.js';
import type { FakeRequest } from './support/fake-llm.types.js';
import { gate } from './support/jackdaw.js';
import { WorkflowWorld } from './support/workflow-world.js';

const MODEL = { provider: 'openai', name: 'gpt-4o' } as const;
const KID = { name: 'kid', instructions: 'KID', model: MODEL, tools: ['give'] };
const PLACES = [1, 8, 64] as const;

/** Code that counts its calls; a call for `bad` fails once enough others have started, the others last as long as the gate is closed. */
class Work {
  readonly started: string[] = [];
  others = gate();
  hold = gate();
  wanted = 2;

  @WorkflowCode({
    name: 'work',
    input: { type: 'object', properties: { item: { type: 'string' } }, required: ['item'] },
  })
  async work({ item }: { item: string }): Promise<string> {
    this.started.push(item);
    if (this.started.length > this.wanted) this.others.open();
    if (item === 'bad') {
      await this.others.opened;
      throw new Error('The item is bad.');
    }
    await this.hold.opened;
    return item;
  }
}

const STOPPED = (name: string, keep: boolean) =>
  new MapNode('each', '{{input.list}}', new CodeNode('i', 'work', { item: '{{item}}' }), 3)[
    keep ? 'keepingErrors' : 'describe'
  ](name);

const FLOWS: readonly WorkflowInput[] = [
  new WorkflowBuilder('strict').add(STOPPED('strict', false)).build(),
  new WorkflowBuilder('agents')
    .add(new MapNode('each', '{{input.list}}', new AgentNode('i', 'kid', '{{item}}'), 3).withFallback('after'))
    .add(new LlmNode('after', 'After'))
    .build(),
  ...(['fail', 'keep'] as const).map((name) => {
    const map = new MapNode('each', '{{input.list}}', new LlmNode('i', '{{item}}'), 2);
    const flow = new WorkflowBuilder(`large_${name}`, { limits: { maxOutputBytes: 2000 } });
    return flow.add(name === 'keep' ? map.keepingErrors() : map).build();
  }),
  ...PLACES.map((places) =>
    new WorkflowBuilder(`sessions_${places}`)
      .add(new MapNode('each', '{{input.list}}', new AgentNode('i', 'kid', '{{item}}'), places))
      .build(),
  ),
  new WorkflowBuilder('beside')
    .add(new LlmNode('pre_a', 'pre_a'))
    .add(new LlmNode('pre_b', 'pre_b'))
    .add(new AgentNode('a', 'kid', 'qa'), { after: 'pre_a' })
    .add(new AgentNode('b', 'kid', 'qb'), { after: 'pre_b' })
    .add(new AgentNode('c', 'kid', 'qc'), { after: ['a', 'b'] })
    .build(),
];

describe('a map', () => {
  const work = new Work();
  let world: WorkflowWorld;
  beforeAll(async () => {
    world = await WorkflowWorld.begin(FLOWS, { tools: [work], options: { agents: [KID] } });
  });
  afterAll(() => world.stop());

  it('stops the items beside one that fails, and starts no other', async () => {
    const { body } = await world.run('strict', { list: ['a', 'b', 'bad', 'c', 'd', 'e'] });
    expect(body).toMatchObject({
      status: 'failed',
      error: { code: 'TOOL_FAILED', message: 'Node "each" failed: Node "each/3" failed: The item is bad.' },
    });
    expect(work.started).toEqual(['a', 'b', 'bad']);
    expect(nodesOf(body)).toMatchObject([
      { node: 'each', status: 'failed' },
      { node: 'each/1', status: 'failed', error: { code: 'RUN_CANCELLED' } },
      { node: 'each/2', status: 'failed', error: { code: 'RUN_CANCELLED' } },
      { node: 'each/3', status: 'failed', error: { code: 'TOOL_FAILED' } },
    ]);
    work.hold.open();
  });

  it('cancels the runs of agents whose answers have no reader any more, before its fallback starts', async () => {
    const asked = gate();
    world.say({
      hang: () => ({ hang: true }),
      bad: () => ({ status: 400, body: {}, gate: asked.opened }),
      After: () => ({ text: 'after' }),
    });
    const { body } = await world.jackdaw.post('/api/workflows/agents/runs', {
      input: { list: ['hang1', 'bad', 'hang2', 'never'] },
    });
    await world.llm.waitForRequest(3);
    asked.open();
    await world.jackdaw.events(String(body['run_id']));
    const { body: run } = await world.jackdaw.get(`/api/runs/${String(body['run_id'])}`);
    expect(run).toMatchObject({ status: 'completed', output: { response: 'after' } });
    const children = run['child_run_ids'] as unknown as string[];
    const runs = await Promise.all(children.map((id) => world.jackdaw.get(`/api/runs/${id}`)));
    const statuses = runs.map(({ body: child }) => String(child['status']));
    expect(statuses.toSorted((a, b) => a.localeCompare(b))).toEqual(['cancelled', 'cancelled', 'failed']);
    expect(world.llm.requests.map(questionOf)).not.toContain('never');
  });

  it('cancels the run of an agent that waits for a person, so that its call can no longer be approved', async () => {
    const asked = gate();
    world.say({
      pay: () => ({ calls: [{ name: 'give', arguments: { to: 'bob', amount: 5 } }] }),
      bad: () => ({ status: 400, body: {}, gate: asked.opened }),
      After: 'after',
    });
    const { body } = await world.jackdaw.post('/api/workflows/agents/runs', { input: { list: ['pay', 'bad'] } });
    const events = await world.jackdaw.follow(String(body['run_id']));
    await events.waitFor('node.started', 2);
    const [payer] = await childrenOf(world, body);
    await (await world.jackdaw.follow(String(payer))).waitFor('run.waiting');
    asked.open();
    expect((await events.all()).at(-1)).toMatchObject({ event: 'run.completed' });
    const { status } = await world.jackdaw.post(`/api/runs/${String(payer)}/approve`, {});
    const { body: child } = await world.jackdaw.get(`/api/runs/${String(payer)}`);
    expect([status, child['status']]).toEqual([409, 'cancelled']);
  });

  it.each(['large_fail', 'large_keep'])('fails as soon as its output is above the limit (%s)', async (flow) => {
    world.say({ q: () => ({ text: 'x'.repeat(300) }) });
    const list = Array.from({ length: 60 }, (_, n) => `q${n}`);
    const { body } = await world.run(flow, { list });
    expect(body).toMatchObject({ status: 'failed', error: { code: 'NODE_OUTPUT_TOO_LARGE' } });
    expect(world.llm.requests.length).toBeLessThan(10);
  });

  it('makes no call for an item whose prompt alone is above the limit', async () => {
    world.say({});
    const { body } = await world.run('large_fail', { list: ['q'.repeat(3000)] });
    expect(body).toMatchObject({ status: 'failed', error: { code: 'NODE_OUTPUT_TOO_LARGE' } });
    expect(world.llm.requests).toHaveLength(0);
  });

  it('sends the same requests with 1, 8 and 64 places, whatever is faster', async () => {
    const list = Array.from({ length: 12 }, (_, n) => `q${n}`);
    const sent: string[][] = [];
    for (const places of PLACES) {
      world.say({ q: shuffled(places) });
      const { body } = await world.run(`sessions_${places}`, { list }, { sessionId: `s${places}` });
      expect(body['status']).toBe('completed');
      sent.push(world.llm.requests.map(({ messages }) => JSON.stringify(messages)).toSorted());
    }
    expect(sent[1]).toEqual(sent[0]);
    expect(sent[2]).toEqual(sent[0]);
    expect(new Set(sent[0])).toHaveProperty('size', 12);
  });
});

describe('a map of a run that is recovered', () => {
  it('starts no item again when an item had failed before the crash', async () => {
    const work = new Work();
    const world = await WorkflowWorld.begin(FLOWS, { tools: [work], options: { agents: [KID] } });
    const { body } = await world.jackdaw.post('/api/workflows/strict/runs', {
      input: { list: ['slow', 'lost', 'later'] },
    });
    const id = String(body['run_id']);
    await work.others.opened;
    await world.jackdaw.stop();
    const error = { code: 'TOOL_FAILED', message: 'It was lost.', is_retryable: false };
    const failed = {
      name: 'node:each/2',
      kind: 'node',
      subject: 'code',
      result: JSON.stringify({ status: 'failed', error }),
    };
    recordStep(world, id, failed);
    await world.up();
    const events = await world.jackdaw.events(id);
    const message = 'Node "each" failed: Node "each/2" failed: It was lost.';
    expect(events.at(-1)).toMatchObject({ event: 'run.failed', data: { error: { message } } });
    const stopped = events.filter(
      ({ data }) => (data['error'] as { code?: string } | undefined)?.code === 'RUN_CANCELLED',
    );
    expect(stopped.map(({ data }) => data['node'])).toEqual(['each/1', 'each/3']);
    expect(work.started).toHaveLength(3);
    work.hold.open();
    await world.stop();
  });
});

describe('agent nodes that ask one agent in a session', () => {
  it('share its session by their places in the workflow, not by which is faster', async () => {
    const world = await WorkflowWorld.begin(FLOWS, { tools: [new Work()], options: { agents: [KID] } });
    const sent: string[][] = [];
    for (const slow of ['pre_a', 'pre_b']) {
      const held = gate();
      world.say({
        pre_a: () => ({ text: 'A', ...(slow === 'pre_a' && { gate: held.opened }) }),
        pre_b: () => ({ text: 'B', ...(slow === 'pre_b' && { gate: held.opened }) }),
        q: 'C',
      });
      const sessionId = `slow-${slow}`;
      const { body } = await world.jackdaw.post('/api/workflows/beside/runs', { input: {}, sessionId });
      const events = await world.jackdaw.follow(String(body['run_id']));
      // The faster agent has answered before the other one is asked.
      await events.waitFor('node.completed', 2);
      held.open();
      expect((await events.all()).at(-1)).toMatchObject({ event: 'run.completed' });
      sent.push(world.llm.requests.map(({ messages }) => JSON.stringify(messages.slice(1))).toSorted());
    }
    expect(sent[1]).toEqual(sent[0]);
    expect(sent[0]!.find((messages) => messages.includes('qc'))).toContain('qa');
    await world.stop();
  });
});

interface SqliteFile {
  prepare(sql: string): { run(...values: unknown[]): unknown };
  close(): void;
}

/** Records a step of a run in the database of a server that is stopped. */
function recordStep(world: WorkflowWorld, runId: string, step: Record<string, string>): void {
  const Sqlite = createRequire(import.meta.url)('better-sqlite3-v13') as new (path: string) => SqliteFile;
  const database = new Sqlite(join(world.folder, 'jackdaw.db'));
  const row = { run_id: runId, tenant: 'default', epoch: 1, created_at: 1, ...step };
  const [names, values] = [Object.keys(row), Object.values(row)];
  const marks = names.map(() => '?').join(', ');
  database.prepare(`INSERT INTO run_step (${names.join(', ')}) VALUES (${marks})`).run(...values);
  database.close();
}

async function childrenOf(world: WorkflowWorld, run: Record<string, unknown>): Promise<string[]> {
  const { body } = await world.jackdaw.get(`/api/runs/${String(run['run_id'])}`);
  return body['child_run_ids'] ?? [];
}

function nodesOf(body: Record<string, unknown>): Record<string, unknown>[] {
  return (body['nodes'] as Record<string, unknown>[]).toSorted((a, b) =>
    String(a['node']).localeCompare(String(b['node'])),
  );
}

function questionOf({ messages }: FakeRequest): unknown {
  return messages.at(-1)?.content;
}

/** Replies in an order that depends on the number: each third one later than the two after it. */
function shuffled(seed: number): (request: FakeRequest) => { text: string; drip?: number } {
  return (request) => {
    const n = Number(String(questionOf(request)).slice(1));
    return { text: `re ${n}`, ...((n + seed) % 3 === 0 && { drip: 5 }) };
  };
}
