import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { newKey } from './support/private-world.js';
import { keyHolder } from './support/api-keys.js';
import { FactsTools } from './support/facts.tool.js';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeCall } from './support/fake-llm.types.js';
import { SecurityPolicies } from '../src/tool-policy/index.js';
import { startJackdaw, type Answer, type Jackdaw } from './support/jackdaw.js';
import { describeDatabases, testServers } from './support/test-databases.js';

type Call = readonly [tool: string, args: Readonly<Record<string, unknown>>];

const servers = await testServers();
const PAGE: Call = ['read_page', { page: 'x' }];
const CUSTOMER: Call = ['find_customer', { id: 1 }];
const fetchOf = (url: string): Call => ['fetch_url', { url }];
const DOCS = fetchOf('https://docs.example/1');
const MORE_DOCS = fetchOf('https://docs.example/2?x=1');
const OTHER = fetchOf('https://evil.example');
const ANN = keyHolder('ann', 'acme', 'user');
const BOSS = keyHolder('boss', 'acme', 'admin');

describeDatabases('the scope of an approval', servers, (database) => {
  const tools = new FactsTools();
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  let ids = 0;
  beforeAll(async () => {
    llm = await FakeLlm.start();
    jackdaw = await startJackdaw({
      llm,
      tools: [tools],
      env: {
        DATABASE_URL: database().url,
        REDIS_URL: '',
        API_KEYS: `${ANN.entry},${BOSS.entry}`,
        ENCRYPTION_KEYS: newKey('k'),
      },
      options: {
        builtinTools: false,
        agents: [
          { name: 'default', model: { provider: 'openai' } },
          { name: 'asking', model: { provider: 'openai' }, approvals: ['fetch_url'] },
        ],
      },
    });
  });
  afterEach(() => {
    llm.reset();
    tools.out.length = 0;
  });
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
  });

  const script = (calls: readonly Call[]) => {
    llm.reset();
    const replies = calls.map(([name, args]): { calls: FakeCall[] } => ({
      calls: [{ id: `c${++ids}`, name, arguments: args }],
    }));
    llm.reply(...replies, { text: 'the end' });
  };
  const play = async (calls: readonly Call[], request: object = {}, { headers } = ANN) => {
    script(calls);
    return seen(await jackdaw.chat({ query: 'go', ...request }, headers));
  };
  const seen = ({ body, status }: Answer) => ({
    code: body['code'] ?? status,
    body,
    status: body['status'] ?? body['finish_reason'],
    run: String(body['run_id']),
    sessionId: String(body['session_id']),
  });
  const approve = (run: string, body: object, { headers } = ANN) =>
    jackdaw.post(`/api/runs/${run}/approve`, body, headers);
  const decided = async (run: string, body: object, calls: readonly Call[] = [], who = ANN) => {
    script(calls);
    expect(await approve(run, body, who)).toMatchObject({ status: 202 });
    return (await jackdaw.events(run, BOSS.headers)).at(-1);
  };
  const listed = async (query = '', { headers } = ANN) =>
    (await jackdaw.get(`/api/approvals${query}`, headers)).body['approvals'] as unknown as Record<string, unknown>[];
  const revoke = (id: unknown, { headers } = ANN) =>
    jackdaw.send(`/api/approvals/${String(id)}`, { method: 'DELETE', headers });

  /** A run that waits with a call to the documentation. */
  const waiting = () => play([PAGE, CUSTOMER, DOCS]);

  it('is the call by default: the next call waits again', async () => {
    const { run, body } = await waiting();
    expect(body['waiting']).toMatchObject([{ covers: { addresses: ['docs.example'] } }]);
    expect(await decided(run, {}, [MORE_DOCS])).toMatchObject({ event: 'run.waiting' });
    expect(await listed()).toEqual([]);
  });

  it('`run` covers the same tool with the same hosts until the run ends', async () => {
    const { run, sessionId } = await waiting();
    expect(await decided(run, { scope: 'run' }, [MORE_DOCS, OTHER])).toMatchObject({ event: 'run.waiting' });
    expect(tools.out).toEqual([DOCS, MORE_DOCS].map(([, args]) => args['url']));
    const [stored] = await listed(`?runId=${run}`);
    expect(stored).toMatchObject({
      scope: 'run',
      tool: 'fetch_url',
      addresses: ['docs.example'],
      run_id: run,
      owner: 'ann',
    });
    const events = (await jackdaw.events(run, ANN.headers)).filter(({ event }) => event === 'policy.decided');
    const by = { scope: 'run', approval_id: stored?.['id'] };
    expect(events.map(({ data }) => data)).toMatchObject([
      { policy: 'taint', decision: 'approval' },
      { decision: 'approved', by: 'ann', ...by },
      { policy: 'taint', decision: 'allowed', ...by },
      { policy: 'taint', decision: 'approval' },
    ]);
    expect(await decided(run, {})).toMatchObject({ event: 'run.completed' });
    expect(await listed()).toEqual([]);
    expect(await play([MORE_DOCS], { sessionId })).toMatchObject({ status: 'waiting' });
  });

  it('`session` covers later runs of the session and their owner, until it is revoked', async () => {
    const { run, sessionId } = await waiting();
    expect(await decided(run, { scope: 'session' })).toMatchObject({ event: 'run.completed' });
    expect(await play([MORE_DOCS], { sessionId })).toMatchObject({ status: 'stop' });
    const another = await play([MORE_DOCS], { sessionId }, BOSS);
    expect(another).toMatchObject({ status: 'waiting' });
    await jackdaw.post(`/api/runs/${another.run}/deny`, {}, BOSS.headers);
    await jackdaw.events(another.run, BOSS.headers);
    const [stored] = await listed(`?sessionId=${sessionId}`);
    expect(await revoke(stored?.['id'])).toMatchObject({ status: 204 });
    expect(await revoke(stored?.['id'])).toMatchObject({ status: 404 });
    expect(await play([MORE_DOCS], { sessionId })).toMatchObject({ status: 'waiting' });
  });

  it('is deleted when the session is cleared', async () => {
    const { run, sessionId } = await waiting();
    await decided(run, { scope: 'session' });
    expect(await listed(`?sessionId=${sessionId}`)).toHaveLength(1);
    await jackdaw.send(`/api/sessions/${sessionId}/messages`, { method: 'DELETE', headers: ANN.headers });
    expect(await listed(`?sessionId=${sessionId}`)).toEqual([]);
  });

  it('does not go along with a fork', async () => {
    const { run } = await waiting();
    await decided(run, { scope: 'session' });
    script([MORE_DOCS]);
    const { body, status } = await jackdaw.post(`/api/runs/${run}/fork`, { fromStep: 'model:4' }, ANN.headers);
    expect(status).toBe(202);
    const events = await jackdaw.events(String(body['run_id']), ANN.headers);
    expect(events.at(-1)).toMatchObject({ event: 'run.waiting' });
  });

  it('needs a decider who may make the call, also at the later call', async () => {
    const { run, sessionId } = await waiting();
    await decided(run, { scope: 'session' }, [], BOSS);
    expect(await play([MORE_DOCS], { sessionId })).toMatchObject({ status: 'stop' });
    const policies = jackdaw.app.get(SecurityPolicies);
    await policies.set({ tools: [{ principals: ['boss'], deny: ['fetch_url'] }], rateLimits: [] });
    expect(await play([MORE_DOCS], { sessionId })).toMatchObject({ status: 'waiting' });
    await policies.set();
  });

  it.each([
    ['for changed arguments', { scope: 'run', arguments: { url: 'https://a.example' } }, 'default'],
    ['for a call that an agent lets wait', { scope: 'run' }, 'asking'],
    ['with another value', { scope: 'always' }, 'default'],
  ])('is refused %s', async (_case, body, agent) => {
    const { run } = await play([PAGE, CUSTOMER, DOCS], { agent });
    expect(await approve(run, body)).toMatchObject({ status: 400, body: { errors: [{ field: 'scope' }] } });
    expect(await listed(`?runId=${run}`)).toEqual([]);
  });

  it('is refused for other principals and shown to those who see the run', async () => {
    const { run } = await waiting();
    await decided(run, { scope: 'session' }, [], ANN);
    const [stored] = await listed(`?runId=${run}`, BOSS);
    expect(stored).toMatchObject({ decided_by: 'ann' });
    const other = await play([PAGE, CUSTOMER, DOCS], {}, BOSS);
    await decided(other.run, { scope: 'session' }, [], BOSS);
    const theirs = await listed(`?runId=${other.run}`, BOSS);
    expect(await listed(`?runId=${other.run}`)).toEqual([]);
    expect(await revoke(theirs[0]?.['id'])).toMatchObject({ status: 404 });
  });
});
