import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hash } from 'node:crypto';
import { keyHolder } from './support/api-keys.js';
import { FakeLlm } from './support/fake-llm.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { describeWorlds } from './support/private-world.js';
import { testServers } from './support/test-databases.js';
import { WaitingTools } from './support/waiting.tool.js';

const ANN = keyHolder('ann', 'a', 'user');
const VERA = keyHolder('vera', 'a', 'viewer');

interface Rebuilt {
  readonly body: { readonly messages?: unknown; readonly input?: unknown };
  readonly sent_hash: string | null;
  readonly hash: string | null;
  readonly is_same: boolean | null;
}

describe('the request of a model call', () => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    llm = await FakeLlm.start();
    jackdaw = await startJackdaw({
      llm,
      tools: [new WaitingTools()],
      env: { API_KEYS: `${ANN.entry},${VERA.entry}`, LLM_MAX_ATTEMPTS: '1' },
    });
  });
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
  });
  const rebuilt = async (runId: string, step: string, who = ANN) => {
    const { status, body } = await jackdaw.get(`/api/runs/${runId}/steps/${step}/request`, who.headers);
    expect([status, body]).toMatchObject([200, {}]);
    return body as unknown as Rebuilt;
  };

  it('is rebuilt for each call of a session, exactly as it was sent, without a request or an effect', async () => {
    const call = { calls: [{ name: 'look', arguments: { text: 'x' } }] };
    llm.reset();
    llm.reply(
      { text: 'one' },
      call,
      { calls: [{ name: 'pay', arguments: { to: 'bob', amount: 5 } }] },
      { text: 'two' },
    );
    await jackdaw.chat({ query: 'first', sessionId: 's' }, ANN.headers);
    const { body } = await jackdaw.chat({ query: 'second', sessionId: 's' }, ANN.headers);
    const runId = String(body['run_id']);
    await jackdaw.post(`/api/runs/${runId}/approve`, {}, ANN.headers);
    await jackdaw.events(runId, ANN.headers);
    await jackdaw.chat({ query: 'third', sessionId: 's' }, ANN.headers);
    const sent = llm.envelopes.map(({ body: json }) => json);
    const before = (await jackdaw.get(`/api/runs/${runId}/journal`, ANN.headers)).text;
    for (const n of [1, 2, 3]) {
      const { body: request, is_same, hash: own } = await rebuilt(runId, `model:${n}`);
      expect(is_same).toBe(true);
      expect(request).toEqual(sent[n]);
      expect(own).toBe(hash('sha256', JSON.stringify(request), 'base64url'));
    }
    expect(llm.requests).toHaveLength(sent.length);
    expect((await jackdaw.get(`/api/runs/${runId}/journal`, ANN.headers)).text).toBe(before);
  });

  it('is rebuilt after the call of a sub-agent, whose run it does not repeat', async () => {
    const lead = await startJackdaw({
      llm,
      options: {
        agents: [
          { name: 'lead', model: { provider: 'openai' }, subAgents: ['aide'] },
          { name: 'aide', model: { provider: 'openai' }, description: 'Helps.' },
        ],
      },
    });
    llm.reset();
    llm.reply({ calls: [{ name: 'ask_aide', arguments: { query: 'help' } }] }, { text: 'helped' }, { text: 'done' });
    const { body } = await lead.chat({ query: 'x' });
    const answer = await lead.get(`/api/runs/${String(body['run_id'])}/steps/model:2/request`);
    expect(answer.body).toMatchObject({ is_same: true, body: llm.envelopes[2]!.body });
    expect(llm.envelopes).toHaveLength(3);
    await lead.stop();
  });

  it('is rebuilt for a call that failed and was not recorded', async () => {
    llm.reset();
    llm.reply({ calls: [{ name: 'look', arguments: { text: 'y' } }] }, { status: 401 });
    const { body } = await jackdaw.chat({ query: 'fail' }, ANN.headers);
    const { body: request, sent_hash, is_same } = await rebuilt(String(body['run_id']), 'model:2');
    expect([sent_hash, is_same]).toEqual([null, null]);
    expect(request).toEqual(llm.envelopes[1]!.body);
    llm.reset();
    llm.reply({ status: 401 });
    const { body: first } = await jackdaw.chat({ query: 'fail at once' }, ANN.headers);
    expect((await rebuilt(String(first['run_id']), 'model:1')).body).toEqual(llm.envelopes[0]!.body);
  });

  it('has no instructions for a viewer', async () => {
    llm.reset();
    llm.always({ text: 'fine' });
    for (const env of [{ LLM_OPENAI_API: 'chat' }, { LLM_OPENAI_API: 'responses' }]) {
      const server = await startJackdaw({
        llm,
        env: { ...env, API_KEYS: `${ANN.entry},${VERA.entry}`, AGENT_INSTRUCTIONS: 'The secret recipe.' },
      });
      const { body } = await server.chat({ query: 'the question' }, ANN.headers);
      const path = `/api/runs/${String(body['run_id'])}/steps/model:1/request`;
      expect((await server.get(path, ANN.headers)).text).toContain('The secret recipe.');
      const { text } = await server.get(path, VERA.headers);
      expect(text).toContain('the question');
      expect(text).not.toContain('recipe');
      await server.stop();
    }
  });

  it('is refused for other steps and unknown runs', async () => {
    llm.reset();
    llm.reply({ calls: [{ name: 'look', arguments: { text: 'x' } }] }, { text: 'fine' });
    const { body } = await jackdaw.chat({ query: 'x' }, ANN.headers);
    const path = `/api/runs/${String(body['run_id'])}/steps`;
    for (const step of ['model:3', 'tool:1:1', 'x']) {
      const answer = await jackdaw.get(`${path}/${step}/request`, ANN.headers);
      expect([step, answer.status, answer.body['code']]).toEqual([step, 404, 'STEP_NOT_FOUND']);
    }
    expect((await jackdaw.get('/api/runs/x/steps/model:1/request', ANN.headers)).body['code']).toBe('RUN_NOT_FOUND');
  });

  it('differs from the sent one after a change of the configuration', async () => {
    const dataDir = newFolder();
    llm.reset();
    llm.always({ text: 'fine' });
    const first = await startJackdaw({ llm, dataDir, env: { LLM_MAX_TOKENS: '100' } });
    const { body } = await first.chat({ query: 'x' });
    await first.stop();
    const second = await startJackdaw({ llm, dataDir, env: { LLM_MAX_TOKENS: '100', LLM_OPENAI_API: 'chat' } });
    const answer = await second.get(`/api/runs/${String(body['run_id'])}/steps/model:1/request`);
    expect(answer.body).toMatchObject({ is_same: false });
    await second.stop();
  });
});

describeWorlds('the request of a model call', await testServers(), (current) => {
  it('is rebuilt from each database, also after a restart', async () => {
    const { llm } = current();
    const jackdaw = await current().start();
    llm.reply({ calls: [{ name: 'look', arguments: { text: 'x' } }] }, { text: 'done' });
    const { body } = await jackdaw.chat({ query: 'go' });
    const next = await current().start();
    const answer = await next.get(`/api/runs/${String(body['run_id'])}/steps/model:2/request`);
    expect(answer.body).toMatchObject({ is_same: true });
  });
});
