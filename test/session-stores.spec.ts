import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database } from '../src/persistence/index.js';
import { keyHolder } from './support/api-keys.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { testRedisUrl, testServers, type TestDatabase } from './support/test-databases.js';

const ANN = keyHolder('ann', 'a', 'admin');
const BEN = keyHolder('ben', 'a', 'user', 'all');
const redis = await testRedisUrl();
const servers = await testServers();

let llm: FakeLlm;
let folder: string;
const created: TestDatabase[] = [];
beforeAll(async () => {
  llm = await FakeLlm.start();
  llm.always(({ messages }) => ({ text: `answer ${messages.length}` }));
  folder = mkdtempSync(join(tmpdir(), 'jackdaw-stores-'));
});
afterAll(async () => {
  await llm.close();
  await Promise.all(created.map((one) => one.drop()));
  rmSync(folder, { recursive: true });
});

const shown = () => llm.lastRequest.messages.slice(1).map(({ content }) => content);

async function databaseUrl(kind: string): Promise<string> {
  const database = await servers.find((one) => one.kind === kind)!.create();
  created.push(database);
  return database.url;
}

/**
 * The session files of a folder that contain a word; database files are excluded, since their free pages may hold it.
 */
function filesWith(dir: string, word: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.jsonl'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path, 'utf8').includes(word));
}

const stores = [
  { name: 'file', answers: true, env: async () => ({ SESSION_STORE: 'file' }) },
  { name: 'redis', answers: redis !== null, env: async () => ({ SESSION_STORE: redis! }) },
  ...servers.map(({ kind, answers }) => ({
    name: `another ${kind}`,
    answers,
    // An in-memory store would end with the first server.
    env: async () => ({
      SESSION_STORE: kind === 'sqlite' ? `sqlite:${join(folder, 'other.db')}` : await databaseUrl(kind),
    }),
  })),
];

for (const { name, answers, env } of stores) {
  const isLeftOut = !answers && !process.env['CI'];
  (isLeftOut ? describe.skip : describe)(`sessions in ${name}`, () => {
    it('are continued after a restart, cleared and deleted', async () => {
      const session = `用户:${Date.now()}.é@${name.replaceAll(' ', '-')}`;
      const inUrl = encodeURIComponent(session);
      const dataDir = mkdtempSync(join(folder, 'data-'));
      const given = await env();
      const start = () => startJackdaw({ llm, dataDir, env: given });
      let jackdaw: Jackdaw = await start();
      const chat = (query: string) => jackdaw.chat({ query, sessionId: session });
      const turnsInJournal = () => jackdaw.app.get(Database, { strict: false }).query('SELECT turn FROM session_turn');

      await chat('one');
      await jackdaw.stop();
      jackdaw = await start();
      await chat('two');
      expect(shown()).toEqual(['one', 'answer 2', 'two']);
      expect(await turnsInJournal()).toEqual([]);
      expect(await jackdaw.messages(inUrl)).toHaveLength(4);
      const fork = await jackdaw.get(`/api/runs?sessionId=${inUrl}`);
      const [last] = fork.body['runs'] as unknown as { run_id: string }[];
      const forked = await jackdaw.post(`/api/runs/${last!.run_id}/fork`, {
        fromStep: 'model:1',
        edit: { message: 'three' },
      });
      expect(forked.status).toBe(202);
      await (await jackdaw.follow(String(forked.body['run_id']))).all();
      expect(shown()).toEqual(['one', 'answer 2', 'three']);

      expect((await jackdaw.send(`/api/sessions/${inUrl}/messages`, { method: 'DELETE' })).status).toBe(204);
      await chat('four');
      expect(shown()).toEqual(['four']);
      expect((await jackdaw.send(`/api/sessions/${inUrl}`, { method: 'DELETE' })).status).toBe(204);
      await chat('five');
      expect(shown()).toEqual(['five']);
      await jackdaw.send(`/api/sessions/${inUrl}`, { method: 'DELETE' });
      await jackdaw.stop();
      // Only the session of the fork remains.
      const files = name === 'file' ? readdirSync(join(dataDir, 'sessions')) : ['none'];
      expect(files).toHaveLength(1);
    });

    it('delete an erased user’s turns in the sessions of others', async () => {
      const dataDir = mkdtempSync(join(folder, 'data-'));
      const given = { ...(await env()), API_KEYS: `${ANN.entry},${BEN.entry}` };
      const jackdaw = await startJackdaw({ llm, dataDir, env: given });
      const [of, bens] = [
        `ann-${name.replaceAll(' ', '-')}-${Date.now()}`,
        `ben-${name.replaceAll(' ', '-')}-${Date.now()}`,
      ];
      const chat = (query: string, sessionId: string, { headers }: typeof ANN) =>
        jackdaw.chat({ query, sessionId }, headers);
      await chat('one', of, ANN);
      await chat('two word-of-ben', of, BEN);
      await chat('three word-of-ben', bens, BEN);
      await chat('four', of, ANN);
      const erased = await jackdaw.send('/api/users/ben', { method: 'DELETE', headers: ANN.headers });
      expect(erased.body).toMatchObject({ sessions: 1, runs: 2, turns: 1 });
      await chat('five', of, ANN);
      expect(shown().filter((text) => !String(text).startsWith('answer'))).toEqual(['one', 'four', 'five']);
      const { body } = await jackdaw.send(`/api/sessions/${of}`, { headers: ANN.headers });
      expect(body).toMatchObject({ turn_count: 4, message_count: 6 });
      expect(filesWith(dataDir, 'word-of-ben')).toEqual([]);
      await jackdaw.send(`/api/sessions/${of}`, { method: 'DELETE', headers: ANN.headers });
      await jackdaw.stop();
    });
  });
}
