import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { OpenAPIObject } from '@nestjs/swagger';
import { newId } from '../src/kernel/index.js';
import { contextIdOf } from '../src/tool-state/index.js';
import { ToolRegistry } from '../src/tool/index.js';
import { keyHolder, makeKey, type KeyHolder } from './support/api-keys.js';
import { CounterTools } from './support/counter.tool.js';
import { evalReport } from './support/eval-reports.js';
import { FakeLlm } from './support/fake-llm.js';
import { storeApproval } from './support/stored-approval.js';
import { startJackdaw, type Answer, type Jackdaw } from './support/jackdaw.js';
import { newClient } from './support/mcp-clients.js';
import { JOINING, LISTS, NEW_SESSION, READS, WITH_ID, WITHOUT_OWNER, WRITES } from './support/owned-routes.js';
import { CASES, toCall, type Things } from './support/route-cases.js';
import { call, documentedRoutes, said, sessionTakers } from './support/route-walk.js';
import { callOf } from './support/waiting-run.js';
import { WaitingTools } from './support/waiting.tool.js';

type Headings = Readonly<Record<string, string>>;

const ROOT = keyHolder('root', 'a', 'admin');
const ANN = keyHolder('ann', 'a', 'user');
const AMY = keyHolder('amy', 'a', 'user');
const VERA = keyHolder('vera', 'a', 'viewer');
const KEYS = [ROOT, ANN, AMY, VERA].map(({ entry }) => entry).join(',');

let llm: FakeLlm;

/** Starts a server on which Ann has an item of each kind. */
async function startWorld(env: Readonly<Record<string, string>> = {}): Promise<{ jackdaw: Jackdaw; things: Things }> {
  llm.reset();
  const jackdaw = await startJackdaw({
    llm,
    tools: [new WaitingTools(), new CounterTools()],
    options: { workflows: [{ name: 'greet', nodes: [{ id: 'give', type: 'llm' }] }] },
    env: { API_KEYS: KEYS, DOCS_ENABLED: 'true', ...env },
  });
  const session = 'session-of-ann';
  llm.reply({ text: 'hello' });
  const greeting = { input: { prompt: 'x' }, wait: true };
  const { body: greeted } = await jackdaw.post('/api/workflows/greet/runs', greeting, ANN.headers);
  const bytes = { name: 'bytes', description: 'Gives bytes.', handler: () => Buffer.from([0xff, 0, 1]) };
  jackdaw.app.get(ToolRegistry).register(bytes);
  llm.reply({ calls: [{ id: 'b', name: 'bytes', arguments: {} }] }, { text: 'hello' });
  const { body: ended } = await jackdaw.chat({ query: 'x', sessionId: session }, ANN.headers);
  llm.reply({ text: 'paying', calls: [callOf('pay', { to: 'bob', amount: 5 })] });
  const { body: waiting } = await jackdaw.chat({ query: 'x', sessionId: 'another-of-ann' }, ANN.headers);
  const principal = { id: 'ann', tenant: 'a', roles: ['user'] };
  await jackdaw.app.get(ToolRegistry).call('count', {}, { principal, sessionId: session });
  const daily = { query: 'x', cron: '0 9 1 1 *' };
  const { body: scheduled } = await jackdaw.post('/api/schedules', daily, ANN.headers);
  await jackdaw.post(`/api/runs/${String(ended['run_id'])}/feedback`, { score: 1 }, ANN.headers);
  const { body: evaluated } = await jackdaw.post('/api/evals', { report: evalReport() }, ANN.headers);
  const things: Things = {
    approval: await storeApproval(jackdaw, principal, session),
    ended: String(ended['run_id']),
    flow: String(greeted['run_id']),
    waiting: String(waiting['run_id']),
    session,
    state: contextIdOf({ tenant: 'a', session, tool: 'count' }),
    key: '',
    webhook: '',
    schedule: String(scheduled['id']),
    eval: String(evaluated['id']),
    user: 'ann',
  };
  llm.always({ text: 'fine' });
  return { jackdaw, things };
}

beforeAll(async () => {
  llm = await FakeLlm.start();
});
afterAll(() => llm.close());

describe('ownership inside a tenant', () => {
  let jackdaw: Jackdaw;
  let things: Things;
  beforeAll(async () => {
    ({ jackdaw, things } = await startWorld());
  });
  beforeEach(() => {
    llm.reset();
    llm.always({ text: 'fine' });
  });
  afterAll(() => jackdaw.stop());

  const ask = (route: string, { headers }: Pick<KeyHolder, 'headers'>, its = things): Promise<Answer> =>
    call(jackdaw, toCall({ route, ...CASES[route]! }, its), headers);
  const join = (route: string, headers: Headings, sessionId = things.session): Promise<Answer> => {
    const ids = { name: route.includes('workflows') ? 'greet' : 'look' };
    return call(jackdaw, { route, ids, body: { ...JOINING[route]!.body, sessionId } }, headers);
  };

  it('has a rule for every route of the OpenAPI document', async () => {
    const ruled = [...WITH_ID.map(({ route }) => route), ...Object.keys(LISTS), ...Object.keys(JOINING)];
    expect([...ruled, ...WITHOUT_OWNER].toSorted()).toEqual(await documentedRoutes(jackdaw));
  });

  it('exempts no route with the id of an item', () => {
    const withId = WITHOUT_OWNER.filter((route) => route.includes('{id}'));
    expect(withId.filter((route) => !route.includes('/api/webhooks/'))).toEqual([
      'DELETE /api/keys/{id}',
      'DELETE /api/users/{id}',
    ]);
  });

  it('has a rule for every request with the id of a session', async () => {
    const document = (await jackdaw.get('/docs/json')).body as unknown as OpenAPIObject;
    const known = [...Object.keys(LISTS), ...Object.keys(JOINING), ...NEW_SESSION];
    expect(sessionTakers(document).filter((route) => !known.includes(route))).toEqual([]);
  });

  it.each(READS)('$route is 404 for another user, and visible to the owner, an admin and a viewer', async (each) => {
    await expectAbsent(each.route);
    for (const who of [ANN, ROOT, VERA]) expect([(await ask(each.route, who)).status, who]).toEqual([200, who]);
  });

  it.each(WRITES)('$route is 404 for another user, and 403 for a viewer', async ({ route }) => {
    await expectAbsent(route);
    const refused = await ask(route, VERA);
    expect([refused.status, refused.body['code']]).toEqual([403, 'FORBIDDEN']);
  });

  async function expectAbsent(route: string): Promise<void> {
    const { id } = CASES[route]!;
    const nowhere = { ...things, [id!]: newId() };
    const hidden = await ask(route, AMY);
    expect(hidden.status).toBe(404);
    expect(said(hidden, [things[id!]])).toEqual(said(await ask(route, AMY, nowhere), [nowhere[id!]]));
  }

  it.each(Object.entries(LISTS))('%s is empty for another user', async (route, field) => {
    const path = route.replace('GET ', '');
    const listed = async ({ headers }: KeyHolder) => {
      const items = (await jackdaw.get(path, headers)).body[field] as unknown as { may_decide?: boolean }[];
      return items.map(({ may_decide: _depends, ...item }) => item);
    };
    expect(await listed(AMY)).toEqual([]);
    const own = await listed(ANN);
    expect(own.length).toBeGreaterThan(0);
    for (const who of [ROOT, VERA]) expect(await listed(who)).toEqual(own);
  });

  it.each(['GET /api/runs', 'GET /api/tool-states', 'GET /api/usage'])(
    '%s is empty for a hidden session',
    async (route) => {
      const path = `${route.replace('GET ', '')}?sessionId=${things.session}`;
      const { body } = await jackdaw.get(path, AMY.headers);
      expect(body[LISTS[route]!]).toEqual([]);
    },
  );

  it.each(Object.keys(JOINING))('%s does not join a session of another user', async (route) => {
    const refused = await join(route, AMY.headers);
    expect([refused.status, refused.body['code']]).toEqual([JOINING[route]!.status, 'SESSION_NOT_FOUND']);
    expect((await join(route, VERA.headers)).status).toBe(403);
    expect(llm.requests).toHaveLength(0);
    expect(await jackdaw.messages(things.session, ANN.headers)).toHaveLength(4);
  });

  it('refuses the id of a hidden session for a new session, without its data', async () => {
    const { body: mine } = await jackdaw.chat({ query: 'mine' }, AMY.headers);
    const fork = { fromStep: 'model:1', sessionId: things.session };
    const answers = [
      await jackdaw.post('/api/sessions', { id: things.session }, AMY.headers),
      await jackdaw.post(`/api/runs/${String(mine['run_id'])}/fork`, fork, AMY.headers),
    ];
    for (const { status, body } of answers) expect([status, body['code']]).toEqual([409, 'SESSION_EXISTS']);
  });

  it('lets one of two users have a new session, when both name it at once', async () => {
    const names = Array.from({ length: 10 }, (_, n) => `raced-${n}`);
    for (const sessionId of names) {
      const answers = await Promise.all(
        [ANN, AMY].map(({ headers }) => jackdaw.chat({ query: 'x', sessionId }, headers)),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 404]));
      const winner = [ANN, AMY][answers.findIndex(({ status }) => status === 200)]!;
      expect(await jackdaw.messages(sessionId, winner.headers)).toHaveLength(2);
    }
  });

  it('hides resources of MCP', async () => {
    const clients: Awaited<ReturnType<typeof newClient>>[] = [];
    const connect = async ({ headers }: KeyHolder) => {
      const client = await newClient(jackdaw.url, { headers });
      clients.push(client);
      return client;
    };
    const uris = async (who: KeyHolder) => {
      const client = await connect(who);
      const first = await client.listResources();
      const more = first.nextCursor ? await client.listResources({ cursor: first.nextCursor }) : { resources: [] };
      return [...first.resources, ...more.resources].map(({ uri }) => uri);
    };
    const hidden = [`jackdaw://sessions/${things.session}`, `jackdaw://runs/${things.ended}`];
    for (const who of [ANN, ROOT, VERA]) expect(await uris(who)).toEqual(expect.arrayContaining(hidden));
    for (const uri of await uris(AMY)) expect(hidden).not.toContain(uri);
    const client = await connect(AMY);
    for (const uri of hidden)
      await expect(client.readResource({ uri })).rejects.toThrow(`There is no resource "${uri}"`);
    for (const each of clients) await each.close();
  });

  it('omits the instructions of agents in a viewer’s journal', async () => {
    const definition = async ({ headers }: KeyHolder, id: string) =>
      (await jackdaw.get(`/api/runs/${id}/journal`, headers)).body['definition'];
    for (const id of [things.ended, things.flow]) {
      expect(JSON.stringify(await definition(ROOT, id))).toContain('"instructions"');
      expect(JSON.stringify(await definition(VERA, id))).not.toContain('"instructions"');
    }
    expect(await definition(VERA, things.ended)).toMatchObject({ name: 'default' });
  });

  it('follows the visibility that a key names', async () => {
    const seer = await makeKey(jackdaw, ROOT.headers, { role: 'user', visibility: 'all' });
    const narrow = await makeKey(jackdaw, ROOT.headers, { role: 'admin', visibility: 'own' });
    const { body } = await jackdaw.get('/api/keys', ROOT.headers);
    expect(body['keys']).toMatchObject([{ visibility: 'own' }, { visibility: 'all' }]);
    expect((await ask('GET /api/runs/{id}', seer)).status).toBe(200);
    expect((await ask('GET /api/sessions/{id}', narrow)).status).toBe(404);
    const wider = await jackdaw.post('/api/keys', { name: 'x', role: 'viewer' }, narrow.headers);
    expect([wider.status, wider.body['code']]).toEqual([403, 'FORBIDDEN']);
    const equal = await jackdaw.post('/api/keys', { name: 'x', role: 'viewer', visibility: 'own' }, narrow.headers);
    expect(equal.status).toBe(201);
  });

  it.each(WRITES)('$route finds the item for an admin', async ({ route }) => {
    expect([403, 404]).not.toContain((await ask(route, ROOT)).status);
  });
});

describe('a server with OWNERSHIP=tenant', () => {
  it('shows all users of a tenant the same', async () => {
    const { jackdaw, things } = await startWorld({ OWNERSHIP: 'tenant' });
    for (const each of READS) {
      expect([each.route, (await call(jackdaw, toCall(each, things), AMY.headers)).status]).toEqual([each.route, 200]);
    }
    for (const [route, field] of Object.entries(LISTS)) {
      const { body } = await jackdaw.get(route.replace('GET ', ''), AMY.headers);
      expect(body[field]).not.toEqual([]);
    }
    const joined = await jackdaw.chat({ query: 'x', sessionId: things.session }, AMY.headers);
    expect(joined.status).toBe(200);
    await jackdaw.stop();
  });
});
