import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { createModelRegistry } from '../src/llm/model-registry.factory.js';
import type { FactMemory, FactOwner } from '../src/session/index.js';
import { DatabaseFactMemory } from '../src/session/fact-memory/database-fact-memory.js';
import { FactVectorService } from '../src/session/fact-memory/fact-vector.service.js';
import { FactStore } from '../src/session/fact-memory/fact.store.js';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeReply } from './support/fake-llm.types.js';
import { openDatabase, type OpenDatabase } from './support/run-host.js';
import { describeDatabases, testServers } from './support/test-databases.js';
import { PLAIN_CIPHER } from '../src/security/encryption/index.js';

Logger.overrideLogger(false);
const servers = await testServers();
const registry = createModelRegistry();
afterAll(() => registry.close());

const ANN: FactOwner = { tenant: 'nest', user: 'ann' };
const BOB: FactOwner = { tenant: 'nest', user: 'bob' };
const DOWN: FakeReply = { status: 503, body: {} };
const CAT = 'Ann adores felines.';
const TEA = 'Ann drinks oolong.';

describeDatabases('a memory with embeddings', servers, (created) => {
  let llm: FakeLlm;
  let opened: OpenDatabase;
  let memory: FactMemory;
  /** The input texts of each embedding call. */
  const inputs = () => llm.embeddings.requests.map(({ input }) => input);
  const withModel = (model: string, timeoutMs = 5_000) => {
    const store = new FactStore(opened.database, PLAIN_CIPHER);
    const settings = { provider: 'openai-compatible', model, timeoutMs, baseUrl: llm.url };
    return new DatabaseFactMemory(store, new FactVectorService(store, registry.createEmbedding(settings)));
  };
  const recalled = async (query: string, owner = ANN) => (await memory.recall(owner, query)).map(({ text }) => text);

  beforeAll(async () => {
    llm = await FakeLlm.start();
    opened = await openDatabase({ DATABASE_URL: created().url });
  });
  beforeEach(async () => {
    llm.reset();
    llm.embeddings.mean('felines', 'cats').mean('oolong', 'tea').mean('drinks', 'beverage');
    memory = withModel('embed-1');
    await opened.database.commit([{ sql: 'DELETE FROM fact', params: [] }]);
  });
  afterAll(async () => {
    await opened.close();
    await llm.close();
  });

  it('recalls by meaning, for the owner alone', async () => {
    for (const text of [CAT, TEA]) await memory.remember(ANN, text);
    expect((await recalled('cats'))[0]).toBe(CAT);
    expect((await recalled('tea beverage'))[0]).toBe(TEA);
    expect(await recalled('cats', BOB)).toEqual([]);
    expect(inputs()).toEqual([[CAT], [TEA], ['cats'], ['tea beverage'], ['cats']]);
  });

  it('ranks facts found by words and by meaning before facts found by one of them', async () => {
    for (const text of ['Bob sells cats.', 'Ann adores felines and cats.', 'Nothing else.'])
      await memory.remember(ANN, text);
    expect((await recalled('Ann felines'))[0]).toBe('Ann adores felines and cats.');
  });

  it.each<[string, FakeReply]>([
    ['fails', DOWN],
    ['refuses the request', { status: 400, body: { error: { message: 'no' } } }],
    ['does not exist', { status: 404, body: {} }],
    ['resets the connection', { reset: true }],
    ['does not reply', { hang: true }],
    ['returns an invalid reply', { status: 200, body: { data: [{ embedding: ['x'] }] } }],
  ])('falls back to words when the model %s, and computes the missing vector later', async (_what, reply) => {
    if ('hang' in reply) memory = withModel('embed-1', 50);
    llm.embeddings.always(reply);
    await memory.remember(ANN, CAT);
    expect(await recalled('felines')).toEqual([CAT]);
    expect(await recalled('cats')).toEqual([]);
    llm.embeddings.always(null);
    memory = withModel('embed-1');
    await memory.remember(ANN, TEA);
    expect(inputs().at(-1)).toEqual([TEA, CAT]);
    expect((await recalled('cats'))[0]).toBe(CAT);
  });

  it('computes a missing vector at a recall, too', async () => {
    llm.embeddings.reply(DOWN);
    await memory.remember(ANN, CAT);
    expect(await recalled('cats')).toEqual([CAT]);
    expect(inputs()).toEqual([[CAT], ['cats'], [CAT]]);
    await recalled('cats');
    expect(inputs()).toHaveLength(4);
  });

  it('computes the vectors of other texts although the model refuses one text', async () => {
    llm.embeddings.always(DOWN);
    for (const text of [CAT, 'poison', TEA]) await memory.remember(ANN, text);
    llm.embeddings.always(({ input }) =>
      input.includes('poison') ? { status: 400, body: { error: { message: 'too long' } } } : null,
    );
    expect((await recalled('cats'))[0]).toBe(CAT);
    expect((await recalled('tea beverage'))[0]).toBe(TEA);
    expect(await recalled('poison')).toContain('poison');
  });

  it('never compares vectors of two models', async () => {
    await memory.remember(ANN, CAT);
    memory = withModel('embed-2');
    expect(await recalled('cats')).toEqual([CAT]);
    expect(llm.embeddings.requests.map(({ model }) => model)).toEqual(['embed-1', 'embed-2', 'embed-2']);
  });

  it('stores the fact although the call is aborted, but aborts a recall', async () => {
    llm.embeddings.always({ hang: true });
    const gone = new AbortController();
    const remembering = memory.remember(ANN, CAT, { signal: gone.signal });
    await llm.embeddings.waitForRequest();
    gone.abort(new Error('enough'));
    expect(await remembering).toMatchObject({ text: CAT });
    await expect(memory.recall(ANN, 'felines', { signal: gone.signal })).rejects.toThrow('enough');
    expect(await memory.list(ANN)).toHaveLength(1);
  });
});
