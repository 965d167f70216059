import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aRun, openDatabase, RunHost, type OpenDatabase } from '../../test/support/run-host.js';
import { RunPublisher } from '../../test/support/run-publisher.js';

let opened: OpenDatabase;
let host: RunHost;
beforeAll(async () => {
  opened = await openDatabase();
  host = new RunHost(opened.database);
});
afterAll(() => opened.close());

interface WatchedRun {
  readonly run: RunPublisher;
  /** The items that followers receive: type, text, id. */
  readonly published: string[];
}

async function newRun(id: string): Promise<WatchedRun> {
  const { run } = await host.journal.create(aRun(id), 'running', 1);
  const published: string[] = [];
  host.bus.subscribe(id, ({ id: place, event }) => {
    published.push([event.type, 'text' in event ? event.text : '', place ?? '-'].join('|'));
  });
  return { run: new RunPublisher(host, run), published };
}

describe('the place of a text event', () => {
  it('has the event before it, the attempt, and the number of UTF-16 units received so far', async () => {
    const { run, published } = await newRun('places');
    run.begin('model:1');
    run.publishText('é🐦');
    run.publishText('a');
    await run.think('hm');
    run.publishText('b');
    await run.complete('é🐦ab');
    run.begin('tool:1:1');
    run.begin('model:2');
    run.publishText('c', 2);
    expect(published).toEqual([
      'step.started||-',
      'message.delta|é🐦|1.1000001.3',
      'message.delta|a|1.1000001.4',
      'thought|hm|2',
      'message.delta|b|2.1000001.5',
      'message.completed|é🐦ab|3',
      'step.started||-',
      'step.started||-',
      'message.delta|c|3.1000003.1',
    ]);
  });

  it('has a new attempt when the model is called again before its message was completed, and voids the old text', async () => {
    const { run, published } = await newRun('again');
    run.begin('model:1');
    run.publishText(' ');
    run.begin('model:1:r1');
    run.publishText('now');
    run.outbox.add({ type: 'step.restarted', iteration: 1, text: 'N' });
    run.publishText('ow');
    expect(published.slice(2)).toEqual([
      'step.started||-',
      'step.restarted||1.1000002.0',
      'message.delta|now|1.1000002.3',
      'step.restarted|N|1.1000003.1',
      'message.delta|ow|1.1000003.3',
    ]);
  });

  it('has a later attempt in every later execution, and voids the incomplete text of the earlier one', async () => {
    const { run, published } = await newRun('taken');
    run.begin('model:1');
    run.publishText('half a');
    const { run: claimed } = await host.journal.claim((await host.journal.find('taken'))!, 1);
    const next = new RunPublisher(host, claimed);
    next.begin('model:1');
    next.publishText('whole');
    expect(published.slice(2)).toEqual([
      'step.started||-',
      'step.restarted||1.2000001.0',
      'message.delta|whole|1.2000001.5',
    ]);
    expect(host.bus.live.find('taken')?.message).toMatchObject({ text: 'whole', isRestart: true });
  });

  it('has no restart when a resumed run continues with a tool, as no text was interrupted', async () => {
    const { published } = await newRun('tool');
    const { run: claimed } = await host.journal.claim((await host.journal.find('tool'))!, 1);
    const next = new RunPublisher(host, claimed);
    next.begin('tool:1:1');
    next.begin('model:2');
    expect(published).toEqual(['step.started||-', 'step.started||-']);
  });
});
