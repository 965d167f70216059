import { expect, it } from 'vitest';
import { FactMemory } from '../src/session/index.js';
import { keyHolder } from './support/api-keys.js';
import { byTurn, call } from './support/forks.js';
import { describeWorlds } from './support/private-world.js';
import { testServers } from './support/test-databases.js';

const ANN = keyHolder('ann', 'a', 'admin');
const BEN = keyHolder('ben', 'a', 'user', 'all');
/**
 * Words from all of Ben's content: messages, calls, facts, decisions, edits, answers and thoughts. Ann uses none of
 * them.
 */
const WORDS = [
  'kingfisher',
  'woodpecker',
  'nightingale',
  'goldcrest',
  'bullfinch',
  'dunnock',
  'siskin',
  'yellowhammer',
];
const THOUGHT = { thought: 'a siskin', thoughtNumber: 1, totalThoughts: 1, nextThoughtNeeded: false };

describeWorlds('the erasure of a user', await testServers(), (current, kind) => {
  const env = {
    API_KEYS: `${ANN.entry},${BEN.entry}`,
    LONG_TERM_MEMORY: 'on',
    BUILTIN_TOOLS: 'sequentialthinking',
    AGENT_MEMORY_POLICY: 'lru',
  };

  /** Ben's words that the database or a file still contains. */
  async function left(): Promise<string[]> {
    const [tables, files] = [await current().stored(), kind === 'sqlite' ? current().files() : ''];
    const isIn = (word: string) => [tables, files].some((text) => text.includes(word));
    return WORDS.filter(isIn);
  }

  async function talk(): Promise<void> {
    const { llm, jackdaw } = current();
    const chat = (query: string, sessionId: string, { headers } = BEN) =>
      jackdaw.chat({ query, sessionId, metadata: { from: headers === BEN.headers ? 'a goldcrest' : 'her' } }, headers);
    llm.always(
      byTurn(
        {
          text: 'a woodpecker',
          calls: [call('a', 'look', { text: 'dunnock' }), call('b', 'sequentialthinking', THOUGHT)],
        },
        { text: 'the nightingale' },
      ),
    );
    const first = await chat(`a kingfisher? ${'kingfisher '.repeat(3000)}`, 'bens');
    expect(first.body).toMatchObject({ result: 'the nightingale' });
    llm.always(byTurn({ calls: [call('p', 'pay', { to: 'x', amount: 1 })] }, { text: 'nothing for it' }));
    const second = await chat('pay', 'anns', BEN);
    expect(second.status).toBe(202);
    const path = `/api/runs/${String(second.body['run_id'])}`;
    expect((await jackdaw.post(`${path}/deny`, { reason: 'no bullfinch' }, BEN.headers)).status).toBe(202);
    await (await jackdaw.follow(String(second.body['run_id']), 0, BEN.headers)).all();
    llm.always({ text: 'done' });
    const edit = { agent: { instructions: 'Answer as a yellowhammer.' } };
    const forked = await jackdaw.post(
      `/api/runs/${String(first.body['run_id'])}/fork`,
      { fromStep: 'model:1', edit },
      BEN.headers,
    );
    await (await jackdaw.follow(String(forked.body['run_id']), 0, BEN.headers)).all();
    const facts = jackdaw.app.get(FactMemory, { strict: false });
    await facts.remember({ tenant: 'a', user: 'ben' }, 'keeps a kingfisher');
    await chat('mine', 'anns', ANN);
  }

  it("leaves none of the user's words in tables and files", async () => {
    const jackdaw = await current().start('', env);
    await jackdaw.post('/api/sessions', { id: 'anns' }, ANN.headers);
    await jackdaw.post('/api/sessions', { id: 'cleared' }, BEN.headers);
    current().llm.always({ text: 'a woodpecker' });
    for (let n = 0; n < 20; n++) await jackdaw.chat({ query: `kingfisher ${n}`, sessionId: 'cleared' }, BEN.headers);
    await jackdaw.send('/api/sessions/cleared', { method: 'DELETE', headers: BEN.headers });
    await talk();
    expect(await left()).toEqual(WORDS);
    const erased = await jackdaw.send('/api/users/ben', { method: 'DELETE', headers: ANN.headers });
    expect(erased).toMatchObject({ status: 200, body: { sessions: 2, runs: 23, turns: 1 } });
    expect(await left()).toEqual([]);
    expect((await jackdaw.get('/api/sessions/anns', ANN.headers)).body).toMatchObject({ turn_count: 2 });
  });
});
