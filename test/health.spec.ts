import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../src/persistence/index.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

describe('health', () => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    llm = await FakeLlm.start();
    jackdaw = await startJackdaw({ llm, env: { LLM_MODEL: 'gpt-test' } });
  });
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
  });

  it('reports that the process is alive', async () => {
    const { status, body } = await jackdaw.get('/api/health/live');
    expect([status, body]).toEqual([200, { status: 'ok' }]);
  });

  it('reports that the server is ready', async () => {
    const { status, body } = await jackdaw.get('/api/health/ready');
    expect([status, body]).toMatchObject([200, { status: 'ok', details: { database: { status: 'up' } } }]);
  });

  it("names the agent's model and counts its tools without a model request", async () => {
    const { status, body, text } = await jackdaw.get('/api/agent/health');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'ok',
      details: {
        model: { status: 'up', provider: 'openai', name: 'gpt-test' },
        database: { status: 'up' },
        tools: { status: 'up', count: 3 },
      },
    });
    expect(text).not.toContain('calculator');
    expect(llm.requests).toHaveLength(0);
  });

  it('answers 503 if the database is down and names the failed part', async () => {
    const database = jackdaw.app.get(Database, { strict: false });
    const ping = database.ping.bind(database);
    database.ping = () => Promise.reject(new Error('disk I/O error'));
    try {
      for (const path of ['/api/agent/health', '/api/health/ready']) {
        const { status, body, text } = await jackdaw.get(path);
        expect([path, status, body]).toMatchObject([path, 503, { error: { database: { status: 'down' } } }]);
        expect(text).not.toContain('node_modules');
      }
      expect((await jackdaw.get('/api/health/live')).status).toBe(200);
    } finally {
      database.ping = ping;
    }
    expect((await jackdaw.get('/api/health/ready')).status).toBe(200);
  });
});

describe('a shutdown', () => {
  it('makes readiness fail at once, lets running runs end and refuses new runs', async () => {
    const llm = await FakeLlm.start();
    const jackdaw = await startJackdaw({ llm, env: { SHUTDOWN_TIMEOUT_MS: '9000' } });
    const reply = Promise.withResolvers<void>();
    llm.reply({ gate: reply.promise, text: 'in time' });
    const running = jackdaw.chat({ query: 'hold on' });
    await llm.waitForRequest();

    const stopped = jackdaw.stop();
    const ready = await jackdaw.get('/api/health/ready');
    expect([ready.status, ready.body]).toMatchObject([503, { error: { server: { status: 'down' } } }]);
    expect((await jackdaw.get('/api/health/live')).status).toBe(200);
    const refused = await jackdaw.chat({ query: 'me too' });
    expect([refused.status, refused.body['code']]).toEqual([503, 'SHUTTING_DOWN']);

    reply.resolve();
    const { status, body } = await running;
    expect([status, body['result']]).toEqual([200, 'in time']);
    await stopped;
    await llm.close();
  });
});
