import { afterAll, beforeAll, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import type { SessionMessage, SessionService } from '../src/session/index.js';
import type { Memory, MemoryFactory } from '../src/session/memory/index.js';
import { ALICE, aRun, openDatabase, RunHost, type OpenDatabase } from './support/run-host.js';
import { sessionsOn } from './support/session-host.js';
import { describeDatabases, testServers } from './support/test-databases.js';

Logger.overrideLogger(false);
const EVE = { id: 'eve', tenant: 'other', roles: [] };
const CALL = { id: 'c1', name: 'clock', arguments: '{}' };
const servers = await testServers();

const user = (content: string): SessionMessage => ({ role: 'user', content });
const assistant = (content: string): SessionMessage => ({ role: 'assistant', content });
const asks: SessionMessage = { role: 'assistant', content: '', toolCalls: [CALL] };
const result: SessionMessage = { role: 'tool', toolCallId: 'c1', name: 'clock', content: 'noon' };
const texts = (messages: readonly SessionMessage[]) => messages.map(({ content }) => content);

describeDatabases('an in-memory conversation', servers, (created) => {
  let opened: OpenDatabase;
  let memories: MemoryFactory;
  let sessions: SessionService;
  let ids = 0;
  beforeAll(async () => {
    opened = await openDatabase({ DATABASE_URL: created().url });
    ({ memories, sessions } = sessionsOn(opened.database));
  });
  afterAll(() => opened.close());

  const fresh = () => `s-${ids++}`;
  const holding = async (...messages: readonly SessionMessage[]): Promise<Memory> => {
    const memory = await memories.create(ALICE);
    for (const message of messages) await memory.addMessage(message);
    return memory;
  };
  const restored = async (id: string): Promise<Memory> => {
    const memory = await memories.create(ALICE);
    await memory.restore(id);
    return memory;
  };

  it.each<[unknown, RegExp]>([
    ['user', /addMessage takes one message, such as .*; it received a value of type string/],
    [undefined, /it received a value of type undefined/],
    [{ role: 'robot', content: 'x' }, /message\.role: /],
    [{ role: 'user' }, /message\.content: /],
    [{ role: 'tool', content: 'x', name: 'n' }, /message\.toolCallId: /],
    [{ role: 'assistant', content: '', toolCalls: [{ name: 'n' }] }, /message\.toolCalls\.0\.id: /],
  ])('refuses %j, which is no message', async (message, problem) => {
    const memory = await memories.create(ALICE);
    const adding = memory.addMessage(message as SessionMessage);
    await expect(adding).rejects.toMatchObject({ code: 'VALIDATION_FAILED', message: expect.stringMatching(problem) });
    expect(await memory.getMessages()).toEqual([]);
  });

  it('returns messages with their time and metadata until it is cleared', async () => {
    const before = Date.now();
    const memory = await holding({ ...user('one'), metadata: { from: 'web' } }, asks, result, assistant('noon'));
    const all = await memory.getMessages();
    expect(all[0]).toMatchObject({ role: 'user', content: 'one', metadata: { from: 'web' } });
    expect(all.every(({ at = 0 }) => at >= before)).toBe(true);
    expect(texts(await memory.getMessages(2))).toEqual(['noon', 'noon']);
    expect(await memory.getMessages(0)).toEqual([]);
    await memory.clear();
    expect(await memory.getMessages()).toEqual([]);
    expect(await memory.getContext()).toEqual([]);
  });

  it('returns a context of whole turns within a token limit', async () => {
    const memory = await holding(
      { role: 'system', content: 'Be brief.' },
      user('one'),
      asks,
      result,
      assistant('noon'),
      user('two '.repeat(100)),
      assistant('yes'),
      user('three'),
    );
    expect((await memory.getContext()).length).toBe(8);
    // The context contains the open question and the newest answered turn.
    const few = texts(await memory.getContext(60));
    expect(few).toEqual(['Be brief.', expect.stringContaining('characters omitted'), 'yes', 'three']);
    expect(texts(await memory.getContext(0))).toEqual(['Be brief.']);
  });

  it('repairs a context in which a tool result is missing', async () => {
    const memory = await holding(user('one'), asks, user('two'));
    expect((await memory.getContext()).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
  });

  it('becomes a session that both processes can continue', async () => {
    const id = fresh();
    const memory = await holding(user('one'), assistant('1'));
    await memory.persist(id);
    await memory.addMessage(user('two'));
    await memory.persist(id);
    await memory.addMessage(assistant('2'));
    await memory.persist(id);
    await memory.persist(id);
    const other = await restored(id);
    expect(texts(await other.getMessages())).toEqual(['one', '1', 'two', '2']);
    expect(await other.getMessages()).toEqual(await memory.getMessages());
    await other.addMessage(user('three'));
    await other.persist(id);
    expect(await sessions.get(ALICE, id)).toMatchObject({ lastTurn: 4, messageCount: 5, owner: ALICE.id });
    expect((await sessions.turns(ALICE, id, 0, 9)).map(({ messages }) => texts(messages))).toEqual([
      ['one', '1'],
      ['two'],
      ['2'],
      ['three'],
    ]);
  });

  it('can be stored as a second session but not as a session of another principal', async () => {
    const [id, copy] = [fresh(), fresh()];
    await (await holding(user('one'), assistant('1'))).persist(id);
    const memory = await restored(id);
    await memory.addMessage(user('two'));
    await expect((await holding(user('mine'))).persist(id)).rejects.toMatchObject({ code: 'SESSION_EXISTS' });
    await memory.persist(copy);
    expect(texts(await (await restored(copy)).getMessages())).toEqual(['one', '1', 'two']);
    expect(texts(await (await restored(id)).getMessages())).toEqual(['one', '1']);
    const foreign = await memories.create(EVE);
    await expect(foreign.restore(id)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });

  it('restores the newest part of a long session', async () => {
    const id = fresh();
    await (await holding(...Array.from({ length: 100 }, (_, i) => user(`${i}`)))).persist(id);
    const memory = await memories.create(ALICE, { maxMessages: 3 });
    await memory.restore(id);
    expect(texts(await memory.getMessages())).toEqual(['97', '98', '99']);
    await memory.addMessage(assistant('and'));
    await memory.persist(id);
    expect(await sessions.get(ALICE, id)).toMatchObject({ lastTurn: 101, messageCount: 101 });
  });

  it('retains messages that it cannot persist', async () => {
    const id = fresh();
    const memory = await holding(user('one'), asks);
    await expect(memory.persist(id)).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
    await memory.addMessage(result);
    await expect(memory.persist('no/such')).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
    await memory.persist(id);
    const late = await restored(id);
    await memory.addMessage(user('first'));
    await late.addMessage(user('second'));
    await memory.persist(id);
    await expect(late.persist(id)).rejects.toMatchObject({ code: 'SESSION_BUSY' });
    expect(texts(await late.getMessages())).toEqual(['one', '', 'noon', 'second']);
    await opened.database.commit([{ sql: 'DELETE FROM session WHERE id = ?', params: [id] }]);
    await expect(late.persist(id)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });

  it('does not write to a session with an open run', async () => {
    const id = fresh();
    await (await holding(user('one'))).persist(id);
    const memory = await restored(id);
    await memory.addMessage(user('two'));
    const { journal } = new RunHost(opened.database);
    await journal.create(aRun('runs', id), 'running', Date.now());
    await expect(memory.persist(id)).rejects.toMatchObject({ code: 'SESSION_BUSY', isRetryable: true });
    expect(await sessions.get(ALICE, id)).toMatchObject({ lastTurn: 1 });
  });

  it('refuses a result without a call, and an unknown policy', async () => {
    const memory = await holding(user('one'));
    await expect(memory.addMessage(result)).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
    expect(texts(await memory.getMessages())).toEqual(['one']);
    await expect(memories.create(ALICE, { policy: 'none' })).rejects.toMatchObject({ code: 'MEMORY_POLICY_INVALID' });
    expect(await (await memories.create(ALICE, { enabled: false })).getContext()).toEqual([]);
  });
});
