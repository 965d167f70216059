import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { keyHolder } from './support/api-keys.js';
import { byTurn, call } from './support/forks.js';
import { FakeLlm } from './support/fake-llm.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';

const ANN = keyHolder('ann', 'a', 'admin');
const BEN = keyHolder('ben', 'a', 'user', 'all');
const THOUGHT = { thoughtNumber: 1, totalThoughts: 1, nextThoughtNeeded: false };
const WORDS = ['kingfisher', 'nightingale', 'siskin'];

describe('the erasure of a user with sessions and states in separate SQLite files', () => {
  const folder = newFolder();
  let llm: FakeLlm;
  let jackdaw: Jackdaw;

  beforeAll(async () => {
    llm = await FakeLlm.start();
    jackdaw = await startJackdaw({
      llm,
      dataDir: folder,
      env: {
        API_KEYS: `${ANN.entry},${BEN.entry}`,
        SESSION_STORE: `sqlite:${folder}/sessions.db`,
        TOOL_STATE_MANAGER: 'persistent',
        TOOL_STATE_FORMAT: 'sqlite',
        TOOL_STATE_PATH: join(folder, 'states'),
        BUILTIN_TOOLS: 'sequentialthinking',
      },
    });
  });
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
  });

  /** Lists the file and the word for each word in a file. */
  function found(): string[] {
    const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const texts = names.map(({ parentPath, name }) => [name, readFileSync(join(parentPath, name), 'latin1')] as const);
    return texts.flatMap(([name, text]) =>
      WORDS.filter((word) => text.includes(word)).map((word) => `${name.replace(/-wal$/, '')}: ${word}`),
    );
  }

  it("leaves none of the user's words in the files", async () => {
    for (let n = 0; n < 60; n++) {
      llm.always(
        byTurn(
          { calls: [call('t', 'sequentialthinking', { ...THOUGHT, thought: `a siskin ${'siskin '.repeat(n * 9)}` })] },
          { text: `the nightingale ${'nightingale '.repeat(n * 7)}` },
        ),
      );
      // Ann's texts are between Ben's in the files.
      const { headers } = n % 3 === 0 ? ANN : BEN;
      const query = n % 3 === 0 ? `mine ${'x'.repeat(n * 50)}` : `a kingfisher ${n}`;
      expect((await jackdaw.chat({ query, sessionId: `s${n}` }, headers)).status).toBe(200);
      // After this read the turn is in the sessions' own file.
      expect((await jackdaw.send(`/api/sessions/s${n}/messages`, { headers })).status).toBe(200);
    }
    expect(new Set(found())).toEqual(
      new Set([
        ...WORDS.map((word) => `jackdaw.db: ${word}`),
        'sessions.db: kingfisher',
        'sessions.db: nightingale',
        'sessions.db: siskin',
        'tool-states.sqlite: siskin',
      ]),
    );
    for (const user of ['ben', 'ann']) {
      const erased = await jackdaw.send(`/api/users/${user}`, { method: 'DELETE', headers: ANN.headers });
      expect(erased.status).toBe(200);
    }
    expect(found()).toEqual([]);
  });
});
