import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import * as fc from 'fast-check';
import { hash } from 'node:crypto';
import type { FactMemory, FactOwner } from '../src/session/index.js';
import { DatabaseFactMemory } from '../src/session/fact-memory/database-fact-memory.js';
import { FactStore } from '../src/session/fact-memory/fact.store.js';
import { toTokens } from '../src/session/fact-memory/fact-place.factory.js';
import { AesGcmCipher } from '../src/security/encryption/aes-gcm-cipher.js';
import { PLAIN_CIPHER } from '../src/security/encryption/index.js';
import { openDatabase, type OpenDatabase } from './support/run-host.js';
import { describeDatabases, testServers } from './support/test-databases.js';

Logger.overrideLogger(false);
const servers = await testServers();

const ANN: FactOwner = { tenant: 'nest', user: 'ann' };
const OTHERS: FactOwner[] = [
  { tenant: 'nest', user: 'bob' },
  { tenant: 'other', user: 'ann' },
  { tenant: 'nest', user: 'Ann' },
  { tenant: 'nest', user: 'ann ' },
];
/** Characters and words with a meaning in one of the three full-text searches, in LIKE or in SQL. */
const SYNTAX = ['"', "'", '*', '(', ')', '+', '-', '~', '<', '>', '@', ':', '|', '&', '!', '^', '%', '_', '\\', '\\\\', '?', ';--', '{', '}', ' AND ', ' OR ', ' NOT ', 'NEAR(', ':*', '<->', 'terms:', '\0', '\n', '\ud800', '/*', '$1', 'tea', '绿茶']; // prettier-ignore
const wildQuery = fc
  .oneof(
    fc.array(fc.constantFrom(...SYNTAX), { minLength: 1, maxLength: 20 }).map((parts) => parts.join('')),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }),
  )
  .filter((query) => query.trim() !== '');

const KEY = { id: 'k1', key: Buffer.alloc(32, 1).toString('base64') };

const CIPHERS = [
  ['the fact memory', PLAIN_CIPHER],
  ['the encrypted fact memory', new AesGcmCipher([KEY], false)],
] as const;

for (const [title, cipher] of CIPHERS)
  describeDatabases(title, servers, (created, kind) => {
    let opened: OpenDatabase;
    let memory: FactMemory;
    beforeAll(async () => {
      opened = await openDatabase({ DATABASE_URL: created().url });
      memory = new DatabaseFactMemory(new FactStore(opened.database, cipher), null);
    });
    beforeEach(() => opened.database.commit([{ sql: 'DELETE FROM fact', params: [] }]));
    afterAll(() => opened.close());

    const recalled = async (query: string, owner = ANN, limit?: number) =>
      (await memory.recall(owner, query, { ...(limit && { limit }) })).map(({ text }) => text);
    const listed = async (owner = ANN) => (await memory.list(owner)).map(({ text }) => text);
    const fill = async (texts: readonly string[], owner = ANN) => {
      for (const text of texts) await memory.remember(owner, text);
    };

    it('finds stored facts, the best match first', async () => {
      await fill(['The user likes green tea.', 'The user is allergic to peanuts.', 'The user has a cat named Tom.', '用户喜欢喝绿茶。', '用户住在上海。', 'Пользователь любит чай.']); // prettier-ignore
      expect((await recalled('What is the user allergic to?'))[0]).toBe('The user is allergic to peanuts.');
      expect(await recalled('peanut')).toEqual(['The user is allergic to peanuts.']);
      expect(await recalled('CATS')).toEqual(['The user has a cat named Tom.']);
      expect(await recalled('绿茶')).toEqual(['用户喜欢喝绿茶。']);
      expect(await recalled('茶')).toEqual(['用户喜欢喝绿茶。']);
      expect((await recalled('用户住在哪里？'))[0]).toBe('用户住在上海。');
      expect(await recalled('чай')).toEqual(['Пользователь любит чай.']);
      expect(await recalled('to be or')).toEqual(['The user is allergic to peanuts.']);
      expect(await recalled('nothing of this')).toEqual([]);
    });

    it.each([
      ['Ann likes tea.', 'Ann likes tea', ' Ann  likes\n\ttea . ', 'Ann\u00a0likes tea．', '\u3000Ann likes tea...'],
      ['用户喜欢喝绿茶', '用户喜欢喝绿茶。', '用户 喜欢喝 绿茶 。', '用户喜欢喝绿茶｡\u3000'],
      ['The user has 2 cats, Tom and 花花。', 'The user has 2 cats, Tom and花花'],
      ['...', '...'],
    ])('stores %j once, regardless of its white space and final stop', async (...spellings) => {
      const first = await memory.remember(ANN, spellings[0]);
      for (const text of spellings) {
        const again = await memory.remember(ANN, text, { key: text });
        expect([again.id, again.text]).toEqual([first.id, spellings[0]]);
      }
      expect(await listed()).toEqual([spellings[0]]);
      await Promise.all([...spellings, ...spellings].map((text) => memory.remember({ ...ANN, user: 'bob' }, text)));
      expect(await listed({ ...ANN, user: 'bob' })).toHaveLength(1);
    });

    it('distinguishes facts with other differences', async () => {
      await fill(['now here', 'nowhere', 'Now here', 'now, here', 'now here!', '3.5', '35', '。', '.']);
      expect(await listed()).toHaveLength(9);
    });

    it.each(['Ann likes tea', 'Ann likes tea.', '安喜欢茶。', 'Ann  likes tea'])(
      'recognises %j that an earlier version stored with the digest of its exact text',
      async (text) => {
        const before = await memory.remember(ANN, text);
        const sql = 'UPDATE fact SET digest = ?';
        await opened.database.commit([{ sql, params: [hash('sha256', text)] }]);
        const spellings = text.includes('  ') ? [text] : [text, text.replace(/[.。]$/, '')];
        for (const spelling of spellings) expect((await memory.remember(ANN, spelling)).id).toBe(before.id);
        expect(await listed()).toEqual([text]);
      },
    );

    it('returns descending scores and at most the requested number of facts', async () => {
      await fill(Array.from({ length: 60 }, (_, n) => `Fact ${n} is about tea${' tea'.repeat(n % 3)}.`));
      const found = await memory.recall(ANN, 'tea');
      expect(found).toHaveLength(5);
      expect(found.map(({ score }) => score)).toEqual(found.map(({ score }) => score).toSorted((a, b) => b - a));
      expect(await recalled('tea', ANN, 1)).toHaveLength(1);
      expect(await recalled('tea', ANN, 1000)).toHaveLength(50);
      expect(await recalled('tea', ANN, -1)).toHaveLength(1);
      expect(found[0]).toEqual({
        id: expect.any(String),
        text: expect.stringContaining('tea tea tea'),
        createdAt: expect.any(Number),
        updatedAt: expect.any(Number),
        dataFacts: [],
        score: expect.any(Number),
      });
    });

    it('returns no facts of other owners', async () => {
      await fill(['Ann likes tea.']);
      const [fact] = await memory.list(ANN);
      for (const owner of OTHERS) {
        expect(await recalled('Ann likes tea.', owner)).toEqual([]);
        expect(await listed(owner)).toEqual([]);
        expect(await memory.forget(owner, fact!.id)).toBe(false);
        await memory.eraseUser(owner.tenant, owner.user);
      }
      for (const owner of OTHERS) await memory.remember(owner, 'Ann likes tea.', { key: 'k' });
      await memory.remember(ANN, 'Ann likes tea.', { key: 'k' });
      for (const owner of [ANN, ...OTHERS]) expect(await recalled('tea', owner)).toEqual(['Ann likes tea.']);
    });

    it('never fails for any query and returns no facts of other owners', async () => {
      await fill(['Ann likes tea. 绿茶', 'terms AND NEAR']);
      await fill(['Bob likes tea. 绿茶', '" OR 1=1; % _'], OTHERS[0]);
      await fc.assert(
        fc.asyncProperty(wildQuery, async (query) => {
          const found = await recalled(query);
          expect(found.filter((text) => !['Ann likes tea. 绿茶', 'terms AND NEAR'].includes(text))).toEqual([]);
          // An apostrophe between letters is part of the word.
          const isAsked = /(?<!\p{L}['’]|\p{L}|\p{M}|\p{N})tea(?!['’]\p{L}|\p{L}|\p{M}|\p{N})/u.test(query);
          expect(isAsked && !found.includes('Ann likes tea. 绿茶')).toBe(false);
        }),
        { numRuns: 300, examples: [["tea'tea"], ["'tea'"]] },
      );
    });

    it('stores any text and finds it by its words', async () => {
      await fc.assert(
        fc.asyncProperty(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 }), fc.nat(), async (noise, n) => {
          const text = `${noise} word${n} "quoted" \\ 'it' % 茶${noise}`;
          const fact = await memory.remember(ANN, text);
          expect(fact.text).toBe(text.replaceAll('\0', '\ufffd'));
          expect(await recalled(`word${n}`, ANN, 50)).toContain(fact.text);
        }),
        { numRuns: 60 },
      );
    });

    it('stores a text once per key and once per owner', async () => {
      const first = await memory.remember(ANN, 'Likes tea.', { key: 'run:tool:1:1' });
      const again = await Promise.all(
        Array.from({ length: 10 }, () => memory.remember(ANN, 'Likes tea.', { key: 'run:tool:1:1' })),
      );
      expect(again.map(({ id }) => id)).toEqual(again.map(() => first.id));
      expect(await memory.remember(ANN, 'Another text.', { key: 'run:tool:1:1' })).toMatchObject({
        text: 'Likes tea.',
      });
      expect((await memory.remember(ANN, 'Likes tea.', { key: 'x'.repeat(5000) })).id).toBe(first.id);
      await Promise.all(Array.from({ length: 10 }, () => memory.remember(ANN, 'Likes cake.')));
      expect((await listed()).toSorted()).toEqual(['Likes cake.', 'Likes tea.']);
      expect((await memory.recall(ANN, 'tea')).map(({ id }) => id)).toEqual([first.id]);
    });

    it('refuses an invalid text with a reason and stores nothing', async () => {
      for (const text of ['', '  \n\u3000 ']) {
        await expect(memory.remember(ANN, text)).rejects.toMatchObject({
          code: 'VALIDATION_FAILED',
          message: 'The text to remember is blank: say something in it.',
        });
        await expect(memory.recall(ANN, text)).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
      }
      await expect(memory.remember(ANN, 'x'.repeat(4001))).rejects.toMatchObject({
        code: 'VALIDATION_FAILED',
        message: 'The text to remember has 4001 characters, and may have 4000: make it shorter, or several.',
      });
      expect(await listed()).toEqual([]);
      for (const text of ['🐦'.repeat(4000), '茶'.repeat(4000), 'x'.repeat(4000), 'a1 '.repeat(1333)]) {
        expect((await memory.remember(ANN, text)).text === text).toBe(true);
      }
      expect(await recalled('茶')).toHaveLength(1);
    });

    it('lists facts in pages and deletes them', async () => {
      const texts = Array.from({ length: 7 }, (_, n) => `Fact ${n}.`);
      await fill(texts);
      const pages: string[][] = [];
      for (let before: string | undefined; ;) {
        const page = await memory.list(ANN, { limit: 3, ...(before !== undefined && { before }) });
        if (page.length === 0) break;
        pages.push(page.map(({ text }) => text));
        before = page.at(-1)!.id;
      }
      expect(pages.map(({ length }) => length)).toEqual([3, 3, 1]);
      expect(pages.flat().toSorted()).toEqual(texts);
      const [{ id } = { id: '' }] = await memory.recall(ANN, 'Fact 3');
      expect([await memory.forget(ANN, id), await memory.forget(ANN, id)]).toEqual([true, false]);
      expect(await recalled('3')).toEqual([]);
      expect((await recalled('fact', ANN, 50)).length).toBe(6);
    });

    describe('after the erasure of a user', () => {
      /** All values of all tables, including the tables of the full-text search. */
      async function everything(): Promise<string> {
        const { dataSource } = opened;
        const names: { name: string }[] = await dataSource.query(TABLES[kind]);
        const rows = await Promise.all(names.map(({ name }) => dataSource.query(`SELECT * FROM ${name}`)));
        return JSON.stringify(rows, (_key, value: unknown) => {
          const bytes = value as { type?: string; data?: number[] } | null;
          return bytes?.type === 'Buffer' ? Buffer.from(bytes.data!).toString('latin1') : value;
        });
      }

      it('contains no data of the user and all data of others', async () => {
        await fill(['Zanzibar is where Ann was born.', '绿茶']);
        await fill(['Zanzibar is where Bob was born.'], OTHERS[0]);
        const digest = toTokens(ANN, ['zanzibar'], cipher)[0]!;
        const before = await everything();
        expect(before.includes('Ann was born')).toBe(cipher === PLAIN_CIPHER);
        expect(before).toContain(kind === 'sqlite' ? digest.slice(4) : digest);
        await memory.eraseUser(ANN.tenant, ANN.user);
        const after = await everything();
        for (const trace of ['Ann was born', '绿茶', digest, digest.slice(4), '"ann"'])
          expect(after).not.toContain(trace);
        expect(await recalled('Zanzibar', OTHERS[0])).toEqual(['Zanzibar is where Bob was born.']);
        await fill(['Zanzibar again.']);
        expect(await recalled('Zanzibar')).toEqual(['Zanzibar again.']);
      });
    });
  });

const TABLES = {
  sqlite: `SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'sqlite_sequence'`,
  postgres: `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
  mariadb: `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()`,
};
