import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { RunService } from '../src/run/index.js';
import { RunExportService } from '../src/run/replay/index.js';
import { createTestAgent, type TestAgent } from '../src/testing/index.js';
import { parseExportedRun } from '../src/run/replay/index.js';
import { Tool, type ToolContext } from '../src/tool/method/index.js';
import { withImages } from '../src/tool/result/index.js';
import type { Jackdaw } from './support/jackdaw.js';
import { newKey } from './support/private-world.js';
import { callOf, ReplayWorld, SHIPPING } from './support/replay-world.js';

const world = ReplayWorld.prepare();
const DOT =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

class Till {
  readonly calls: string[] = [];

  @Tool({ description: 'Pays.', effect: 'once', input: z.object({ amount: z.number() }) })
  pay({ amount }: { amount: number }): string {
    this.calls.push(`pay ${amount}`);
    return `paid ${amount}`;
  }

  @Tool({ description: 'Refunds.', effect: 'once', approval: 'always', input: z.object({}) })
  refund(): string {
    this.calls.push('refund');
    return 'refunded';
  }

  readonly held = Promise.withResolvers<void>();

  @Tool({ description: 'Holds.', effect: 'idempotent', input: z.object({}) })
  async hold(_input: object, { signal }: ToolContext): Promise<string> {
    this.held.resolve();
    await once(signal, 'abort');
    throw signal.reason;
  }

  @Tool({ description: 'Echoes.', effect: 'read', input: { type: 'object', properties: { id: { type: 'integer' } } } })
  echo(input: object): object {
    return input;
  }

  @Tool({ description: 'Looks.', effect: 'read', input: z.object({}) })
  look(): string {
    this.calls.push('look');
    return 'seen';
  }

  @Tool({ description: 'Draws.', effect: 'read', input: z.object({}) })
  draw(): unknown {
    this.calls.push('draw');
    return withImages({ of: 'a dot', report: Buffer.from([0x25, 0x50, 0x44, 0x46, 0xff, 0, 0xff]) }, [DOT]);
  }
}

const agents: TestAgent[] = [];
afterEach(async () => {
  for (const agent of agents.splice(0)) await agent.close().catch(() => undefined);
});

/** Checks a run of a test agent there and in another application, without a call of a model or a tool. */
async function check(agent: TestAgent, till: Till, runId: string) {
  const { modules } = agent['services'];
  const exported = await modules.get(RunExportService, { strict: false }).export(agent['principal'], runId);
  const before = [till.calls.length, agent.script.requests.length];
  const other = await createTestAgent({ tools: [till] });
  agents.push(other);
  const checks = [];
  for (const one of [agent, other]) checks.push(await one.replay(parseExportedRun(JSON.stringify(exported))));
  expect([till.calls.length, agent.script.requests.length]).toEqual(before);
  expect(checks[0]).toEqual(checks[1]);
  return checks[0];
}

describe('a replay check of a run that crashed and resumed', () => {
  const calls = [
    { name: 'look', arguments: {} },
    { name: 'pay', arguments: { amount: 5 } },
  ];

  it.each([
    { before: 'model:1' },
    { after: 'model:1' },
    { before: 'tool:1:1' },
    { after: 'tool:1:2' },
    { before: 'model:2' },
  ])('finds no difference after a crash at %o', async (point) => {
    const till = new Till();
    const first = { when: /^Pay/, reply: { calls }, times: 'any' as const };
    const last = { when: { tool: 'pay', result: 'paid 5' }, reply: 'Done.', times: 'any' as const };
    const agent = await createTestAgent({ tools: [till], script: [last, first] });
    agents.push(agent);
    const { agent: next, reply } = await agent.crash(point, () => agent.chat('Pay'));
    expect(reply.content).toBe('Done.');
    expect(await check(next, till, reply.runId)).toMatchObject({ status: 'same' });
  });

  it.each([
    ['succeeded', { outcome: 'succeeded', result: 'paid by hand' }],
    ['failed', { outcome: 'failed', error: 'The bank is closed.' }],
    ['retry', { outcome: 'retry' }],
  ] as const)('finds none after a call of unknown outcome that a person settled as %s', async (_name, settlement) => {
    const till = new Till();
    const script = [{ calls: [calls[1]!] }, 'Done.'];
    const agent = await createTestAgent({ tools: [till], script });
    agents.push(agent);
    const { agent: next, reply } = await agent.crash({ after: 'claim:1:1' }, () => agent.chat('Pay'));
    expect(reply.waiting).toMatchObject([{ kind: 'outcome_unknown' }]);
    expect((await next.settle(reply.runId, settlement)).content).toBe('Done.');
    expect(await check(next, till, reply.runId)).toMatchObject({ status: 'same' });
  });
});

describe('a replay check of a run with an encrypted journal', () => {
  const keys = { ENCRYPTION_KEYS: newKey('k1') };

  it('finds no difference with and without the key, and the planted change of arguments', async () => {
    const sealed = await world.open({ env: keys });
    world.llm.reply(...SHIPPING);
    const text = await world.record('Ship the secret', sealed);
    for (const server of [sealed, world.source, await world.open({ env: { ENCRYPTION_KEYS: newKey('k2') } })])
      expect(await world.checkAt(server, text)).toMatchObject({ status: 'same' });
    const changed = await world.open({
      env: keys,
      ship: { parameters: z.object({ id: z.string(), limit: z.number().default(5) }) },
    });
    expect(await world.checkAt(changed, text)).toMatchObject({ status: 'diverged' });
  });
});

describe('a replay check of a run with tools of its client', () => {
  const tools = [
    {
      type: 'function',
      function: { name: 'locate', description: 'Locates.', parameters: { type: 'object', properties: {} } },
    },
  ];

  it('finds no difference', async () => {
    world.llm.reply(callOf('locate', {}), { text: 'In Bern.' });
    const messages: object[] = [{ role: 'user', content: 'Where am I?' }];
    const ask = () => world.source.post('/v1/chat/completions', { model: 'support', messages, tools });
    const first = (await ask()).body['choices'] as unknown as { message: { tool_calls: { id: string }[] } }[];
    const { message } = first[0]!;
    messages.push(message, { role: 'tool', tool_call_id: message.tool_calls[0]!.id, content: 'Bern' });
    const { text, status } = await ask();
    expect([status, text]).toEqual([200, expect.stringContaining('In Bern.')]);
    const [id] = await endedRuns(world.source);
    const exported = await world.exportOf(id!);
    expect(exported).toContain('locate');
    expect(await world.checkAt(await world.open(), exported)).toMatchObject({ status: 'same' });
  });
});

async function endedRuns(server: Jackdaw): Promise<string[]> {
  const { body } = await server.get('/api/runs?limit=5');
  const runs = body['runs'] as unknown as { run_id: string; status: string }[];
  return runs.filter(({ status }) => status === 'completed').map(({ run_id: id }) => id);
}

describe('a replay check of a run with approvals', () => {
  it('finds no difference after an expired approval', async () => {
    const till = new Till();
    const agent = await createTestAgent({ tools: [till], script: [{ calls: [{ name: 'refund' }] }, 'Expired.'] });
    agents.push(agent);
    const { runId } = await agent.chat('Refund');
    await agent.advance(30 * 86_400_000);
    expect((await agent.outcome(runId)).content).toBe('Expired.');
    expect(await check(agent, till, runId)).toMatchObject({ status: 'same' });
  });

  it('finds none after two decisions about one reply, and a crash between them', async () => {
    const till = new Till();
    const refund = { name: 'refund', arguments: {} };
    const calls = [
      { ...refund, id: 'a' },
      { ...refund, id: 'b' },
    ];
    const agent = await createTestAgent({ tools: [till], script: [{ calls }, 'Done.'] });
    agents.push(agent);
    const { runId } = await agent.chat('Refund twice');
    await agent.deny(runId, { callId: 'b', reason: 'once is enough' });
    const next = await agent.restart();
    expect((await next.approve(runId, { callId: 'a' })).content).toBe('Done.');
    expect(await check(next, till, runId)).toMatchObject({ status: 'same' });
  });
});

describe('a replay check of a cancelled run', () => {
  it('finds no difference in a run that waited', async () => {
    world.llm.reply(callOf('pay', { to: 'bob', amount: 5 }));
    const id = await world.ask('Pay');
    await world.source.post(`/api/runs/${id}/cancel`);
    await world.source.events(id);
    const text = await world.exportOf(id);
    expect(parseExportedRun(text).status).toBe('cancelled');
    expect(await world.checkAt(await world.open(), text)).toMatchObject({ status: 'same' });
  });

  it('finds none in a run whose model was asked', async () => {
    world.llm.reply(callOf('ship', { id: 'o-1' }), { hang: true });
    const stream = await world.source.stream({ query: 'Ship', agent: 'support' });
    await world.llm.waitForRequest(2);
    await world.source.post(`/api/runs/${stream.runId}/cancel`);
    await stream.all();
    const text = await world.exportOf(stream.runId);
    expect(parseExportedRun(text).status).toBe('cancelled');
    expect(await world.checkAt(await world.open(), text)).toMatchObject({ status: 'same' });
  });
});

describe('a replay check of a run that ended during a call', () => {
  const script = [{ calls: [{ name: 'look' }, { name: 'hold' }] }];

  it('finds no difference after its cancellation', async () => {
    const till = new Till();
    const agent = await createTestAgent({ tools: [till], script });
    agents.push(agent);
    const events: string[] = [];
    const runId = Promise.withResolvers<string>();
    const streamed = agent.stream('Hold', (event) => {
      events.push(event.type);
      if (event.type === 'run.started') runId.resolve(event.run_id);
    });
    await till.held.promise;
    const runs = agent['services'].modules.get(RunService, { strict: false });
    await runs.cancel(agent['principal'], await runId.promise);
    await streamed;
    expect(events.at(-1)).toBe('run.cancelled');
    expect(await check(agent, till, await runId.promise)).toMatchObject({ status: 'same' });
  });

  it('finds none after its time limit', async () => {
    const till = new Till();
    const agent = await createTestAgent({ tools: [till], script, limits: { runTimeoutMs: 1000 } });
    agents.push(agent);
    const { runId, finishReason } = await agent.chat('Hold').catch((error: unknown) => {
      const { run_id, finish_reason } = (error as { details: Record<string, string> }).details;
      return { runId: run_id!, finishReason: finish_reason };
    });
    expect(finishReason).toBe('timeout');
    expect(await check(agent, till, runId)).toMatchObject({ status: 'same' });
  });
});

describe('a replay check of a run with integers that no number represents', () => {
  it('finds no difference', async () => {
    const till = new Till();
    const big = '{"id":90071992547409931234}';
    const agent = await createTestAgent({
      tools: [till],
      script: [{ calls: [{ name: 'echo', arguments: big }] }, 'Done.'],
    });
    agents.push(agent);
    const { runId } = await agent.chat('Echo');
    expect(await check(agent, till, runId)).toMatchObject({ status: 'same' });
  });
});

describe('a replay check of a run with files', () => {
  it('finds no difference with an image of the question', async () => {
    world.llm.reply({ text: 'A dot.' });
    const { body } = await world.source.chat({ query: 'What is it?', agent: 'support', images: [{ url: DOT }] });
    const text = await world.exportOf(String(body['run_id']));
    expect(await world.checkAt(await world.open(), text)).toMatchObject({ status: 'same' });
  });

  it('finds none with images and files of results, also in a later turn of the session', async () => {
    const till = new Till();
    const script = [{ calls: [{ name: 'draw', arguments: {} }] }, 'Drawn.', 'A dot.'];
    const agent = await createTestAgent({ tools: [till], script });
    agents.push(agent);
    for (const question of ['Draw', 'What is it?']) {
      const { runId } = await agent.chat(question);
      expect(await check(agent, till, runId)).toMatchObject({ status: 'same' });
    }
  });
});
