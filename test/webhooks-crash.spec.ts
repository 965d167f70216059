import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { clusterStores, describeClusters } from './support/cluster-stores.js';
import type { ServerProcess } from './support/process.js';
import { ProcessWorld } from './support/process-world.js';
import { WebhookReceiver } from './support/webhook-receiver.js';
import { itInLongForm } from './support/long-form.js';

const RUNS = 6;

const world = ProcessWorld.prepare();
let receiver: WebhookReceiver;
let env: Readonly<Record<string, string>>;

beforeEach(async () => {
  receiver = await WebhookReceiver.start();
  env = {
    WEBHOOK_URL: receiver.url,
    WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
    WEBHOOK_EVENTS: 'run.completed',
    WEBHOOK_TIMEOUT_MS: '1000',
  };
  world.llm.always({ text: 'done' });
});
afterEach(() => receiver.close());

async function chats(server: ServerProcess): Promise<string[]> {
  const answers = await Promise.all(Array.from({ length: RUNS }, () => server.chat({ query: 'hello' })));
  return answers.map(({ body }) => String(body['run_id'])).toSorted();
}

/** The runs of all received messages, each once. Each run has one message id. */
function received(): string[] {
  const ids = new Map<string, Set<unknown>>();
  for (const { headers, json } of receiver.received) {
    const runId = String(json.data['run_id']);
    ids.set(runId, (ids.get(runId) ?? new Set()).add(headers['webhook-id']));
  }
  expect([...ids.values()].every(({ size }) => size === 1)).toBe(true);
  return [...ids.keys()].toSorted();
}

describe('webhooks of a process that was killed', () => {
  itInLongForm('are sent by the next process if none was sent before', async () => {
    // No webhook wakes before the kill: an earlier round found none.
    const first = await world.start({ ...env, WEBHOOK_URL: 'http://127.0.0.1:9/' });
    const runs = await chats(first);
    await first.kill();
    await world.start(env);
    await expect.poll(received).toEqual(runs);
  });

  it('are sent again, with the same ids, if the process died before a reply', async () => {
    receiver.isSilent = true;
    const first = await world.start(env);
    const runs = await chats(first);
    // Four requests at a time.
    await expect.poll(() => receiver.received.length).toBe(4);
    await first.kill();
    receiver.isSilent = false;
    const before = receiver.received.length;
    await world.start(env);
    await expect.poll(() => receiver.received.length - before).toBe(RUNS);
    expect(received()).toEqual(runs);
  });
});

describeClusters('webhooks of two nodes', await clusterStores(), (store) => {
  world.share(store, { CLUSTER_LEASE_MS: '5000', CLUSTER_CHECK_MS: '300' });

  it('are sent once, and by the other node after a kill', async () => {
    const nodes = await Promise.all([world.start(env), world.start(env)]);
    const runs = (await Promise.all(nodes.map((node) => chats(node)))).flat().toSorted();
    await expect.poll(received).toEqual(runs);
    expect(receiver.received).toHaveLength(2 * RUNS);
    receiver.isSilent = true;
    const later = await chats(nodes[0]);
    await expect.poll(() => receiver.received.length).toBeGreaterThan(2 * RUNS);
    await nodes[0].kill();
    receiver.isSilent = false;
    await expect.poll(received).toEqual([...runs, ...later].toSorted());
  });
});
