import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import type { Message } from '../src/llm/chat/index.js';
import { refusalOf } from '../src/persistence/index.js';
import type { SessionService, Turn } from '../src/session/index.js';
import { ALICE, openDatabase, type OpenDatabase } from './support/run-host.js';
import { sessionsOn } from './support/session-host.js';
import { describeDatabases, testServers } from './support/test-databases.js';

Logger.overrideLogger(false);
/** Sees all of Alice's tenant. */
const ROOT = { ...ALICE, id: 'root', roles: ['admin'] };
const EVE = { id: 'eve', tenant: 'other', roles: [] };
const servers = await testServers();

function turn(n: number, messages: Message[] = [{ role: 'user', content: `question ${n}` }]): Turn {
  return { runId: `run-${n}`, status: 'completed', messages };
}

describeDatabases('the session store', servers, (created) => {
  let opened: OpenDatabase;
  let sessions: SessionService;
  beforeAll(async () => {
    opened = await openDatabase({ DATABASE_URL: created().url });
    ({ sessions } = sessionsOn(opened.database));
  });
  beforeEach(() =>
    opened.database.commit([
      { sql: 'DELETE FROM session', params: [] },
      { sql: 'DELETE FROM session_turn', params: [] },
    ]),
  );
  afterAll(() => opened.close());

  const begin = (id = 's', who = ALICE) => opened.database.commit([sessions.beginStatement(who, id)]);
  const append = (lastTurn: number, added: Turn, id = 's', who = ALICE) =>
    opened.database.commit(sessions.turnStatements(who, id, lastTurn, added));
  const refusal = async (commit: Promise<void>) => refusalOf(await commit.catch((thrown: unknown) => thrown));
  const fill = async (turns: number) => {
    await begin();
    for (let n = 1; n <= turns; n++) await append(n - 1, turn(n));
  };

  it('starts a session once, however many start it at the same time', async () => {
    await Promise.all(Array.from({ length: 10 }, (_, at) => begin('s', { ...ALICE, id: `user-${at}` })));
    const { owner } = await sessions.get(ROOT, 's');
    await append(0, turn(1));
    await begin('s', { ...ALICE, id: 'late' });
    expect(await sessions.get(ROOT, 's')).toMatchObject({ owner, lastTurn: 1, messageCount: 1 });
  });

  it('distinguishes sessions by letter case and by tenant', async () => {
    for (const id of ['s', 'S']) await begin(id);
    await begin('s', EVE);
    await append(0, turn(1), 'S');
    expect(await sessions.get(ALICE, 's')).toMatchObject({ lastTurn: 0 });
    expect(await sessions.get(EVE, 's')).toMatchObject({ lastTurn: 0, owner: 'eve' });
    await expect(sessions.get(EVE, 'S')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });

  it('accepts one of many turns that follow the same turn', async () => {
    await fill(1);
    const refusals = await Promise.all(Array.from({ length: 20 }, (_, at) => refusal(append(1, turn(10 + at)))));
    expect(refusals.filter((reason) => reason === null)).toHaveLength(1);
    expect(refusals.filter((reason) => reason === 'rows')).toHaveLength(19);
    expect(await sessions.get(ALICE, 's')).toMatchObject({ lastTurn: 2, messageCount: 2 });
  });

  it('refuses a turn whose session moved on, does not exist, or has a turn of its run', async () => {
    await fill(2);
    expect(await refusal(append(5, turn(9)))).toBe('rows');
    expect(await refusal(append(0, turn(9), 'nowhere'))).toBe('rows');
    expect(await refusal(append(2, turn(1)))).toBe('unique');
    expect(await sessions.turns(ALICE, 's', 0, 10)).toHaveLength(2);
    expect(await sessions.turns(ALICE, 's', 0, 10)).toMatchObject([turn(1), turn(2)]);
  });

  it('stores messages byte for byte, also long ones', async () => {
    await begin();
    const messages: Message[] = ['NUL \0, lone \ud800, bird 🐦, "quoted" \\ \u2028 end', '🐦"\\'.repeat(200_000)].map(
      (content) => ({ role: 'user', content }),
    );
    await append(0, turn(1, messages));
    const [stored] = await sessions.turns(ALICE, 's', 0, 1);
    expect(JSON.stringify(stored!.messages) === JSON.stringify(messages)).toBe(true);
    expect(stored!.createdAt).toBeGreaterThan(1_700_000_000_000);
  });

  it('returns pages of whole turns', async () => {
    await fill(5);
    const pages = await Promise.all([0, 2, 4, 5].map((after) => sessions.turns(ALICE, 's', after, 2)));
    expect(pages.map((page) => page.map((one) => one.turn))).toEqual([[1, 2], [3, 4], [5], []]);
  });

  it('branches a session', async () => {
    await fill(5);
    await opened.database.commit(await sessions.branchStatements(ALICE, 'b', 's', 3));
    expect(await sessions.turns(ALICE, 'b', 0, 10)).toEqual(await sessions.turns(ALICE, 's', 0, 3));
    expect(await sessions.get(ALICE, 'b')).toMatchObject({ lastTurn: 3, messageCount: 3 });
    const late = await sessions.branchStatements(ALICE, 'c', 's', 1);
    await begin('c');
    expect(await refusal(opened.database.commit(late))).toBe('unique');
  });
});
