import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { rmSync } from 'node:fs';
import { HumanNode, ToolNode, WorkflowBuilder, type WorkflowInput } from '../src/index.js';
import { RunExpiryService } from '../src/run/decision/run-expiry.service.js';
import type { WaitingRequest } from '../src/run/decision/index.js';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeReply, FakeRequest } from './support/fake-llm.types.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { describeDatabases, testServers } from './support/test-databases.js';
import { beginHeld, WaitingRun } from './support/waiting-run.js';
import { WaitingTools } from './support/waiting.tool.js';

vi.setConfig({ testTimeout: 60_000 });

const HOUR_MS = 3_600_000;
/** Longer than any deadline in this spec, in ms; a direct call waits for seven days. */
const DAYS_MS = 8 * 24 * HOUR_MS;
const realNow = Date.now;
const MODEL = { provider: 'openai' };
const ARGUMENTS: Readonly<Record<string, Record<string, unknown>>> = { pay: { to: 'bob', amount: 5 } };

type Decision = readonly ['approve' | 'deny' | 'input' | 'settle', unknown?];

/** All decisions by the kind of the pending request. */
const DECISIONS: Readonly<Record<string, readonly Decision[]>> = {
  approval: [
    ['approve'],
    ['approve', { callId: 'c' }],
    ['approve', { callId: 'c', arguments: { to: 'eve', amount: 1 } }],
    ['deny', { reason: 'no' }],
  ],
  question: [['input', { value: 'KL2' }], ['deny']],
  settlement: [
    ['settle', { outcome: 'retry' }],
    ['settle', { outcome: 'succeeded', result: 1 }],
    ['settle', { outcome: 'failed', error: 'no' }],
  ],
  'direct call': [['approve']],
  'workflow approval': [['approve']],
  'workflow question': [['input', { value: 'yes' }]],
  'run deadline': [['approve']],
};

function workflow(asks: 'approval' | 'input'): WorkflowInput {
  return new WorkflowBuilder(asks)
    .add(new HumanNode('ask', asks, 'Well?').setExpiry(HOUR_MS))
    .add(new ToolNode('act', 'look', { text: asks }), { after: 'ask' })
    .build();
}

function reply({ messages }: FakeRequest): FakeReply {
  const last = messages.at(-1);
  if (last?.role === 'tool') return { text: 'the end' };
  const name = String(last?.content);
  return { calls: [{ id: 'c', name, arguments: ARGUMENTS[name] ?? { text: 'x' } }] };
}

/** Moves `Date.now` of this process; timers are unaffected, so no timer fires at the deadline. */
function pass(ms: number): void {
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() + ms);
}

describeDatabases('a deadline that passed while the server was down', await testServers(), (created, kind) => {
  const folder = newFolder();
  const tools = new WaitingTools();
  const runs = new Map<string, WaitingRun>();
  let llm: FakeLlm;
  let jackdaw: Jackdaw;

  const start = () =>
    startJackdaw({
      llm,
      tools: [tools],
      dataDir: folder,
      env: kind === 'sqlite' ? {} : { DATABASE_URL: created().url },
      options: {
        agents: [
          { name: 'default', model: MODEL, waiting: { expiresMs: HOUR_MS } },
          { name: 'patient', model: MODEL, waiting: { expiresMs: null } },
        ],
        workflows: [workflow('approval'), workflow('input')],
      },
    });

  async function begin(path: string, body: object): Promise<WaitingRun> {
    const { status, body: answer } = await jackdaw.post(path, body);
    expect(status).toBe(202);
    const run = new WaitingRun(jackdaw, String(answer['run_id']));
    await run.requests();
    return run;
  }

  beforeAll(async () => {
    llm = await FakeLlm.start();
    llm.always(reply);
    jackdaw = await start();
    runs.set('approval', await begin('/api/agent/chat', { query: 'pay' }));
    runs.set('question', await begin('/api/agent/chat', { query: 'choose' }));
    const withDeadline = { query: 'pay', agent: 'patient', deadlineMs: HOUR_MS };
    runs.set('run deadline', await begin('/api/agent/runs', withDeadline));
    runs.set('direct call', await begin('/api/tools/pay/call', { arguments: ARGUMENTS['pay'] }));
    runs.set('workflow approval', await begin('/api/workflows/approval/runs', { input: {} }));
    runs.set('workflow question', await begin('/api/workflows/input/runs', { input: {} }));
    runs.set('settlement', await beginHeld(jackdaw, tools, { query: 'send' }));
    await jackdaw.stop();
    tools.isHolding = false;
    jackdaw = await start();
    // The run with the interrupted call waits for settlement only after this restart.
    await runs.get('settlement')!.on(jackdaw).requests();
    await jackdaw.stop();
    tools.done.length = 0;
    pass(DAYS_MS);
    jackdaw = await start();
  });
  afterAll(async () => {
    vi.restoreAllMocks();
    await jackdaw.stop();
    await llm.close();
    rmSync(folder, { recursive: true });
  });

  const cases = Object.entries(DECISIONS).flatMap(([name, decisions]) =>
    decisions.map((decision) => ({ name, what: decision[0], body: decision[1] })),
  );

  it.each(cases)('refuses the $what of a late $name $body with the deadline', async ({ name, what, body }) => {
    const run = runs.get(name)!.on(jackdaw);
    const { waiting } = (await run.answer()) as unknown as { waiting: readonly WaitingRequest[] };
    const expires_at = waiting[0]!.expires_at!;
    const late = await run.decide(what, body);
    expect([late.status, late.body]).toMatchObject([
      409,
      { code: 'RUN_NOT_WAITING', run_status: 'waiting', is_retryable: false, expires_at },
    ]);
    expect(late.body['detail']).toContain(new Date(expires_at).toISOString());
    expect(await run.answer()).toMatchObject({ status: 'waiting', waiting });
    expect(tools.done).toEqual([]);
  });

  it('gives the same answer after the expiry sweep, without any tool call', async () => {
    const deadlines = new Map<string, number>();
    for (const [name, run] of runs) {
      const { waiting } = (await run.on(jackdaw).answer()) as unknown as { waiting: readonly WaitingRequest[] };
      deadlines.set(name, waiting[0]!.expires_at!);
    }
    const followed = [...runs.values()].map((run) => run.on(jackdaw));
    for (const run of followed) await run.events();
    await jackdaw.app.get(RunExpiryService, { strict: false }).expireDue();
    for (const run of followed) await run.events();
    for (const [name, run] of runs) {
      const late = await run.on(jackdaw).decide(...DECISIONS[name]![0]!);
      expect([name, late.status, late.body]).toMatchObject([
        name,
        409,
        { code: 'RUN_NOT_WAITING', expires_at: deadlines.get(name) },
      ]);
      expect(['completed', 'failed']).toContain(late.body['run_status']);
    }
    expect(tools.done).toEqual([]);
  });

  it('starts and resumes no run whose deadline passed while the server was down', async () => {
    vi.restoreAllMocks();
    await jackdaw.stop();
    jackdaw = await start();
    tools.isHolding = true;
    const arrived = tools.arrived();
    const submit = async (query: string) => {
      const { body } = await jackdaw.post('/api/agent/runs', { query, sessionId: 's', deadlineMs: HOUR_MS });
      return String(body['run_id']);
    };
    const interrupted = await submit('send');
    await arrived;
    const queued = await submit('look');
    await jackdaw.stop();
    tools.isHolding = false;
    const before = [tools.done.length, llm.requests.length];
    pass(HOUR_MS);
    jackdaw = await start();
    for (const id of [interrupted, queued]) {
      const last = (await jackdaw.events(id)).at(-1);
      expect(last).toMatchObject({ event: 'run.failed', data: { error: { code: 'RUN_TIMEOUT' } } });
    }
    expect([tools.done.length, llm.requests.length]).toEqual(before);
  });

  it.each([
    ['calls no tool', 0],
    ['calls no model', 1],
  ])('%s after the deadline of a run although no timer has fired', async (_what, calls) => {
    vi.restoreAllMocks();
    await jackdaw.stop();
    jackdaw = await start();
    llm.reset();
    tools.done.length = 0;
    // The clock moves during the model's reply or during the tool call.
    llm.always((request) => {
      if (calls === 0) pass(HOUR_MS);
      return reply(request);
    });
    tools.onLook = () => pass(HOUR_MS);
    const { body } = await jackdaw.post('/api/agent/runs', { query: 'look', deadlineMs: HOUR_MS });
    const last = (await jackdaw.events(String(body['run_id']))).at(-1);
    expect(last).toMatchObject({ event: 'run.failed', data: { error: { code: 'RUN_TIMEOUT' } } });
    expect([tools.done.length, llm.requests.length]).toEqual([calls, 1]);
  });
});
