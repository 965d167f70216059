import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database } from '../src/persistence/index.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { testRedisUrl, testServers, type TestDatabase } from './support/test-databases.js';

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

const stores = [
  { name: 'file', answers: true, env: async () => ({ SESSION_STORE: 'file' }) },
  { name: 'redis', answers: redis !== null, env: async () => ({ SESSION_STORE: redis! }) },
  ...servers.map(({ kind, answers }) => ({
    name: `another ${kind}`,
    answers,
    // In memory it would be gone with the first server.
    env: async () => ({
      SESSION_STORE: kind === 'sqlite' ? `sqlite:${join(folder, 'other.db')}` : await databaseUrl(kind),
    }),
  })),
];

for (const { name, answers, env } of stores) {
  const isLeftOut = !answers && !process.env['CI'];
  (isLeftOut ? describe.skip : describe)(`sessions in ${name}`, () => {
    it('are gone on with after a restart, cleared, deleted and forgotten', async () => {
      const session = `s-${Date.now()}-${name.replaceAll(' ', '-')}`;
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
      expect(await jackdaw.messages(session)).toHaveLength(4);
      const fork = await jackdaw.get(`/api/runs?sessionId=${session}`);
      const [last] = fork.body['runs'] as unknown as { run_id: string }[];
      const forked = await jackdaw.post(`/api/runs/${last!.run_id}/fork`, {
        fromStep: 'model:1',
        edit: { message: 'three' },
      });
      expect(forked.status).toBe(202);
      await (await jackdaw.follow(String(forked.body['run_id']))).all();
      expect(shown()).toEqual(['one', 'answer 2', 'three']);

      expect((await jackdaw.send(`/api/sessions/${session}/messages`, { method: 'DELETE' })).status).toBe(204);
      await chat('four');
      expect(shown()).toEqual(['four']);
      expect((await jackdaw.send(`/api/sessions/${session}`, { method: 'DELETE' })).status).toBe(204);
      await chat('five');
      expect(shown()).toEqual(['five']);
      await jackdaw.send(`/api/sessions/${session}`, { method: 'DELETE' });
      await jackdaw.stop();
      // The fork's session alone is left.
      const files = name === 'file' ? readdirSync(join(dataDir, 'sessions')) : ['none'];
      expect(files).toHaveLength(1);
    });
  });
}
