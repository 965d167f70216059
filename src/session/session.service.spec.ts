import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ALICE, openDatabase, type OpenDatabase } from '../../test/support/run-host.js';
import type { Message } from '../llm/chat/index.js';
import { refusalOf } from '../persistence/index.js';
import { neverSummarise, RULES, sessionsOn } from '../../test/support/session-host.js';
import type { SessionMemory } from './memory/session-memory.js';
import { assertSessionId } from './turn-place.factory.js';
import type { SessionService } from './session.service.js';
import type { Turn } from './session.types.js';

const EVE = { id: 'eve', tenant: 'other', roles: ['admin'] };

let opened: OpenDatabase;
let sessions: SessionService;
let memory: SessionMemory;
beforeEach(async () => {
  opened = await openDatabase();
  ({ sessions, memory } = sessionsOn(opened.database));
});
afterEach(() => opened.close());

function turn(n: number, more: Partial<Turn> = {}): Turn {
  const messages: Message[] = [
    { role: 'user', content: `question ${n}` },
    { role: 'assistant', content: '', toolCalls: [{ id: `c${n}`, name: 'calculator', arguments: '{"a": 1}' }] },
    { role: 'tool', toolCallId: `c${n}`, name: 'calculator', content: String(n) },
    { role: 'assistant', content: `answer ${n}` },
  ];
  return { runId: `run-${n}`, status: 'completed', messages, ...more };
}

async function begin(id = 's', who = ALICE): Promise<void> {
  await opened.database.commit([sessions.beginStatement(who, id)]);
}

async function append(lastTurn: number, added: Turn, id = 's', who = ALICE): Promise<void> {
  await opened.database.commit(sessions.turnStatements(who, id, lastTurn, added));
}

async function fill(turns: number): Promise<void> {
  await begin();
  for (let n = 1; n <= turns; n++) await append(n - 1, turn(n));
}

async function seen(id: string, { tenant } = ALICE): Promise<unknown[]> {
  return questions((await memory.look({ tenant, id }, RULES, { summarise: neverSummarise, count: () => 0 })).messages);
}

function questions(messages: readonly Message[]): unknown[] {
  return messages.filter(({ role }) => role === 'user').map(({ content }) => content);
}

describe('a turn', () => {
  it('is appended whole, and is counted', async () => {
    await fill(2);
    expect(await sessions.get(ALICE, 's')).toMatchObject({ owner: 'alice', lastTurn: 2, messageCount: 8 });
    expect(await sessions.turns(ALICE, 's', 0, 10)).toMatchObject([
      { turn: 1, ...turn(1) },
      { turn: 2, ...turn(2) },
    ]);
  });

  it('is read byte for byte', async () => {
    await begin();
    const content = 'NUL \0, lone \ud800, bird 🐦, "quoted" \\ \u2028 end';
    const messages: Message[] = [{ role: 'user', content }];
    await append(0, turn(1, { messages }));
    const [stored] = await sessions.turns(ALICE, 's', 0, 1);
    expect(stored!.messages).toEqual(messages);
  });

  it('is refused with its whole batch if the session has a different last turn', async () => {
    await fill(1);
    const beside = sessions.beginStatement(ALICE, 'beside');
    const late = [beside, ...sessions.turnStatements(ALICE, 's', 0, turn(2))];
    const error = await opened.database.commit(late).catch((thrown: unknown) => thrown);
    expect(refusalOf(error)).toBe('rows');
    expect(refusalOf(await append(5, turn(2)).catch((thrown: unknown) => thrown))).toBe('rows');
    expect(await sessions.get(ALICE, 's')).toMatchObject({ lastTurn: 1, messageCount: 4 });
    expect(await sessions.turns(ALICE, 's', 0, 10)).toHaveLength(1);
    await expect(sessions.get(ALICE, 'beside')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });

  it('is refused if its run already has a turn in the session', async () => {
    await fill(1);
    const error = await append(1, turn(1)).catch((thrown: unknown) => thrown);
    expect(refusalOf(error)).toBe('unique');
    expect(await sessions.get(ALICE, 's')).toMatchObject({ lastTurn: 1 });
  });

  it('is refused without its session', async () => {
    const error = await append(0, turn(1), 'nowhere').catch((thrown: unknown) => thrown);
    expect(refusalOf(error)).toBe('rows');
    expect(await opened.database.query('SELECT * FROM session_turn')).toEqual([]);
  });
});

describe('a branch of a session', () => {
  const branch = async (to: string, from: string | null, through: number, who = ALICE) =>
    opened.database.commit(await sessions.branchStatements(who, to, from, through));

  it.each([0, 1, 3, 5])('has the first %i turns of the session, unchanged', async (through) => {
    await fill(5);
    await branch('b', 's', through);
    const turns = await sessions.turns(ALICE, 's', 0, 10);
    expect(await sessions.turns(ALICE, 'b', 0, 10)).toEqual(turns.slice(0, through));
    expect(await sessions.get(ALICE, 'b')).toMatchObject({ lastTurn: through, messageCount: 4 * through });
  });

  it('has the message count of its own turns if the session is long', async () => {
    await fill(230);
    await branch('b', 's', 7);
    expect(await sessions.get(ALICE, 'b')).toMatchObject({ lastTurn: 7, messageCount: 28 });
  });

  it('is independent of the session', async () => {
    await fill(2);
    await branch('b', 's', 1);
    await append(1, turn(7), 'b');
    expect(await seen('b')).toEqual(['question 1', 'question 7']);
    expect(await seen('s')).toEqual(['question 1', 'question 2']);
  });

  it('can be branched again', async () => {
    await fill(2);
    await branch('b', 's', 2);
    await branch('c', 'b', 1);
    expect(await sessions.turns(ALICE, 'c', 0, 10)).toEqual((await sessions.turns(ALICE, 's', 0, 10)).slice(0, 1));
  });

  it('never replaces a session, and never copies turns of another tenant', async () => {
    await fill(1);
    await begin('b');
    await expect(branch('b', 's', 1)).rejects.toMatchObject({ code: 'SESSION_EXISTS' });
    await expect(branch('c', 's', 1, EVE)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    await branch('b', null, 0, EVE);
    expect(await sessions.get(EVE, 'b')).toMatchObject({ owner: 'eve', lastTurn: 0, messageCount: 0 });
  });
});

describe('a session', () => {
  it('is unchanged when it is started again', async () => {
    await fill(1);
    await begin('s', { ...ALICE, id: 'bob' });
    expect(await sessions.get(ALICE, 's')).toMatchObject({ owner: 'alice', lastTurn: 1 });
  });

  it('is separate from a session with the same id in another tenant', async () => {
    await fill(1);
    await expect(sessions.get(EVE, 's')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    await expect(sessions.turns(EVE, 's', 0, 10)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    await begin('s', EVE);
    await append(0, turn(2), 's', EVE);
    expect(await seen('s')).toEqual(['question 1']);
    expect(await seen('s', EVE)).toEqual(['question 2']);
  });

  it('is read in pages of whole turns', async () => {
    await fill(5);
    const page = async (after: number) => (await sessions.turns(ALICE, 's', after, 2)).map((one) => one.turn);
    expect([await page(0), await page(2), await page(4), await page(5)]).toEqual([[1, 2], [3, 4], [5], []]);
  });

  const unusual = ['用户:张三@例子.cn', 'é', 'ไทย', 'a.b', '...', '\u{20000}'.repeat(128)];
  it.each(unusual)('may have the id %j', (id) => {
    expect(() => assertSessionId(id)).not.toThrow();
  });

  const wrong = [
    '',
    'a b',
    'a/b',
    'a\n',
    '.',
    '..',
    'a%2F',
    'e\u0301',
    '\u0301a',
    'a\u200Db',
    '\u3164',
    'x'.repeat(129),
  ];
  it.each(wrong)('never has the id %j', (id) => {
    expect(() => assertSessionId(id)).toThrow('The session id must be 1 to 128 letters, digits');
  });
});
