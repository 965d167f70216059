import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../src/kernel/index.js';
import { SCOPES } from '../src/security/index.js';
import { CASES, SLY, toCall, type Case, type Things } from './support/route-cases.js';
import { IS_PUBLIC, REQUIRED_SCOPE } from '../src/security/authorization.js';
import { keyHolder, makeKey } from './support/api-keys.js';
import { evalReport } from './support/eval-reports.js';
import { FakeLlm } from './support/fake-llm.js';
import { storeApproval } from './support/stored-approval.js';
import { startJackdaw, type Answer, type Jackdaw } from './support/jackdaw.js';
import {
  call,
  documentedRoutes,
  isOfStandardClients,
  routeHandlers,
  said,
  type RouteCall,
} from './support/route-walk.js';
import { callOf } from './support/waiting-run.js';
import { contextIdOf } from '../src/tool-state/index.js';
import { ToolRegistry } from '../src/tool/index.js';
import { CounterTools } from './support/counter.tool.js';
import { scripted, untilStatus } from './support/mcp/scripted-servers.js';
import { WaitingTools } from './support/waiting.tool.js';

// No random id contains this one: a shorter id would occur in some of them.
const ANN_ID = 'ann-of-a';
const ANN = keyHolder(ANN_ID, 'a', 'admin|operator');
const BOB = keyHolder('bob', 'b', 'admin|operator');
const UNAUTHENTICATED: readonly Readonly<Record<string, string>>[] = [
  {},
  { authorization: `Bearer jd_${'x'.repeat(43)}` },
  { 'x-api-key': 'unknown' },
];
/** Texts that only tenant a may read. */
const SECRETS = [
  'question-of-a',
  'answer-of-a',
  'recipient-of-a',
  'session-of-a',
  'key-name-of-a',
  'hook-of-a',
  ANN_ID,
];

/** Routes without authentication. */
const PUBLIC = ['DELETE /api/login', 'GET /api/agent/health', 'GET /api/health/live', 'GET /api/health/ready'];

/** JSON-RPC routes, which report a missing scope in the answer; test/mcp-access.spec.ts checks the rest. */
const MCP = ['DELETE /mcp', 'GET /mcp', 'POST /mcp'].map((route) => ({ route, scope: 'chat' as const }));

const things: Things = {
  ended: '',
  flow: '',
  waiting: '',
  session: 'session-of-a',
  key: '',
  user: ANN_ID,
  state: '',
  approval: '',
  webhook: '',
  schedule: '',
  eval: '',
};

const ROUTES = Object.entries(CASES).map(([route, given]) => ({ route, ...given }));
const WITH_ID = ROUTES.flatMap((each) => (each.id === undefined ? [] : [{ ...each, id: each.id }]));

/** Whether the route reads content of a user. */
function hasUserData({ route, scope }: Case & { route: string }): boolean {
  return route.startsWith('GET ') && (scope === 'runs:read' || scope === 'sessions:read');
}

const asked = (each: Case & { route: string }) => toCall(each, things);

let llm: FakeLlm;
let jackdaw: Jackdaw;

beforeAll(async () => {
  llm = await FakeLlm.start();
  jackdaw = await startJackdaw({
    llm,
    tools: [new WaitingTools(), new CounterTools()],
    options: {
      mcpServers: [scripted('mcp', { tools: [SLY], content: true })],
      workflows: [{ name: 'greet', nodes: [{ id: 'give', type: 'llm' }] }],
    },
    env: {
      API_KEYS: `${ANN.entry},${BOB.entry}`,
      DOCS_ENABLED: 'true',
      ACCESS_LOG: 'on',
      BUDGET_DAY: 'tokens=1000000',
      MCP_REST_REGISTRATION: 'true',
    },
  });
  await untilStatus(jackdaw, 'mcp');
  const ask = async (sessionId: string) => {
    const { body } = await jackdaw.chat({ query: 'the question-of-a', sessionId }, ANN.headers);
    return String(body['run_id']);
  };
  llm.reply({ text: 'the answer-of-a' });
  const greeting = { input: { prompt: 'the question-of-a' }, wait: true };
  const { body: greeted } = await jackdaw.post('/api/workflows/greet/runs', greeting, ANN.headers);
  things.flow = String(greeted['run_id']);
  const bytes = { name: 'bytes', description: 'Gives bytes.', handler: () => Buffer.from([0xff, 0, 1]) };
  jackdaw.app.get(ToolRegistry).register(bytes);
  llm.reply({ calls: [{ id: 'b', name: 'bytes', arguments: {} }] }, { text: 'the answer-of-a' });
  things.ended = await ask(things.session);
  llm.reply({ text: 'the answer-of-a', calls: [callOf('pay', { to: 'recipient-of-a', amount: 5 })] });
  things.waiting = await ask('another-session-of-a');
  const principal = { id: ANN_ID, tenant: 'a', roles: ['user'] };
  await jackdaw.app.get(ToolRegistry).call('count', {}, { principal, sessionId: things.session });
  things.state = contextIdOf({ tenant: 'a', session: things.session, tool: 'count' });
  things.approval = await storeApproval(jackdaw, principal, things.session);
  things.key = (await makeKey(jackdaw, ANN.headers, { name: 'key-name-of-a' })).id;
  const hook = { url: 'https://hooks.example/hook-of-a' };
  things.webhook = String((await jackdaw.post('/api/webhooks', hook, ANN.headers)).body['id']);
  const daily = { query: 'the question-of-a', cron: '0 9 1 1 *' };
  things.schedule = String((await jackdaw.post('/api/schedules', daily, ANN.headers)).body['id']);
  things.eval = String((await jackdaw.post('/api/evals', { report: evalReport() }, ANN.headers)).body['id']);
});
beforeEach(() => {
  llm.reset();
  llm.always({ text: 'fine' });
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

describe('the tables of this test', () => {
  it('have every route of the OpenAPI document and no other', async () => {
    const mcp = MCP.map(({ route }) => route);
    expect([...PUBLIC, ...mcp, ...Object.keys(CASES)].toSorted()).toEqual(await documentedRoutes(jackdaw));
  });

  it('have an id for each placeholder', () => {
    const filled = ROUTES.filter(({ id, tool }) => id !== undefined || tool !== undefined);
    expect(filled.map(({ route }) => route)).toEqual(Object.keys(CASES).filter((route) => route.includes('{')));
    expect(Object.values(things)).not.toContain('');
  });
});

describe('every route', () => {
  it('is documented and declares its scope or that it is public', async () => {
    const handlers = routeHandlers(jackdaw);
    const ours = handlers.filter(({ controller }) => !isOfStandardClients(controller));
    expect(ours).toHaveLength((await documentedRoutes(jackdaw)).length);
    const documented = handlers.map(({ name, handler, controller }) => {
      const has = (key: string) => Reflect.getMetadata(key, handler) ?? Reflect.getMetadata(key, controller);
      return [
        name,
        has(IS_PUBLIC) === true ||
          has(REQUIRED_SCOPE).every((scope: (typeof SCOPES)[number]) => SCOPES.includes(scope)),
      ];
    });
    expect(documented.filter(([, isDocumented]) => !isDocumented)).toEqual([]);
  });

  it.each([...ROUTES, ...MCP])('$route answers 401 without a key and with an unknown key', async (each) => {
    for (const headers of UNAUTHENTICATED) {
      const answer = await call(jackdaw, asked(each), headers);
      expect([answer.status, answer.body['code']]).toEqual([401, 'UNAUTHENTICATED']);
      expectNoSecret(answer, []);
    }
    expect(llm.requests).toHaveLength(0);
  });

  it.each(ROUTES.filter(({ route }) => route.startsWith('GET')))('$route answers 401 to HEAD, too', async (each) => {
    expect((await call(jackdaw, { ...asked(each), route: each.route.replace('GET', 'HEAD') }, {})).status).toBe(401);
  });

  it.each(ROUTES.filter(hasUserData))('$route writes an entry to the access log', async (each) => {
    const from = Date.now();
    expect((await call(jackdaw, asked(each), ANN.headers)).status).toBe(200);
    const { body } = await jackdaw.get(`/api/access-log?principal=${ANN_ID}&from=${from}`, ANN.headers);
    const entries = body['entries'] as unknown as { target_id: string }[];
    expect(entries.map(({ target_id }) => target_id)).toEqual([each.id ? things[each.id] : '']);
  });

  it.each(PUBLIC)('%s answers without a key', async (route) => {
    expect(Math.floor((await call(jackdaw, { route }, {})).status / 100)).toBe(2);
  });
});

describe('the ids of another tenant', () => {
  it.each(WITH_ID)('$route answers as for an unknown id', async (each) => {
    const nowhere = { ...things, [each.id]: newId() };
    const foreign = await call(jackdaw, asked(each), BOB.headers);
    const unknown = await call(jackdaw, toCall(each, nowhere), BOB.headers);
    expect(foreign.status).toBe(404);
    expect(said(foreign, [things[each.id]])).toEqual(said(unknown, [nowhere[each.id]]));
    expectNoSecret(foreign, [things[each.id]]);
  });

  it.each(ROUTES.filter(({ id }) => id === undefined))('$route answers the caller with its own data', async (each) => {
    const answer = await call(jackdaw, asked(each), BOB.headers);
    expect(Math.floor(answer.status / 100)).toBe(2);
    expectNoSecret(answer, [things.session]);
    // The model does not see the other tenant's data, either.
    expect(JSON.stringify(llm.requests)).not.toMatch(/-of-a/);
  });

  it("do not change the other tenant's data", async () => {
    const ids = async (path: string, list: string, id: string) => {
      const { body } = await jackdaw.get(path, ANN.headers);
      return (body[list] as unknown as Record<string, string>[]).map((each) => each[id]);
    };
    expect(await ids('/api/runs', 'runs', 'run_id')).toEqual([things.waiting, things.ended, things.flow]);
    expect((await jackdaw.get(`/api/runs/${things.waiting}`, ANN.headers)).body['status']).toBe('waiting');
    expect(await jackdaw.messages(things.session, ANN.headers)).toHaveLength(4);
    const { body } = await jackdaw.get('/api/keys', ANN.headers);
    expect(body['keys']).toMatchObject([{ id: things.key, revoked_at: null }]);
  });
});

describe('the permissions of a key', () => {
  /** Without ids and body, an admitted request has no effect. */
  const bare = ({ route }: { route: string }): RouteCall =>
    // This stream has no end by default.
    route === 'GET /api/events' ? { route, query: '?follow=false' } : { route };

  it.each([
    [
      'viewer',
      ({ route }: { route: string }) =>
        route.startsWith('GET') && !/keys|webhooks|access-log|tenants|servers\/\{name\}$/.test(route),
    ],
    [
      'user',
      ({ scope }: { scope: string }) =>
        !['tools:write', 'webhooks', 'keys', 'erase', 'audit', 'operate'].includes(scope),
    ],
    ['admin', ({ scope }: { scope: string }) => scope !== 'operate'],
    ['operator', ({ scope, or }: Case) => scope === 'usage:read' || [scope, or].includes('operate')],
  ])('are those of the role %s', async (role, may) => {
    const { headers } = await makeKey(jackdaw, ANN.headers, { role });
    for (const each of ROUTES) {
      const answer = await call(jackdaw, bare(each), headers);
      expectScope(answer, each, each.any === true || may(each));
    }
  });

  it.each(SCOPES)('are restricted to %s', async (scope) => {
    const { headers } = await makeKey(jackdaw, ANN.headers, {
      role: scope === 'operate' ? 'operator' : 'admin',
      scopes: [scope],
    });
    for (const each of ROUTES)
      expectScope(
        await call(jackdaw, bare(each), headers),
        each,
        each.any === true || [each.scope, each.or].includes(scope),
      );
  });
});

function expectNoSecret({ text, headers }: Answer, named: readonly string[]): void {
  const all = named.reduce((rest, id) => rest.replaceAll(id, ''), `${text}${JSON.stringify([...headers])}`);
  const secrets = [...SECRETS, ...Object.values(things)].filter((secret) => !named.includes(secret));
  for (const secret of secrets) expect(all).not.toContain(secret);
}

function expectScope(
  { status, body }: Answer,
  { route, scope, or }: Case & { route: string },
  isAllowed: boolean,
): void {
  const outcome = [401, 403].includes(status) ? [status, body['code'], body['scope']] : 'let through';
  expect([route, outcome]).toEqual([route, isAllowed ? 'let through' : [403, 'FORBIDDEN', or ? undefined : scope]]);
}
