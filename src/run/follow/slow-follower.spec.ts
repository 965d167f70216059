import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { turns } from '../../../test/support/distant-database.js';
import { FoldingClient } from '../../../test/support/folding-client.js';
import { aRun, openDatabase, RunHost, type OpenDatabase } from '../../../test/support/run-host.js';
import { RunPublisher } from '../../../test/support/run-publisher.js';
import { parseRunPlace, type RunItem, START } from '../event/run-item.factory.js';

const LONG = 'x'.repeat(300_000);

describe('a follower that falls more than a megabyte behind', () => {
  let opened: OpenDatabase;
  let host: RunHost;
  beforeAll(async () => {
    opened = await openDatabase();
    host = new RunHost(opened.database);
  });
  afterAll(() => opened.close());

  async function aPublishedRun(id: string): Promise<RunPublisher> {
    const { run } = await host.journal.create(aRun(id), 'running', 1);
    return new RunPublisher(host, run);
  }

  function follow(id: string): AsyncGenerator<RunItem, void> {
    return host.follower.open(id).items(START, new AbortController().signal);
  }

  /** The items of a follower that has read two events, and then falls behind. */
  async function followBehind(id: string, run: RunPublisher): Promise<AsyncGenerator<RunItem, void>> {
    const items = follow(id);
    await items.next();
    const second = items.next();
    await turns(3);
    await run.think('first');
    await second;
    for (let i = 0; i < 5; i++) run.publishText(LONG);
    await run.think('second');
    return items;
  }

  async function typesOf(items: AsyncIterable<RunItem>): Promise<string[]> {
    const types: string[] = [];
    for await (const { event } of items) types.push(event.type);
    return types;
  }

  it('gets the recorded events, then the rest of the text in short pieces, and live items again', async () => {
    const run = await aPublishedRun('slow');
    const items = await followBehind('slow', run);
    run.publishText('y');
    expect((await items.next()).value?.event).toMatchObject({ type: 'thought', text: 'second' });
    const client = new FoldingClient();
    while (client.text !== `${LONG.repeat(5)}y`) {
      const { value } = await items.next();
      client.take(value!);
      expect([value?.event.type, value!.bytes < 70_000]).toEqual(['message.delta', true]);
      expect(parseRunPlace(client.lastEventId!)?.offset).toBe(client.text.length);
    }
    const next = items.next();
    run.publishText('z');
    expect((await next).value?.event).toMatchObject({ type: 'message.delta', text: 'z' });
    await run.end();
    expect(await typesOf(items)).toEqual(['run.completed']);
    expect(host.bus.hasListeners('slow')).toBe(false);
  });

  it('gets the end of a run that has ended meanwhile', async () => {
    const run = await aPublishedRun('ended');
    const items = await followBehind('ended', run);
    await run.end();
    expect(await typesOf(items)).toEqual(['thought', 'run.completed']);
  });

  it('gets the reason why the stream was closed, after the recorded events', async () => {
    const items = await followBehind('closed', await aPublishedRun('closed'));
    host.executor.closeStreams('closed', 'SHUTTING_DOWN');
    expect(await typesOf(items)).toEqual(['thought', 'stream.closed']);
  });

  it('ends when the run of another process waits that it fell behind before its first read', async () => {
    const run = await aPublishedRun('remote');
    host.bus.live.close('remote');
    const items = follow('remote');
    for (let i = 0; i < 5; i++) run.publishText(LONG);
    await run.wait();
    expect(await typesOf(items)).toEqual(['run.started', 'run.waiting']);
  });
});
