import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Client } from 'pg';
import { PgvectorRetriever, vectorSchema } from '../examples/retrieval/src/pgvector.retriever.js';
import { PostgresTextRetriever, TEXT_SCHEMA } from '../examples/retrieval/src/postgres-text.retriever.js';
import { EmbeddingModel, type RetrieveOptions, Retriever, retrieverTool } from '../src/index.js';
import { AgentHost } from './support/agent-host.js';
import { calls, says, ScriptedChatModel } from './support/scripted-chat-model.js';
import { describeDatabases, testServers } from './support/test-databases.js';

const host = new AgentHost();
afterEach(() => host.stop());

const PASSAGES = [
  ['a', 'handbook, page 3', 'Lamps can be returned within 30 days.'],
  ['a', 'handbook, page 9', 'Our shop opens at nine.'],
  ['b', 'other handbook', 'Lamps are never returned.'],
] as const;
const asked = (tenant: string, limit = 5): RetrieveOptions => ({
  limit,
  principal: { id: 'ann', tenant, roles: ['user'] },
  signal: new AbortController().signal,
});

/** A vector of the counts of some words. */
class WordModel extends EmbeddingModel {
  readonly provider = 'words';
  readonly name = 'words-1';
  readonly dimensions = 3;

  async embed(texts: readonly string[]) {
    const vectors = texts.map((text) =>
      [/lamp/i, /return|back/i, /open|nine/i].map((word) => (word.test(text) ? 1 : 0.01)),
    );
    return { vectors, model: this.name };
  }
}

const postgres = (await testServers()).filter(({ kind }) => kind === 'postgres');

describeDatabases('a retriever of full text', postgres, (created) => {
  let client: Client;
  let retriever: PostgresTextRetriever;
  beforeAll(async () => {
    client = new Client(created().url);
    // The database is dropped before the client ends.
    client.on('error', () => undefined);
    await client.connect();
    await client.query(TEXT_SCHEMA);
    retriever = new PostgresTextRetriever(client);
    for (const [tenant, source, text] of PASSAGES) await retriever.add(tenant, source, text);
  });
  afterAll(() => client.end());

  it('returns the passages of the tenant that match best', async () => {
    const found = await retriever.retrieve('return a lamp', asked('a'));
    expect(found).toEqual([{ text: PASSAGES[0][2], source: 'handbook, page 3', score: expect.any(Number) }]);
    expect(await retriever.retrieve(`'"& | ! :* (nothing`, asked('a'))).toEqual([]);
    expect(await retriever.retrieve('opens lamps', asked('a', 1))).toHaveLength(1);
  });

  it('answers a question of an agent, with its source', async () => {
    const model = new ScriptedChatModel([calls(['search', { query: 'return lamp' }]), says('Within 30 days.')]);
    const agent = await host.start({ chatModel: model, principal: asked('a').principal });
    agent.registerTool(retrieverTool(retriever, { name: 'search', description: 'Searches the handbook.' }));
    await agent.chat('Can I return a lamp?');
    const result = model.requests[1]!.messages.find(({ role }) => role === 'tool');
    expect(JSON.parse(result?.content as string)).toMatchObject({ passages: [{ source: 'handbook, page 3' }] });
  });
});

describe('a retriever of vectors', () => {
  let database: PGlite;
  let retriever: PgvectorRetriever;
  beforeAll(async () => {
    database = await PGlite.create({ extensions: { vector } });
    await database.exec(vectorSchema(3));
    retriever = new PgvectorRetriever(database, new WordModel());
    for (const [tenant, source, text] of PASSAGES) await retriever.add(tenant, source, text);
  });
  afterAll(() => database.close());

  it('returns the nearest passages of the tenant', async () => {
    const found = await retriever.retrieve('Can I give the lamp back?', asked('a'));
    expect(found.map(({ source }) => source)).toEqual(['handbook, page 3', 'handbook, page 9']);
    expect(found[0]!.score).toBeGreaterThan(0.99);
    expect(await retriever.retrieve('When do you open?', asked('a', 1))).toMatchObject([
      { source: 'handbook, page 9' },
    ]);
  });
});

describe('the tool of a retriever', () => {
  class Endless extends Retriever {
    retrieve(query: string) {
      if (query === 'fail') throw new Error('the index is closed');
      return Promise.resolve(Array.from({ length: 9 }, (_, n) => ({ text: `${n}`, source: 's' })));
    }
  }

  it.each([0, 51, 1.5, Number.NaN])('is refused with the limit %d', (limit) => {
    const make = () => retrieverTool(new Endless(), { name: 'search', description: 'Searches.', limit });
    expect(make).toThrow(/give an integer from 1 to 50/);
  });

  it('reads, has untrusted results and carries nothing out', async () => {
    const agent = await host.start({}, []);
    agent.registerTool(retrieverTool(new Endless(), { name: 'search', description: 'Searches.' }));
    const { metadata } = agent.getTool('search');
    expect(metadata).toMatchObject({ effect: 'read', untrusted: true, egress: false });
  });

  it('returns at most its limit, and an error of the retriever to the model', async () => {
    const agent = await host.start({}, []);
    agent.registerTool(retrieverTool(new Endless(), { name: 'search', description: 'Searches.', limit: 2 }));
    expect(await agent.callTool('search', { query: 'x' })).toEqual({
      passages: [
        { text: '0', source: 's' },
        { text: '1', source: 's' },
      ],
    });
    await expect(agent.callTool('search', { query: 'fail' })).rejects.toThrow('the index is closed');
    await expect(agent.callTool('search', { query: '' })).rejects.toMatchObject({ code: 'TOOL_INVALID_ARGUMENTS' });
  });
});
