import { beforeAll, expect, it } from 'vitest';
import { clusterStores, describeClusters, PATIENCE } from './support/cluster-stores.js';
import type { FakeRequest } from './support/fake-llm.types.js';
import { gate, type Answer } from './support/jackdaw.js';
import type { ServerProcess } from './support/process.js';
import { ProcessWorld } from './support/process-world.js';

const QUEUE_LIMIT = 4;
const world = ProcessWorld.prepareLasting();
const queryOf = ({ messages }: FakeRequest) => String(messages.findLast(({ role }) => role === 'user')?.content);
const runIdOf = ({ body }: Answer) => String(body['run_id']);
const submit = (node: ServerProcess, body: object, headers?: Record<string, string>) =>
  node.post('/api/agent/runs', body, headers);

describeClusters('a request to two processes', await clusterStores(), (store) => {
  world.share(store, { RUN_CONCURRENCY: '1', RUN_QUEUE_LIMIT: String(QUEUE_LIMIT), ...PATIENCE });
  let a: ServerProcess;
  let b: ServerProcess;
  beforeAll(async () => {
    [a, b] = await Promise.all([world.start(), world.start()]);
  });

  it.each(['/api/agent/chat', '/api/agent/runs'])(
    'is one run for 50 simultaneous duplicates sent to both: %s',
    async (path) => {
      world.llm.always({ text: 'once' });
      const key = { 'idempotency-key': `replays-${path.slice(-4)}` };
      const ask = (query: string, i: number) => (i % 2 ? a : b).post(path, { query }, key);
      const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => ask('only once', i)));
      expect(new Set(answers.map(({ status }) => status)).size).toBe(1);
      expect(new Set(answers.map(runIdOf)).size).toBe(1);
      expect((await b.events(runIdOf(answers[0]!))).at(-1)?.event).toBe('run.completed');
      expect(world.llm.requests).toHaveLength(1);
      for (const i of [0, 1]) {
        expect(await ask('another thing', i)).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } });
      }
    },
  );

  it('is refused by both if their shared queue is full, and starts by priority otherwise', async () => {
    const [hold, resume] = [gate(), gate()];
    world.llm.always(async (request) => {
      await (queryOf(request).startsWith('first') ? hold : resume).opened;
      return { text: 'done' };
    });
    const firsts = await Promise.all([a, b].map((node, i) => submit(node, { query: `first ${i}` })));
    await world.llm.waitForRequest(2);
    const rest: Answer[] = [];
    for (const [i, priority] of [0, 5, 9, 5].entries())
      rest.push(await submit(i % 2 ? a : b, { query: `priority ${priority}`, priority }));
    for (const node of [a, b]) {
      const refused = await submit(node, { query: 'too many' });
      expect(refused).toMatchObject({ status: 503, body: { code: 'RUN_QUEUE_FULL' } });
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    hold.open();
    // The two nodes take the two first runs concurrently; the order of their model requests is not defined.
    await world.llm.waitForRequest(4);
    expect(world.llm.requests.slice(2).map(queryOf).toSorted()).toEqual(['priority 5', 'priority 9']);
    resume.open();
    for (const answer of [...firsts, ...rest]) await a.events(runIdOf(answer));
    expect(world.llm.requests.slice(4).map(queryOf).toSorted()).toEqual(['priority 0', 'priority 5']);
  });

  it('fails at its deadline, also on another process and while it is queued', async () => {
    world.llm.always({ hang: true });
    const late = (deadlineMs: number) =>
      Promise.all([a, b].map((node) => submit(node, { query: 'too slow', deadlineMs })));
    const asked = await late(4000);
    await world.llm.waitForRequest(2);
    // These runs end while the other runs occupy both slots.
    for (const answer of [...(await late(400)), ...asked]) {
      const events = await b.events(runIdOf(answer));
      expect(events.at(-1)).toMatchObject({ event: 'run.failed', data: { error: { code: 'RUN_TIMEOUT' } } });
    }
    expect(world.llm.requests).toHaveLength(2);
  });
});

/** One database is enough: the check queries the journal. */
const onPostgres = (await clusterStores()).filter(({ name }) => name === 'postgres');

describeClusters('the execution by two processes', onPostgres, (store) => {
  world.share(store, { RUN_TENANT_CONCURRENCY: '1', ...PATIENCE });

  it("includes at most the tenant's limit of running runs over both", async () => {
    const [a, b] = await Promise.all([world.start(), world.start()]);
    const hold = gate();
    let atOnce = 0;
    let most = 0;
    world.llm.always(async () => {
      most = Math.max(most, ++atOnce);
      await hold.opened;
      atOnce--;
      return { text: 'done' };
    });
    const first = a.chat({ query: 'one' });
    await world.llm.waitForRequest();
    const second = b.chat({ query: 'two' });
    const queued = async () => (await a.get('/api/runs?status=queued')).body['runs'] as unknown as unknown[];
    // A chat that is refused or starts at once is never queued.
    const early = second.then((answer) => expect.unreachable(`not queued: ${answer.status} ${answer.text}`));
    const until = async () => {
      while ((await queued()).length < 1) await a.get('/api/health/live');
    };
    await Promise.race([until(), early]);
    hold.open();
    const answers = await Promise.all([first, second]);
    expect([answers.map(({ status }) => status), most]).toEqual([[200, 200], 1]);
  });
});
