import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { SessionKey, StoredTurn, TurnArchive, TurnChange } from '../session/index.js';
import { assertJson, contractCase, type ContractCase } from './contract.js';

const ALL = [1, 2, 3, 4, 5, 6, 7, 8, 9];

function turn(n: number, more: Partial<StoredTurn> = {}): StoredTurn {
  return {
    turn: n,
    runId: `run-${n}`,
    status: 'completed',
    messages: [
      { role: 'user', content: `question ${n}, NUL \0, lone \ud800, bird 🐦, "quoted" \\ \u2028` },
      { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'add', arguments: '{"a":1}' }] },
      { role: 'tool', toolCallId: 'c', name: 'add', content: '12345678901234567890' },
      { role: 'assistant', content: `answer ${n}` },
    ],
    tokens: 10,
    plainTokens: 9,
    mark: null,
    createdAt: 1_700_000_000_000 + n,
    ...more,
  };
}

/** Applies changes to one session of an archive, numbered in their order. */
class Session {
  private seq = 0;

  constructor(
    readonly archive: TurnArchive,
    readonly key: SessionKey,
  ) {}

  async apply(...changes: readonly TurnChange[]): Promise<void> {
    for (const change of changes) await this.archive.apply(this.key, ++this.seq, change);
  }

  /** Appends turns without marks. */
  fill(...numbers: readonly number[]): Promise<void> {
    return this.apply(...numbers.map((n) => append(n)));
  }

  async numbers(turns: readonly number[] = ALL): Promise<number[]> {
    return (await this.archive.get(this.key, turns)).map((one) => one.turn);
  }

  async marks(): Promise<[number, number][]> {
    return [...(await this.archive.marks(this.key))].toSorted(([a], [b]) => a - b);
  }
}

function append(n: number, more: Partial<StoredTurn> = {}): TurnChange {
  return { kind: 'append', turn: turn(n, more) };
}

function rule(name: string, check: (session: Session) => Promise<void>): ContractCase<TurnArchive> {
  return contractCase<TurnArchive>(name, async (archive) => {
    await archive.prepare();
    await check(new Session(archive, { tenant: 'te nant/é', id: randomUUID() }));
  });
}

/** The rules of every `TurnArchive`. */
export const turnArchiveContract: readonly ContractCase<TurnArchive>[] = [
  rule('has no turns of an unknown session', async ({ archive, key }) => {
    assertJson(await archive.get(key, [1, 2]), []);
    assert.equal((await archive.span(key)).last, 0);
    assertJson([...(await archive.marks(key))], []);
  }),

  rule('returns the existing ones of the requested turns, the oldest first', async (session) => {
    await session.fill(1, 2, 3);
    assertJson(await session.numbers([3, 9, 1]), [1, 3]);
    assertJson(await session.numbers([]), []);
    assertJson(await session.archive.span(session.key), { first: 1, last: 3 });
  }),

  rule('returns a turn unchanged', async (session) => {
    await session.fill(1);
    const [{ mark: _mark, ...stored } = turn(0)] = await session.archive.get(session.key, [1]);
    const { mark: _none, ...expected } = turn(1);
    assertJson(stored, expected);
  }),

  rule('stores a turn of 1 MB', async (session) => {
    const content = '🐦"\\'.repeat(200_000);
    await session.apply(append(1, { messages: [{ role: 'user', content }] }));
    const [stored] = await session.archive.get(session.key, [1]);
    assert.equal(stored?.messages[0]?.content === content, true);
  }),

  rule('distinguishes tenants and ids byte by byte', async (session) => {
    const { archive, key } = session;
    await session.fill(1);
    for (const other of [
      { ...key, tenant: 'TE NANT/é' },
      { ...key, id: key.id.toUpperCase() },
      { ...key, id: `${key.id} ` },
    ])
      assertJson(await archive.get(other, [1]), []);
  }),

  rule('applies a repeated change once', async ({ archive, key }) => {
    for (const seq of [1, 1]) await archive.apply(key, seq, append(1));
    for (const seq of [2, 2]) await archive.apply(key, seq, append(2));
    assertJson(
      (await archive.get(key, ALL)).map((one) => one.turn),
      [1, 2],
    );
  }),

  rule('returns the number of an applied change', async ({ archive, key }) => {
    assert.equal(await archive.apply(key, 7, append(1)), 7);
    assert.equal(await archive.apply(key, 8, { kind: 'remove', through: 1 }), 8);
  }),

  rule('removes the first turns with their marks', async (session) => {
    await session.fill(1, 2, 3, 4);
    await session.apply({ kind: 'mark', turn: 2, mark: 50 }, { kind: 'remove', through: 3 });
    assertJson([await session.numbers(), await session.marks()], [[4], []]);
    assert.equal((await session.archive.span(session.key)).last, 4);
    await session.fill(5);
    assertJson(await session.numbers(), [4, 5]);
  }),

  rule('has no turns after the removal of all', async (session) => {
    await session.fill(1, 2);
    await session.apply({ kind: 'remove', through: 2 });
    assertJson([await session.numbers(), await session.marks()], [[], []]);
    assert.equal((await session.archive.span(session.key)).last, 0);
    await session.fill(3);
    assertJson(await session.numbers(), [3]);
  }),

  rule('drops turns between others with their marks', async (session) => {
    await session.fill(1, 2, 3, 4);
    await session.apply({ kind: 'mark', turn: 2, mark: 50 }, { kind: 'mark', turn: 4, mark: 60 });
    await session.apply({ kind: 'drop', turns: [2, 3, 9] }, { kind: 'drop', turns: [2] });
    assertJson([await session.numbers(), await session.marks()], [[1, 4], [[4, 60]]]);
  }),

  rule('sets, replaces and removes the mark of an existing turn', async (session) => {
    await session.apply(append(1, { mark: 5 }), append(2));
    await session.apply({ kind: 'mark', turn: 2, mark: 7 }, { kind: 'mark', turn: 9, mark: 7 });
    assertJson(await session.marks(), [
      [1, 5],
      [2, 7],
    ]);
    await session.apply({ kind: 'mark', turn: 1, mark: 3 }, { kind: 'mark', turn: 2, mark: null });
    assertJson(await session.marks(), [[1, 3]]);
  }),

  rule('raises a mark by a reference, and never lowers it', async (session) => {
    await session.fill(1, 2);
    await session.apply({ kind: 'refer', turn: 1, by: 8 }, { kind: 'refer', turn: 1, by: 4 });
    await session.apply({ kind: 'refer', turn: 9, by: 8 });
    assertJson(await session.marks(), [[1, 8]]);
  }),
];

/** The rules of a `TurnArchive` that several processes share, in addition to those of every archive. */
export const sharedTurnArchiveContract: readonly ContractCase<TurnArchive>[] = [
  rule('skips a change after a later one, and returns the greatest applied number', async ({ archive, key }) => {
    await archive.apply(key, 10, append(1));
    await archive.apply(key, 12, { kind: 'mark', turn: 1, mark: 9 });
    assert.equal(await archive.apply(key, 11, { kind: 'mark', turn: 1, mark: null }), 12);
    assert.equal(await archive.apply(key, 11, append(2)), 12);
    assert.equal(await archive.apply(key, 11, { kind: 'drop', turns: [1] }), 12);
    assertJson(
      [(await archive.get(key, ALL)).map((one) => one.turn), [...(await archive.marks(key))]],
      [[1], [[1, 9]]],
    );
  }),

  rule('restores no removed turn when its change arrives late', async ({ archive, key }) => {
    await archive.apply(key, 1, append(1));
    await archive.apply(key, 3, { kind: 'remove', through: 2 });
    assert.equal(await archive.apply(key, 2, append(2)), 3);
    assertJson(await archive.get(key, ALL), []);
  }),

  rule('applies changes again after it deleted the record of their numbers', async ({ archive, key }) => {
    await archive.apply(key, 5, append(1));
    await archive.forgetDone(key);
    assert.equal(await archive.apply(key, 1, append(2)), 1);
    assertJson(
      (await archive.get(key, ALL)).map((one) => one.turn),
      [1, 2],
    );
  }),

  rule('applies the changes of many nodes at once as those of one', async ({ archive, key }) => {
    const changes: readonly TurnChange[] = [
      append(1),
      append(2),
      { kind: 'remove', through: 1 },
      append(3),
      { kind: 'refer', turn: 2, by: 3 },
    ];
    const node = async () => {
      for (const [at, change] of changes.entries()) await archive.apply(key, at + 1, change);
    };
    await Promise.all(Array.from({ length: 8 }, node));
    assertJson(
      [(await archive.get(key, ALL)).map((one) => one.turn), [...(await archive.marks(key))]],
      [[2, 3], [[2, 3]]],
    );
  }),
];
