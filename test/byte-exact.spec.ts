import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { AgentService } from '../src/agent/index.js';
import type { AppError } from '../src/errors/index.js';
import { FakeLlm } from './support/fake-llm.js';
import type { JournalPage } from './support/forks.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { newKey } from './support/private-world.js';
import { describeDatabases, testServers } from './support/test-databases.js';
import { WaitingTools } from './support/waiting.tool.js';

const HARD = [
  '\0',
  '\ud800',
  '\udfff\ud800',
  '🐦‍⬛',
  '𝒳',
  '\u2028',
  '\ufeff',
  'é',
  'é',
  '\\',
  '"',
  "'",
  '?',
  '$1',
  'enc:1:k:AAAA',
];
/** Any JavaScript string. */
const wild = fc
  .array(fc.oneof(fc.constantFrom(...HARD), fc.string({ unit: 'binary', maxLength: 9 })), {
    minLength: 1,
    maxLength: 12,
  })
  // An empty reply is invalid, so each text contains at least this character.
  .map((parts) => `.${parts.join('')}`);

const servers = await testServers();
for (const [how, keys] of [
  ['plain', ''],
  ['encrypted', newKey('k')],
] as const) {
  describeDatabases(`text, ${how},`, servers, (created) => {
    describe('through a whole application', () => {
      let llm: FakeLlm;
      let jackdaw: Jackdaw;
      beforeAll(async () => {
        llm = await FakeLlm.start();
        const env = { DATABASE_URL: created().url, ENCRYPTION_KEYS: keys, AGENT_MAX_RESULT_BYTES: '4000000' };
        jackdaw = await startJackdaw({ llm, env, tools: [new WaitingTools()] });
      });
      afterAll(async () => {
        await jackdaw.stop();
        await llm.close();
      });

      it('has sessions whose ids differ in case, accent or length only', async () => {
        const ids = ['Żaba:x', 'żaba:x', 'Zaba:x', 'Żaba:X', '用户@例.子', '\u{20000}'.repeat(128), '...'];
        for (const id of ids) {
          expect((await jackdaw.post('/api/sessions', { id })).status).toBe(201);
          const again = await jackdaw.post('/api/sessions', { id });
          expect([id, again.body]).toMatchObject([id, { code: 'SESSION_EXISTS' }]);
        }
        for (const id of ids) {
          llm.reply({ text: 'ok' });
          const query = `to ${id}`;
          expect((await jackdaw.chat({ query, sessionId: id })).body).toMatchObject({ session_id: id });
          const [first, ...others] = await jackdaw.messages(encodeURIComponent(id));
          expect([first, others.length]).toMatchObject([{ content: query }, 1]);
        }
        const listed: unknown[] = [];
        for (let cursor = ''; ;) {
          const { body } = await jackdaw.get(`/api/sessions?limit=1${cursor}`);
          listed.push(...(body['sessions'] as unknown as { id: string }[]).map(({ id }) => id));
          if (body['next'] === null) break;
          cursor = `&cursor=${String(body['next'])}`;
        }
        expect(listed).toEqual(expect.arrayContaining(ids));
        const refused = await jackdaw.chat({ query: 'hello', sessionId: 'e\u0301' });
        expect([refused.status, refused.body['detail']]).toEqual([400, expect.stringContaining('form NFC')]);
      });

      /**
       * Sends the text as a question, as a tool's arguments, as its result and as the answer, then reads it from each
       * API.
       */
      async function expectStored(text: string, session: string): Promise<void> {
        llm.reply({ text, calls: [{ id: 'c', name: 'look', arguments: { text } }] }, { text });
        const answer = await jackdaw.chat({ query: text, sessionId: session });
        expect([answer.status, answer.body['detail'], answer.body['result'] === text]).toEqual([200, undefined, true]);
        const messages = await jackdaw.messages(session);
        const contents = messages.map(({ content, tool_calls }) => [content, tool_calls]);
        const calls = [{ id: 'c', name: 'look', arguments: JSON.stringify({ text }) }];
        const sent = [[text], [text, calls], [`seen ${text}`], [text]];
        // Compared as booleans, because the difference of a megabyte is unreadable in a message.
        expect(JSON.stringify(contents) === JSON.stringify(sent.map(([content, made]) => [content, made]))).toBe(true);
        const { body } = await jackdaw.get(`/api/runs/${answer.body['run_id']}/journal`);
        const { steps } = body as unknown as JournalPage;
        const results = JSON.stringify(steps.map(({ result }) => result));
        expect(results.split(JSON.stringify(text).slice(1, -1)).length > 3).toBe(true);
      }

      it('is returned byte for byte for any text', async () => {
        let count = 0;
        await fc.assert(
          fc.asyncProperty(wild, (text) => expectStored(text, `s${count++}`)),
          { numRuns: 10, examples: [[`.${HARD.join('')}`]] },
        );
      });

      // Not with encryption: the encrypted text is larger, and the plain case covers the same code.
      if (keys !== '') {
        it('is returned byte for byte with a megabyte of text', async () => {
          await expectStored('0123456789abcdéf🐦"\\\0'.repeat(32_000), 'large');
        });
      }

      it.each(['🐦', "'", '%', '\\', ' ', 'a'.repeat(500)])('is not a valid id: %j', async (id) => {
        const path = encodeURIComponent(id);
        const answers = await Promise.all([
          jackdaw.get(`/api/runs/${path}`),
          jackdaw.get(`/api/runs/${path}/events`),
          jackdaw.get(`/api/runs/${path}/journal`),
          jackdaw.post(`/api/runs/${path}/cancel`),
          jackdaw.post(`/api/runs/${path}/approve`),
          jackdaw.get(`/api/sessions/${path}`),
          jackdaw.get(`/api/sessions/${path}/messages`),
        ]);
        expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
        for (const filter of ['agent', 'sessionId']) {
          const { status, body } = await jackdaw.get(`/api/runs?${filter}=${path}`);
          expect([status, body['runs']]).toEqual([200, []]);
        }
        expect((await jackdaw.chat({ query: 'x', sessionId: id })).status).toBe(400);
        expect((await jackdaw.chat({ query: 'x', agent: id })).status).toBe(id === ' ' ? 400 : 404);
      });

      it('is refused in a URL with a NUL', async () => {
        for (const path of [
          '/api/runs/a%00b',
          '/api/sessions/%00/messages',
          '/api/runs?agent=%00',
          '/api/runs?cursor=%00',
        ]) {
          const { status, body } = await jackdaw.get(path);
          expect([path, status, body['code']]).toEqual([path, 400, 'VALIDATION_FAILED']);
        }
      });

      it.each(['a\0', 'a\n', '\ud800', '', 'x'.repeat(129)])('is not a valid name of a principal: %j', async (name) => {
        const agents = jackdaw.app.get(AgentService, { strict: false });
        for (const principal of [
          { id: name, tenant: 't', roles: [] },
          { id: 'p', tenant: name, roles: [] },
        ]) {
          const error = await agents.chat(principal, { query: 'x' }).catch((thrown: unknown) => thrown as AppError);
          expect((error as AppError).code).toBe('VALIDATION_FAILED');
        }
      });
    });
  });
}
