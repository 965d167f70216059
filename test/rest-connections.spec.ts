import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EnvRecord } from '../src/config/index.js';
import { callTool } from './support/direct-calls.js';
import { FakeLlm } from './support/fake-llm.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { describeDatabases, testServers } from './support/test-databases.js';
import { WebServer } from './support/web-server.js';

const SID = 'canary-sid-0123456789';
const TOKEN = 'canary-token-0123456789';

let llm: FakeLlm;
let web: WebServer;
let folder: string;
beforeAll(async () => {
  llm = await FakeLlm.start();
  web = await WebServer.start();
  folder = newFolder();
});
beforeEach(() => {
  llm.reset();
  web.reset();
  web.on('/orders', (request, reply, count) => {
    const said = { received: request.headers, ...(count === 1 && { session: { token: TOKEN } }) };
    const cookie = count === 1 ? { 'set-cookie': `sid=${SID}; HttpOnly` } : {};
    reply.writeHead(200, { 'content-type': 'application/json', ...cookie }).end(JSON.stringify(said));
  });
});
afterAll(async () => {
  await llm.close();
  await web.close();
  rmSync(folder, { recursive: true });
});

function start(env: EnvRecord, dataDir?: string): Promise<Jackdaw> {
  const path = join(folder, 'rest-tools.json');
  const capture = { token: { from: '/session/token', header: 'authorization', prefix: 'Bearer ' } };
  const tool = {
    name: 'orders',
    description: 'Lists the orders.',
    url: `${web.url}/orders`,
    untrusted: false,
    stateful: { ttlMs: 600_000 },
    connection: { capture, poolSize: 2, retry: { attempts: 2 } },
  };
  writeFileSync(path, JSON.stringify({ tools: [tool] }));
  const own = { OUTGOING_ALLOW: `127.0.0.1:${web.port}`, REST_TOOLS: path, LOG_LEVEL: 'trace' };
  return startJackdaw({ llm, env: { ...own, ...env }, ...(dataDir && { dataDir }) });
}

const newSession = async (jackdaw: Jackdaw) => String((await jackdaw.post('/api/sessions', {})).body['id']);
const sent = () => web.requests.map(({ headers }) => [headers.cookie ?? null, headers.authorization ?? null]);
const ALL = [`sid=${SID}`, `Bearer ${TOKEN}`];

it('keeps cookies and tokens over a restart, and does not disclose them', async () => {
  const dataDir = join(folder, 'data');
  const env = { TOOL_STATE_MANAGER: 'persistent' };
  const first = await start(env, dataDir);
  const sessionId = await newSession(first);
  const call = { calls: [{ name: 'orders', arguments: {} }] };
  llm.reply(call, call, { text: 'Two.' });
  const { body } = await first.post('/api/agent/chat', { query: 'Orders?', sessionId, includeDetails: true });
  expect(body['tool_results']).toMatchObject([
    { success: true, result: { session: { token: '[redacted]' } } },
    { success: true, result: { received: { cookie: 'sid=[redacted]', authorization: 'Bearer [redacted]' } } },
  ]);
  const runId = String(body['run_id']);
  const shown = [body, (await first.get(`/api/runs/${runId}/journal`)).text, await first.events(runId)];
  expect(web.open).toBeGreaterThan(0);
  await first.stop();
  await web.waitForClosed();
  expect(JSON.stringify([shown, llm.requests, first.log])).not.toContain('canary');

  const second = await start(env, dataDir);
  await callTool(second, 'orders', { sessionId });
  await callTool(second, 'orders', { sessionId: await newSession(second) });
  await second.stop();
  expect(sent()).toEqual([[null, null], ALL, ALL, [null, null]]);
});

const servers = await testServers();
describeDatabases(
  'two nodes',
  servers.filter(({ kind }) => kind === 'postgres'),
  (database) => {
    it('share cookies and tokens of a session, but no connection', async () => {
      const [one, other] = [
        await start({ DATABASE_URL: database().url }),
        await start({ DATABASE_URL: database().url }),
      ];
      const sessionId = await newSession(one);
      const before = web.connections;
      for (const node of [one, other, one]) {
        expect((await callTool(node, 'orders', { sessionId })).body).toMatchObject({ success: true });
      }
      expect(sent()).toEqual([[null, null], ALL, ALL]);
      expect(web.connections - before).toBeGreaterThanOrEqual(2);
      await one.stop();
      await other.stop();
      await web.waitForClosed();
    });
  },
);
