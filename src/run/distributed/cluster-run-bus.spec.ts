import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FoldingClient } from '../../../test/support/folding-client.js';
import { MemoryNotificationChannel } from '../../../test/support/memory-notification-channel.js';
import { aRun, openDatabase, RunHost, type OpenDatabase } from '../../../test/support/run-host.js';
import { RunPublisher } from '../../../test/support/run-publisher.js';
import { parseRunPlace, RunItem, START } from '../event/run-item.factory.js';
import { RunFollowService } from '../follow/run-follow.service.js';
import { ClusterRunBus } from './cluster-run-bus.js';
import { RemoteFollowRegistry } from './remote-follow.registry.js';
import { RemoteRunClient } from './remote-run.client.js';

let opened: OpenDatabase;
let host: RunHost;
let channel: MemoryNotificationChannel;
/** The process that executes runs, and one with followers. */
let owner: ClusterRunBus;
let other: ClusterRunBus;
beforeAll(async () => {
  opened = await openDatabase();
  host = new RunHost(opened.database);
  channel = new MemoryNotificationChannel();
  owner = await startBus('a');
  other = await startBus('b');
});
afterAll(async () => {
  await owner.onApplicationShutdown();
  await other.onApplicationShutdown();
  await opened.close();
});

async function startBus(node: string): Promise<ClusterRunBus> {
  const remote = new RemoteRunClient(host.journal, opened.database);
  const bus = new ClusterRunBus(
    channel,
    { node, isSure: () => true },
    new RemoteFollowRegistry(),
    remote,
    opened.database,
  );
  await bus.start();
  return bus;
}

async function startRun(id: string): Promise<RunPublisher> {
  const { run, items } = await host.journal.create(aRun(id), 'running', 1);
  for (const item of items) owner.publish(id, item);
  return new RunPublisher({ bus: owner, journal: host.journal }, run);
}

/** A client of a process, by default the other one, which reads on demand. */
class RemoteClient extends FoldingClient {
  readonly types: string[] = [];
  private readonly items;

  constructor(runId: string, from = START, bus = other) {
    super();
    const follower = new RunFollowService(host.journal, bus);
    this.items = follower.open(runId).items(from, new AbortController().signal);
  }

  async readUntil(isThere: () => boolean): Promise<void> {
    while (!isThere()) {
      const { value } = await this.items.next();
      if (!value) return;
      this.take(value);
      this.types.push(value.event.type);
    }
  }
}

describe('a follower in another process', () => {
  it('receives the text so far when it joins inside a message, then all items to the end', async () => {
    const run = await startRun('midst');
    const long = 'é🐦"\n'.repeat(4_000);
    run.begin('model:1');
    run.publishText(long);
    const client = new RemoteClient('midst');
    await client.readUntil(() => client.text === long);
    expect(channel.longest).toBeLessThan(8_000);
    run.publishText('and on');
    await client.readUntil(() => client.text === `${long}and on`);
    const place = client.lastEventId!;
    run.publishText(long);
    await client.readUntil(() => client.text.length === 2 * long.length + 6);

    const back = new RemoteClient('midst', parseRunPlace(place)!);
    await back.readUntil(() => back.text === long);
    await run.complete(`${long}and on${long}`);
    await run.end();
    await Promise.all([client, back].map((one) => one.readUntil(() => one.journaled.at(-1)?.n === 3)));
    for (const { messages } of [client, back])
      expect(messages.map(({ text }) => text.length)).toEqual([2 * long.length + 6]);
    expect(client.messages[0]).toMatchObject({ received: `${long}and on${long}` });
    expect(client.journaled.map(({ n }) => n)).toEqual([1, 2, 3]);
  });

  it('receives the restart of a message', async () => {
    const run = await startRun('anew');
    run.begin('model:1');
    run.publishText('half');
    const client = new RemoteClient('anew');
    await client.readUntil(() => client.text === 'half');
    run.begin('model:1:r1');
    run.publishText('whole');
    await client.readUntil(() => client.text === 'whole');
    expect(client.restarts).toBe(1);
  });

  it('stays connected when the owner closes its streams, and receives the events of the next owner', async () => {
    const run = await startRun('closed');
    run.begin('model:1');
    run.publishText('half');
    const client = new RemoteClient('closed');
    await client.readUntil(() => client.text === 'half');
    owner.publish('closed', new RunItem(null, 1, { type: 'stream.closed', run_id: 'closed', code: 'SHUTTING_DOWN' }));
    const { run: claimed } = await host.journal.claim((await host.journal.find('closed'))!, 1);
    const next = new RunPublisher({ bus: owner, journal: host.journal }, claimed);
    next.begin('model:1');
    next.publishText('whole');
    await next.complete('whole');
    await next.end();
    await client.readUntil(() => client.journaled.at(-1)?.n === 3);
    expect(client.types.slice(-4)).toEqual(['step.restarted', 'message.delta', 'message.completed', 'run.completed']);
    expect(client.messages).toEqual([{ text: 'whole', received: 'whole' }]);
  });
});

describe('a follower in the process that executes the run', () => {
  it('receives the events of the next owner after an outage of the provider has postponed the run', async () => {
    await startRun('moved');
    const client = new RemoteClient('moved', START, owner);
    await client.readUntil(() => client.types.includes('run.started'));
    owner.left('moved');
    const { run: claimed } = await host.journal.claim((await host.journal.find('moved'))!, 1);
    const next = new RunPublisher({ bus: other, journal: host.journal }, claimed);
    await next.complete('whole');
    await next.end();
    await client.readUntil(() => client.types.at(-1) === 'run.completed');
    expect(client.types).toEqual(['run.started', 'message.completed', 'run.completed']);
  });
});
