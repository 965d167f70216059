import { afterEach, expect, it } from 'vitest';
import { clusterStores, describeClusters, PATIENCE } from './support/cluster-stores.js';
import type { SseEvent } from './support/event-stream.js';
import type { FakeReply, FakeRequest } from './support/fake-llm.types.js';
import { gate } from './support/jackdaw.js';
import { program, ServerProcess } from './support/process.js';
import { ProcessWorld } from './support/process-world.js';
import { STEPS, stepByStep } from './support/step-script.js';
import { IS_LONG_FORM } from './support/long-form.js';

const ENDS = new Set(['run.completed', 'run.failed', 'run.cancelled']);
const world = ProcessWorld.prepare();
const LEASE = { CLUSTER_LEASE_MS: '5000', CLUSTER_CHECK_MS: '300', ...PATIENCE };

/** Nodes that are started again whenever they crash. */
class SupervisedNodes {
  crashes = 0;
  private isOver = false;
  private readonly nodes: ServerProcess[] = [];

  constructor(private readonly env: Readonly<Record<string, string>>) {}

  async start(count: number): Promise<void> {
    for (let i = 0; i < count; i++) void this.supervise(i);
    await Promise.all(this.nodes.map((node) => node.waitForLine('ready ')));
  }

  /** Ends the restarts. */
  release(): void {
    this.isOver = true;
  }

  get first(): ServerProcess {
    return this.nodes[0]!;
  }

  /** Follows a run, on each node in turn, until it ends. @returns its last event */
  async endOf(runId: string): Promise<SseEvent> {
    for (let at = 0; !this.isOver; at = (at + 1) % this.nodes.length) {
      // The node may crash meanwhile.
      const events = await this.eventsAt(this.nodes[at]!, runId).catch(() => []);
      const last = events.at(-1);
      if (last && ENDS.has(last.event)) return last;
    }
    throw new Error(`The nodes were released before the end of the run ${runId}.`);
  }

  private async eventsAt(node: ServerProcess, runId: string): Promise<SseEvent[]> {
    await node.waitForLine('ready ');
    return node.events(runId);
  }

  private async supervise(at: number): Promise<void> {
    while (!this.isOver) {
      this.nodes[at] = ServerProcess.start(program('crash-app'), world.env(this.env));
      await this.nodes[at].ended;
      if (!this.isOver) this.crashes++;
    }
  }
}

const queryOf = ({ messages }: FakeRequest) => String(messages.find(({ role }) => role === 'user')?.content);

const stores = await clusterStores();

describeClusters('runs of a cluster of two nodes that crash', stores, (store) => {
  let nodes: SupervisedNodes;
  world.share(store, LEASE);
  afterEach(() => nodes.release());

  it('are ended after four crashes at most if they cause them, and ten innocent runs beside one complete', async () => {
    const [inFlight, ended] = [gate(), gate()];
    const innocents = Array.from({ length: 10 }, (_, i) => `innocent ${i}`);
    world.llm.always((request): FakeReply => {
      const isFatal = queryOf(request) === 'fatal';
      const script = stepByStep(isFatal ? 'read_step' : 'idempotent_step');
      // No innocent run records a step before the fatal run has ended.
      return { ...script(request), gate: isFatal ? inFlight.opened : ended.opened };
    });
    nodes = new SupervisedNodes({ DIE_AT: 'read_step 1', DIE_AFTER_MS: '300' });
    await nodes.start(2);
    const runIds: string[] = [];
    for (const query of ['fatal', ...innocents]) {
      runIds.push(String((await nodes.first.post('/api/agent/runs', { query })).body['run_id']));
    }
    await world.llm.waitForRequest(11);
    inFlight.open();
    const end = await nodes.endOf(runIds[0]!);
    expect(end).toMatchObject({ event: 'run.failed', data: { error: { code: 'RUN_POISONED' } } });
    ended.open();
    const ends = await Promise.all(runIds.slice(1).map((runId) => nodes.endOf(runId)));
    expect(ends.map(({ event }) => event)).toEqual(innocents.map(() => 'run.completed'));
    expect(nodes.crashes).toBeLessThanOrEqual(4);
    expect(world.effects().filter((effect) => effect === 'read_step 1')).toHaveLength(nodes.crashes);
  });

  if (!IS_LONG_FORM) return;
  it('complete if they record a step between the crashes, however many these are', async () => {
    world.llm.always(stepByStep('read_step'));
    nodes = new SupervisedNodes({ DIE_AT: 'first', DIE_AFTER_MS: '300' });
    await nodes.start(2);
    const { body } = await nodes.first.post('/api/agent/runs', { query: 'do five steps' });
    expect((await nodes.endOf(String(body['run_id']))).event).toBe('run.completed');
    expect(nodes.crashes).toBe(STEPS);
  });
});
