import { afterAll, beforeAll, expect, it } from 'vitest';
import { Database } from '../src/persistence/index.js';
import type { Statement } from '../src/persistence/statement/index.js';
import { MemoryFactory } from '../src/session/memory/index.js';
import { keyHolder } from './support/api-keys.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

const ANN = keyHolder('ann', 'a', 'admin');
const BEN = keyHolder('ben', 'a', 'user', 'all');
/** Statements that lock a session's row, and reject the batch if the row is missing or exists already. */
const HOLDS = /^(?:UPDATE|DELETE FROM|INSERT INTO) session\b(?!.*ON CONFLICT)/;

let llm: FakeLlm;
let jackdaw: Jackdaw;
/** Each change of turns, and whether its batch locked the session before it. */
const changes: { kind: string; isHeld: boolean }[] = [];

beforeAll(async () => {
  llm = await FakeLlm.start();
  llm.always(({ messages }) => ({ text: `answer ${messages.length}` }));
  const env = { SESSION_STORE: 'memory', API_KEYS: `${ANN.entry},${BEN.entry}` };
  jackdaw = await startJackdaw({ llm, env });
  const database = jackdaw.app.get(Database, { strict: false });
  const commit = database.commit.bind(database);
  database.commit = (batch) => {
    changes.push(...changesIn(batch));
    return commit(batch);
  };
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

function changesIn(batch: readonly Statement[]) {
  return batch.flatMap(({ sql, params }, at) => {
    if (!sql.startsWith('INSERT INTO turn_change')) return [];
    const [, session, change] = params;
    const before = batch.slice(0, at).filter((one) => HOLDS.test(one.sql) && one.params.includes(session!));
    const isHeld = before.some((one) => one.sql.startsWith('INSERT') || one.rows === 1);
    return [{ kind: (JSON.parse(String(change)) as { kind: string }).kind, isHeld }];
  });
}

it('changes of a session have one order: each batch that changes turns locks the session’s row first', async () => {
  const send = async (method: string, path: string, body?: unknown) => {
    const init = { method, headers: { ...ANN.headers, 'content-type': 'application/json' } };
    const answer = await jackdaw.send(`/api/${path}`, { ...init, ...(body ? { body: JSON.stringify(body) } : {}) });
    expect([path, answer.status < 300]).toEqual([path, true]);
    return answer.body as Record<string, unknown>;
  };
  const chat = (query: string, more = {}) => send('POST', 'agent/chat', { query, sessionId: 's', ...more });

  const { run_id: first } = await chat('one');
  await jackdaw.chat({ query: 'by ben', sessionId: 's' }, BEN.headers);
  await chat('two', { references: [1] });
  await send('PUT', 'sessions/s/turns/1/pin');
  await send('DELETE', 'sessions/s/turns/1/pin');
  const { run_id: forked } = await send('POST', `runs/${String(first)}/fork`, {
    fromStep: 'model:1',
    edit: { message: 'again' },
  });
  await (await jackdaw.follow(String(forked), undefined, ANN.headers)).all();
  await send('POST', 'sessions/import', { session: await send('GET', 'sessions/s/export'), id: 'copy' });
  await send('DELETE', 'users/ben');
  const memory = await jackdaw.app.get(MemoryFactory).create({ id: 'ann', tenant: 'a', roles: [] });
  for (const content of ['first', 'second']) {
    await memory.addMessage({ role: 'user', content });
    await memory.persist('stored');
  }
  await send('DELETE', 'sessions/s/messages');
  await send('DELETE', 'sessions/s');

  expect(new Set(changes.map(({ kind }) => kind))).toEqual(new Set(['append', 'refer', 'mark', 'drop', 'remove']));
  expect(changes.filter(({ isHeld }) => !isHeld)).toEqual([]);
  expect(changes.length).toBeGreaterThan(12);
});
