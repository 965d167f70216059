import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Redis } from 'ioredis';
import { SecurityPolicies } from '../src/tool-policy/index.js';
import { keyHolder } from './support/api-keys.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { testRedisUrl } from './support/test-databases.js';

const ANN = keyHolder('ann', 'a', 'admin');
const EVE = keyHolder('eve', 'b', 'admin');
const redisUrl = await testRedisUrl();
const kinds = [
  { name: 'memory', answers: true, env: { LLM_CACHE: 'memory' } },
  { name: 'redis', answers: redisUrl !== null, env: { LLM_CACHE: 'redis', REDIS_URL: redisUrl ?? '' } },
];

for (const { name, answers, env } of kinds) {
  const isLeftOut = !answers && !process.env['CI'];
  (isLeftOut ? describe.skip : describe)(`cached replies in ${name}`, () => {
    let llm: FakeLlm;
    let jackdaw: Jackdaw;
    beforeAll(async () => {
      if (redisUrl) {
        const redis = new Redis(redisUrl);
        const keys = await redis.keys('jackdaw:cache:*');
        if (keys.length > 0) await redis.del(...keys);
        await redis.quit();
      }
      llm = await FakeLlm.start();
      const API_KEYS = `${ANN.entry},${EVE.entry}`;
      jackdaw = await startJackdaw({ llm, env: { ...env, API_KEYS, LLM_TEMPERATURE: '0', LLM_MODEL: 'gpt-4o' } });
    });
    beforeEach(() => {
      llm.reset();
      llm.always({ text: 'as always' });
    });
    afterAll(async () => {
      await jackdaw.stop();
      await llm.close();
    });

    it('are served again to the tenant, and the run reports it', async () => {
      const query = `what of ${name}?`;
      const first = await jackdaw.chat({ query }, ANN.headers);
      expect(first.body).toMatchObject({ result: 'as always', usage: { total_tokens: 15 } });
      const second = await jackdaw.chat({ query }, ANN.headers);
      expect(second.body).toMatchObject({ result: 'as always', usage: { total_tokens: 0 } });
      expect(llm.requests).toHaveLength(1);
      const stream = await jackdaw.stream({ query }, ANN.headers);
      await stream.waitFor('run.completed');
      expect(stream.events.map(({ data }) => data)).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ type: 'message.delta', text: 'as always' }),
          expect.objectContaining({ type: 'model.cached', iteration: 1 }),
        ]),
      );
      await jackdaw.chat({ query }, EVE.headers);
      expect(llm.requests).toHaveLength(2);
    });

    it('are not used again after they were rejected', async () => {
      llm.reply({ text: '' });
      const ask = { query: `nothing from ${name}?` };
      for (let chat = 0; chat < 2; chat++)
        expect((await jackdaw.chat(ask, ANN.headers)).body).toMatchObject({ result: 'as always' });
      expect(llm.requests).toHaveLength(2);
    });

    it.each([{ stream: false }, { stream: true }])(
      'are not stored before they pass the checks of the run: %j',
      async ({ stream }) => {
        const ask = async (query: string, more: object = {}) => {
          const body = { query: `${query} ${name} ${String(stream)}`, ...more };
          if (!stream) return (await jackdaw.chat(body, ANN.headers)).body;
          const events = await (await jackdaw.stream(body, ANN.headers)).all();
          return events.at(-1)!.data as Record<string, unknown>;
        };
        const schema = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] };
        const format = { responseFormat: { schema } };
        llm.reply({ text: 'no JSON' }, { text: '{"a":"1"}' }, { text: '{}' }, { text: '{"a":1}' });
        expect(JSON.stringify(await ask('format', format))).toContain('OUTPUT_INVALID');
        for (let chat = 0; chat < 2; chat++) expect((await ask('format', format))['output']).toEqual({ a: 1 });
        expect(llm.requests).toHaveLength(4);

        llm.reset();
        await jackdaw.app.get(SecurityPolicies).set({ rateLimits: [], content: { emails: { output: 'block' } } });
        llm.reply({ text: 'Write to ann@secret.example' }, { text: 'Call them.' });
        expect((await ask('contact'))['finish_reason']).toBe('content_filter');
        for (let chat = 0; chat < 2; chat++) expect((await ask('contact'))['result']).toBe('Call them.');
        expect(llm.requests).toHaveLength(2);
        await jackdaw.app.get(SecurityPolicies).set({ rateLimits: [] });

        llm.reset();
        llm.reply({ text: '' }, { text: ' ' }, { text: 'an answer' });
        expect(JSON.stringify(await ask('empty'))).toContain('MODEL_BAD_REPLY');
        for (let chat = 0; chat < 2; chat++) expect((await ask('empty'))['result']).toBe('an answer');
        expect(llm.requests).toHaveLength(3);
      },
    );

    it('are checked again on a hit: the rules may have changed since', async () => {
      const query = `what is the address of ${name}?`;
      llm.reply({ text: 'bob@secret.example' }, { text: 'I may not say.' });
      expect((await jackdaw.chat({ query }, ANN.headers)).body).toMatchObject({ result: 'bob@secret.example' });
      await jackdaw.app.get(SecurityPolicies).set({ rateLimits: [], content: { emails: { output: 'block' } } });
      for (let chat = 0; chat < 2; chat++)
        expect((await jackdaw.chat({ query }, ANN.headers)).body).toMatchObject({ result: 'I may not say.' });
      expect(llm.requests).toHaveLength(2);
      await jackdaw.app.get(SecurityPolicies).set({ rateLimits: [] });
    });

    it('are not shared between temperatures', async () => {
      const ask = { query: `how warm is ${name}?`, parameters: { temperature: 0.5 } };
      for (let chat = 0; chat < 2; chat++) expect((await jackdaw.chat(ask, ANN.headers)).status).toBe(200);
      expect(llm.requests).toHaveLength(2);
    });
  });
}

describe('an unreachable cache', () => {
  it('delays no chat', async () => {
    const llm = await FakeLlm.start();
    llm.always({ text: 'fine' });
    const away = { LLM_CACHE: 'redis', REDIS_URL: 'redis://127.0.0.1:1' };
    // Only the cache needs Redis: a SQLite database has a single process.
    const jackdaw = await startJackdaw({ llm, env: { ...away, LLM_TEMPERATURE: '0', LLM_MODEL: 'gpt-4o' } });
    for (let chat = 0; chat < 2; chat++) expect((await jackdaw.chat({ query: 'hi' })).status).toBe(200);
    expect(llm.requests).toHaveLength(2);
    await jackdaw.stop();
    await llm.close();
  });

  it('must be a named Redis, and is refused together with encryption', async () => {
    const keys = `k:${Buffer.alloc(32, 7).toString('base64')}`;
    const wrong = [{ LLM_CACHE: 'redis' }, { LLM_CACHE: 'redis', REDIS_URL: 'redis://x', ENCRYPTION_KEYS: keys }];
    for (const env of wrong)
      await expect(startJackdaw({ env })).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining('LLM_CACHE'),
      });
  });
});
