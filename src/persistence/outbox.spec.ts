import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { setImmediate } from 'node:timers/promises';
import { gate } from '../../test/support/jackdaw.js';
import { openDatabase, type OpenDatabase } from '../../test/support/run-host.js';
import { AppError } from '../errors/index.js';
import type { Database } from './database.js';
import { Outbox, OutboxRelay } from './outbox.js';
import type { Row, Statement } from './statement/statement.types.js';

const MORE_THAN_A_PAGE = 101;

interface Letter {
  readonly n: number;
  readonly text: string;
}

class Letters extends Outbox<Readonly<Record<'person', string>>, Letter> {
  constructor(database: Database) {
    super(database, { name: 'letter', id: 'n', owner: ['person'], order: 'n' });
  }

  add(person: string, text: string, land = ''): Statement {
    return this.insert({ person, land, text });
  }

  protected read({ n, text }: Row): Letter {
    return { n: n as number, text: text as string };
  }
}

let opened: OpenDatabase;
let letters: Letters;
/** Applied letters in order. */
let received: string[];
/** Errors of failing owners. */
let faults: Map<string, Error>;
let relay: OutboxRelay<Readonly<Record<'person', string>>, Letter>;

beforeAll(async () => {
  opened = await openDatabase();
  const columns = 'n INTEGER PRIMARY KEY, person TEXT, land TEXT, text TEXT, created_at INTEGER';
  await opened.database.commit([{ sql: `CREATE TABLE letter (${columns})`, params: [] }]);
});
afterAll(() => opened.close());
beforeEach(async () => {
  await opened.database.commit([{ sql: 'DELETE FROM letter', params: [] }]);
  letters = new Letters(opened.database);
  received = [];
  faults = new Map();
  relay = new OutboxRelay(letters, async ({ person }, pending) => {
    const fault = faults.get(person);
    if (fault) throw fault;
    for (const { text } of pending) received.push(`${person} ${text}`);
    await letters.done(pending.map(({ n }) => n));
  });
});

describe('an outbox relay', () => {
  const post = (...added: Statement[]) => opened.database.commit(added);
  const remaining = async () => (await letters.late(Date.now(), 1000)).map(({ person }) => person);
  const people = (count: number) => Array.from({ length: count }, (_, at) => `p${at}`);

  it('applies the entries of one owner in commit order and removes them', async () => {
    await post(letters.add('ann', '1'), letters.add('ben', '1'), letters.add('ann', '2'));
    await relay.settle({ person: 'ann' });
    expect([received, await remaining()]).toEqual([['ann 1', 'ann 2'], ['ben']]);
  });

  it('applies the entries of one owner sequentially, also after a failure', async () => {
    const started = gate();
    const blocked = gate();
    let isFirst = true;
    const slow = new OutboxRelay(letters, async (_, pending) => {
      received.push(`read ${pending.length}`);
      if (!isFirst) return letters.done(pending.map(({ n }) => n));
      isFirst = false;
      started.open();
      await blocked.opened;
      throw new Error('lost');
    });
    await post(letters.add('ann', '1'));
    const first = slow.settle({ person: 'ann' });
    await started.opened;
    const second = slow.settle({ person: 'ann' });
    await post(letters.add('ann', '2'));
    blocked.open();
    await expect(first).rejects.toThrow('lost');
    await second;
    expect([received, await remaining()]).toEqual([['read 1', 'read 2'], []]);
  });

  it('settles all late owners except failing ones, and only those that match', async () => {
    faults.set('ben', new Error('lost'));
    await post(letters.add('ann', '1', 'at'), letters.add('ben', '1', 'at'), letters.add('cas', '1', 'be'));
    expect(await relay.settleLate(0)).toEqual([]);
    expect(await relay.settleLate(Date.now(), { land: 'at' })).toEqual([new Error('lost')]);
    expect([received, await remaining()]).toEqual([['ann 1'], ['ben', 'cas']]);
  });

  it('passes a whole page of owners with damaged data', async () => {
    for (const person of people(MORE_THAN_A_PAGE)) {
      faults.set(person, new AppError('SESSION_FILE_DAMAGED', 'damaged'));
      await post(letters.add(person, '1'));
    }
    await post(letters.add('zoe', '1'));
    expect(await relay.settleLate(Date.now())).toHaveLength(MORE_THAN_A_PAGE);
    expect(received).toEqual(['zoe 1']);
  });

  it('ends a sweep after one page if the store is unavailable', async () => {
    for (const person of people(MORE_THAN_A_PAGE)) {
      faults.set(person, new Error('connection refused'));
      await post(letters.add(person, '1'));
    }
    expect(await relay.settleLate(Date.now())).toHaveLength(MORE_THAN_A_PAGE - 1);
  });

  it('settles an owner once per sweep, also if its entries remain', async () => {
    const applied: string[] = [];
    const idle = new OutboxRelay(letters, async ({ person }, pending) => {
      applied.push(person);
      if (applied.length > MORE_THAN_A_PAGE + 1) throw new Error('endless');
      if (person === 'zoe') await letters.done(pending.map(({ n }) => n));
    });
    for (const person of [...people(MORE_THAN_A_PAGE), 'zoe']) await post(letters.add(person, '1'));
    expect(await idle.settleLate(Date.now())).toEqual([]);
    expect(applied.toSorted()).toEqual([...people(MORE_THAN_A_PAGE), 'zoe'].toSorted());
    expect(await remaining()).toHaveLength(MORE_THAN_A_PAGE);
  });

  it('sweeps periodically, and warns once until a sweep succeeds', async () => {
    const warnings: string[] = [];
    let isDown = true;
    const calls: number[] = [];
    const swept = new OutboxRelay(letters, async (_, pending) => {
      calls.push(pending.length);
      if (isDown) throw new Error('connection refused');
      await letters.done(pending.map(({ n }) => n));
    });
    const start = () => swept.start({ everyMs: 1, ageMs: 0, warn: (message) => warnings.push(message) });
    await post(letters.add('ann', '1'));
    await start();
    while (calls.length < 3) await setImmediate();
    isDown = false;
    while ((await remaining()).length > 0) await setImmediate();
    await swept.stop();
    expect(warnings).toEqual(['connection refused']);

    isDown = true;
    await post(letters.add('ann', '2'));
    await start();
    while (calls.length < 6) await setImmediate();
    await swept.stop();
    expect(warnings).toEqual(['connection refused', 'connection refused']);
  });
});
