import { expect, it } from 'vitest';
import { hash } from 'node:crypto';
import { UserErasureService } from '../src/agent/index.js';
import { insert } from '../src/persistence/statement/index.js';
import { FactMemory, type FactOwner } from '../src/session/index.js';
import { describeWorlds, newKey } from './support/private-world.js';
import { testServers } from './support/test-databases.js';

const [K1, K2] = [newKey('k1'), newKey('k2')];
const ANN: FactOwner = { tenant: 'nest', user: 'ann' };
const TEXTS = [
  'The kingfisher lives in Oslo.',
  'Ann adores a woodpecker',
  'enc:1:k1:goldcrest',
  '=enc:dunnock',
  '"siskin"',
];
const WORDS = ['kingfisher', 'woodpecker', 'goldcrest', 'dunnock', 'siskin'];
const QUERY = WORDS.join(' ');

describeWorlds('facts of a database without encryption keys', await testServers(), (current, kind) => {
  const memory = () => current().jackdaw.app.get(FactMemory, { strict: false });
  const recalled = async (query = QUERY) =>
    (await memory().recall(ANN, query, { limit: 50 })).map(({ text }) => text).toSorted();
  const listed = async () => (await memory().list(ANN)).map(({ id, text }) => `${id} ${text}`);
  const env = { LONG_TERM_MEMORY: 'on', EMBEDDING_MODEL: 'embed-1' };

  /** Words and vectors in tables and, on SQLite, in files. */
  async function left(vectors: readonly string[]): Promise<string[]> {
    const stored = `${await current().stored()}${kind === 'sqlite' ? current().files() : ''}`;
    return [...WORDS, ...vectors].filter((text) => stored.includes(text));
  }

  it('are encrypted with the first key, re-encrypted with the next one, and found all the time', async () => {
    const world = current();
    world.llm.embeddings.mean('kingfisher', 'bird');
    await world.start('', env);
    for (const text of TEXTS) await memory().remember(ANN, text);
    const before = await listed();
    const rows = await world.database.query<{ embedding: string }>('SELECT embedding FROM fact');
    const vectors = rows.map(({ embedding }) => embedding);
    expect(await left(vectors)).toEqual([...WORDS, ...vectors]);

    for (const [keys, strict] of [
      [K1, 'false'],
      [`${K2},${K1}`, 'false'],
      [K2, 'true'],
    ] as const) {
      await world.start(keys, { ...env, ENCRYPTION_STRICT: strict });
      for (const pass of ['before', 'after']) {
        expect([pass, await recalled(), await listed()]).toEqual([pass, TEXTS.toSorted(), before]);
        expect((await memory().recall(ANN, 'bird', { limit: 1 })).map(({ text }) => text)).toEqual([TEXTS[0]]);
        for (const text of TEXTS) await memory().remember(ANN, `${text} `);
        expect(await listed()).toEqual(before);
        expect(await world.reencrypt()).toMatchObject({ failed: 0, isWhole: true });
      }
      expect(await left(vectors)).toEqual([]);
    }
    expect((await memory().recall(ANN, 'oslo')).map(({ text }) => text)[0]).toBe(TEXTS[0]);
  });

  it('are re-encrypted except a duplicate, which is counted', async () => {
    const world = current();
    await world.start(K2, env);
    const text = 'Ann adores a woodpecker';
    const [{ text: sealed } = { text: '' }] = await world.database.query<{ text: string }>('SELECT text FROM fact');
    const row = { tenant: ANN.tenant, user_id: ANN.user, embedding: null, embedding_model: null, terms: 'x' };
    const times = { created_at: 1, updated_at: 1 };
    const plain = [
      { ...row, ...times, id: '1', key_digest: '1', digest: hash('sha256', text), text },
      { ...row, ...times, id: '2', key_digest: '2', digest: hash('sha256', 'a dunnock'), text: 'a dunnock' },
    ];
    await world.database.commit(plain.map((one) => insert('fact', one)));
    expect(await world.reencrypt()).toEqual({ rewritten: 1, failed: 1, isWhole: true });
    const ids = await world.database.query<{ id: string }>('SELECT id FROM fact WHERE text = ?', [text]);
    expect(ids).toEqual([{ id: '1' }]);
    expect(sealed).toMatch(/^enc:1:k2:/);
    expect(await recalled('dunnock')).toContain('a dunnock');
  });

  it('are erased even if they are unreadable', async () => {
    const world = current();
    await world.start(K2, env);
    const text = 'enc:1:k2:AAAA';
    await world.database.commit([{ sql: 'UPDATE fact SET text = ?', params: [text] }]);
    await expect(memory().list(ANN)).rejects.toMatchObject({ code: 'DATA_TAMPERED' });
    const admin = { id: 'admin', tenant: ANN.tenant, roles: ['admin'] };
    const erasure = world.jackdaw.app.get(UserErasureService, { strict: false });
    expect(await erasure.erase(admin, ANN.user)).toMatchObject({ sessions: 0, runs: 0 });
    expect(await world.database.query('SELECT id FROM fact WHERE user_id = ?', [ANN.user])).toEqual([]);
  });
});
