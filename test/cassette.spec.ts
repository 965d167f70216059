import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import {
  Cassette,
  type CassetteOptions,
  type CreateAgentOptions,
  createAgent,
  type RunEvent,
  Tool,
} from '../src/index.js';
import { createTestAgent, FakeProvider, type TestAgent } from '../src/testing/index.js';
import { IS_LONG_FORM } from './support/long-form.js';

/** Replays of one cassette that are compared. */
const REPLAYS = IS_LONG_FORM ? 100 : 20;
const SECRET = 'a-very-secret-value';
const PAY = { calls: [{ name: 'pay', arguments: { amount: 5 } }] };

/** The executed calls. */
const CALLS: string[] = [];

class Till {
  @Tool({ description: 'Pays.', effect: 'idempotent', input: z.object({ amount: z.number() }) })
  pay({ amount }: { amount: number }): string {
    CALLS.push('pay');
    return `paid ${amount}, ${new Date().toISOString()}`;
  }

  @Tool({ description: 'Refunds.', effect: 'once', approval: 'always', input: z.object({ amount: z.number() }) })
  refund({ amount }: { amount: number }): string {
    CALLS.push('refund');
    return `refunded ${amount}`;
  }
}

class Broken {
  @Tool({ description: 'Fails.', effect: 'read', input: z.object({}) })
  fail(): string {
    CALLS.push('fail');
    throw new Error('The till is broken.');
  }
}

class WiderTill extends Till {
  @Tool({
    description: 'Pays.',
    effect: 'idempotent',
    input: z.object({ amount: z.number(), currency: z.string().optional() }),
  })
  override pay({ amount }: { amount: number }): string {
    return `paid ${amount}`;
  }
}

let folder: string;
let file: string;
let provider: FakeProvider;
const agents: TestAgent[] = [];

beforeEach(async () => {
  vi.stubEnv('CI', '');
  folder = mkdtempSync(join(tmpdir(), 'jackdaw-cassette-'));
  file = join(folder, 'pay.jsonl');
  provider = await FakeProvider.start();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const agent of agents.splice(0)) await agent.close().catch(() => undefined);
  await provider.close();
  rmSync(folder, { recursive: true });
});

async function start(mode: CassetteOptions['mode'], more: CreateAgentOptions = {}): Promise<TestAgent> {
  const cassette = new Cassette(file, { ...(mode && { mode }), secrets: [SECRET] });
  const agent = await createTestAgent({
    provider,
    cassette,
    tools: [Till],
    instructions: 'You pay.',
    model: { name: 'gpt-4o' },
    ...more,
  });
  agents.push(agent);
  return agent;
}

/** Records the payment. */
async function record(): Promise<void> {
  provider.reply(PAY, { text: 'It is paid.' });
  const agent = await start('record');
  await agent.chat(`Pay 5 with ${SECRET}.`);
  await agent.close();
}

const ask = (agent: TestAgent) => agent.chat(`Pay 5 with ${SECRET}.`);

/** The events of a payment, without ids and times. */
async function eventsOf(agent: TestAgent): Promise<string[]> {
  const events: RunEvent[] = [];
  await agent.stream(`Pay 5 with ${SECRET}.`, (event) => events.push(event));
  return events.map((event) =>
    JSON.stringify(event).replaceAll(
      /\d{4}-\d\d-\d\dT[\d:.]+Z|(?<=")[\w-]{31}(?=")|(?<=_ms":)[\d.]+|\b1\d{12}\b/g,
      '…',
    ),
  );
}

describe('a cassette', () => {
  it('has a line for each model call, without secrets, ids and times', async () => {
    await record();
    const text = readFileSync(file, 'utf8');
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toMatchObject([
      {
        key: expect.stringMatching(/^[\da-f]{64}$/),
        request: { model: 'openai:gpt-4o', messages: [{ role: 'system' }, { content: 'Pay 5 with [redacted].' }] },
        reply: { message: { toolCalls: [{ name: 'pay' }] } },
        usage: { promptTokens: 10 },
      },
      {
        request: { messages: [{}, {}, {}, { content: 'paid 5, <time>' }] },
        reply: { message: { content: 'It is paid.' } },
      },
    ]);
    expect(text).not.toContain(SECRET);
  });

  it('replays a run without the provider, with the same answer and usage', async () => {
    await record();
    const requests = provider.requests.length;
    for (let n = 0; n < 10; n++) {
      const agent = await start('replay');
      expect(await ask(agent)).toMatchObject({ content: 'It is paid.', usage: { totalTokens: 30 } });
      await agent.close();
    }
    expect(provider.requests.length).toBe(requests);
  });

  it(`replays the same events ${REPLAYS} times, without a request`, async () => {
    await record();
    const sent = provider.requests.length;
    const played = new Set<string>();
    for (let n = 0; n < REPLAYS; n++) {
      const agent = await start('replay');
      const events = await eventsOf(agent);
      await agent.close();
      expect(events.length).toBeGreaterThan(5);
      played.add(events.join('\n'));
    }
    expect([played.size, provider.requests.length]).toEqual([1, sent]);
  });

  it('replays without a key of the provider', async () => {
    await record();
    const cassette = new Cassette(file, { mode: 'replay', secrets: [SECRET] });
    const llm = { apiType: 'openai', model: 'gpt-4o' } as const;
    const agent = await createTestAgent({ cassette, llm, tools: [Till], instructions: 'You pay.' });
    agents.push(agent);
    expect((await ask(agent)).content).toBe('It is paid.');
    await agent.close();
    await expect(createTestAgent({ llm })).rejects.toThrow('OPENAI_API_KEY');
  });

  it.each<[string, CreateAgentOptions, RegExp]>([
    ['prompt', { instructions: 'You refuse.' }, /- system: You pay\.[^]*\+ system: You refuse\./],
    ['model', { model: { name: 'gpt-4.1' } }, /- model openai:gpt-4o\n\s+\+ model openai:gpt-4\.1/],
    [
      'parameter',
      { model: { name: 'gpt-4o', parameters: { temperature: 0.1 } } },
      /\+ parameters \{"temperature":0\.1/,
    ],
    ['schema of a tool', { tools: [WiderTill] }, /- tool pay: \{.*"amount".*\n.*\+ tool pay: \{.*"currency"/],
  ])('fails with the differences after a change of the %s', async (_name, change, difference) => {
    await record();
    const agent = await start('replay', change);
    await expect(ask(agent)).rejects.toThrow(difference);
    await expect(agent.close()).rejects.toThrow(difference);
  });

  it('fails at the end if a line is unused', async () => {
    await record();
    const agent = await start('replay');
    await expect(agent.close()).rejects.toThrow(/2 lines of the cassette .*pay\.jsonl had no request/);
  });

  it('replays the turns of a session, whose times differ', async () => {
    provider.reply({ text: 'One.' }, { text: 'Two.' });
    for (const mode of ['record', 'replay'] as const) {
      const agent = await start(mode);
      await agent.chat('First');
      expect((await agent.chat('Second')).content).toBe('Two.');
      await agent.close();
    }
  });

  it('records only new requests in the mode auto', async () => {
    await record();
    provider.reply({ text: 'Hello.' });
    for (const _ of [1, 2]) {
      const agent = await start('auto');
      await ask(agent);
      expect((await agent.chat('Hi', { newSession: true })).content).toBe('Hello.');
      await agent.close();
    }
    expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(3);
    provider.assertDone();
  });

  it('is never recorded with CI', async () => {
    vi.stubEnv('CI', 'true');
    expect(() => new Cassette(file, { mode: 'record' })).toThrow(/does not exist/);
    writeFileSync(file, '');
    const agent = await start('auto');
    await expect(ask(agent)).rejects.toThrow('It has no unused line.');
    expect([readFileSync(file, 'utf8'), provider.requests.length]).toEqual(['', 0]);
  });

  it('names a damaged line', () => {
    writeFileSync(file, '\n{"key"');
    expect(() => new Cassette(file)).toThrow(`${file}:2 is no JSON`);
  });

  it('replays a crash and an approval', async () => {
    provider.reply({ calls: [{ name: 'refund', arguments: { amount: 5 } }, PAY.calls[0]!] }, { text: 'Done.' });
    for (const mode of ['record', 'replay'] as const) {
      const agent = await start(mode);
      const { agent: next, reply } = await agent.crash({ after: 'model:1' }, () => ask(agent));
      expect(reply.waiting).toMatchObject([{ kind: 'approval', tool: 'refund' }]);
      expect((await next.approve(reply.runId)).content).toBe('Done.');
      await agent.close();
    }
    expect(provider.requests.length).toBe(2);
  });

  it('replays the results of tools without calling them, after the approval', async () => {
    const question = 'Refund 5.';
    const calls = [{ name: 'refund', arguments: { amount: 5 } }, PAY.calls[0]!, { name: 'fail', arguments: {} }];
    provider.reply({ calls }, { text: 'Done.' });
    const replies: unknown[] = [];
    for (const mode of ['record', 'replay', 'replay'] as const) {
      CALLS.length = 0;
      const cassette = new Cassette(file, { mode, tools: 'recorded' });
      const agent = await start(mode, { cassette, tools: [Till, Broken] });
      const { runId, waiting } = await agent.chat(question);
      expect(waiting).toMatchObject([{ kind: 'approval', tool: 'refund' }]);
      replies.push((await agent.approve(runId)).content);
      await agent.close();
      expect(CALLS).toHaveLength(mode === 'record' ? 3 : 0);
    }
    expect(replies).toEqual(['Done.', 'Done.', 'Done.']);
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    const tools = lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ kind }) => kind === 'tool');
    expect(tools.toSorted((a, b) => String(a['name']).localeCompare(String(b['name'])))).toMatchObject([
      { name: 'fail', result: { error: { message: 'The till is broken.' } } },
      { name: 'pay', arguments: { amount: 5 }, result: { returned: { value: expect.stringMatching(/^paid 5/) } } },
      { name: 'refund', result: { returned: { value: 'refunded 5' } } },
    ]);
    // Without the line of a call, the tool is not called either.
    writeFileSync(file, lines.filter((line) => !line.includes('"name":"pay","arguments":{"amount":5},')).join('\n'));
    const cassette = new Cassette(file, { mode: 'replay', tools: 'recorded' });
    const agent = await start('replay', { cassette, tools: [Till, Broken] });
    await agent.approve((await agent.chat(question)).runId).catch(() => undefined);
    await expect(agent.close()).rejects.toThrow('The tool call pay({"amount":5}) is not in the cassette');
    expect(CALLS).toEqual([]);
  });

  it('is the path of a file in createAgent', async () => {
    await record();
    vi.stubEnv('CI', 'true');
    const config = { DATA_DIR: folder, ...provider.env };
    const options = { cassette: file, tools: [Till], instructions: 'You pay.', model: { name: 'gpt-4o' }, config };
    const agent = await createAgent(options);
    await expect(agent.close()).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
  });
});
