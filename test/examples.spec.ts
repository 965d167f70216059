import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { FakeLlm } from './support/fake-llm.js';
import { PackedConsumer } from './support/packed-consumer.js';

interface Answer {
  readonly answer: string;
  readonly status: string;
  readonly sessionId: string;
  readonly runId: string;
  readonly waitsFor: readonly string[];
}

const refund = { calls: [{ name: 'refund_order', arguments: { orderId: 'A1' } }] };
const find = { calls: [{ name: 'find_order', arguments: { orderId: 'A1' } }] };

/** The application of examples/support-desk with the packed package, compiled by the command of its package.json. */
describe('the support desk', () => {
  let llm: FakeLlm;
  let project: PackedConsumer;
  let server: ChildProcess;
  let url = '';

  beforeAll(async () => {
    llm = await FakeLlm.start();
    project = await PackedConsumer.create('examples/support-desk');
    const { code, output } = project.compile();
    if (code !== 0) throw new Error(output);
    await start();
  });
  afterAll(async () => {
    await stop();
    await llm.close();
    project.remove();
  });

  async function start(): Promise<void> {
    server = spawn(process.execPath, ['dist/main.js'], {
      cwd: project.folder,
      env: { PATH: process.env['PATH'], PORT: '0', NO_COLOR: '1', ...llm.env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    for await (const line of createInterface({ input: server.stdout! })) {
      const address = /Listens at (\S+)/.exec(line)?.[1];
      if (address) {
        url = address;
        return;
      }
    }
    throw new Error('It ended before it listened.');
  }

  async function stop(): Promise<void> {
    const ended = once(server, 'exit');
    server.stdout!.resume();
    server.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  }

  async function post(path: string, token: string, body?: unknown): Promise<{ status: number; body: Answer }> {
    const reply = await fetch(`${url}/support/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: reply.status, body: (await reply.json()) as Answer };
  }
  const ask = (token: string, question: string, sessionId?: string) =>
    post('questions', token, { question, sessionId });

  it('answers a customer with its tools and continues the conversation', async () => {
    llm.reset();
    llm.reply(find, { text: 'It is a lamp.' }, { text: 'It was 25.' });
    const { status, body } = await ask('ann', 'What is A1?');
    expect([status, body]).toMatchObject([200, { answer: 'It is a lamp.', status: 'completed', waitsFor: [] }]);
    expect(String(llm.requests[0]?.messages[0]?.content)).toContain('You help customers of a shop');
    expect(llm.requests[0]?.tools?.map((tool) => tool.function.name)).toEqual(['find_order', 'refund_order']);
    expect(llm.lastRequest.messages.at(-1)).toMatchObject({ role: 'tool', content: expect.stringContaining('A lamp') });
    await ask('ann', 'And its price?', body.sessionId);
    expect(llm.lastRequest.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ]);
  });

  it('protects the order from other customers with its guard', async () => {
    llm.reset();
    llm.reply(find, { text: 'I cannot see it.' });
    expect((await ask('bob', 'What is A1?')).body).toMatchObject({ answer: 'I cannot see it.' });
    expect(llm.lastRequest.messages.at(-1)).toMatchObject({
      role: 'tool',
      content: expect.stringContaining('Forbidden'),
    });
  });

  it('lets staff approve a refund, also after a restart', async () => {
    llm.reset();
    llm.reply(refund, { text: 'You have your 25 back.' });
    const { body } = await ask('ann', 'I want the money for A1 back.');
    expect(body).toMatchObject({ status: 'waiting', waitsFor: ['refund_order'] });
    await stop();
    await start();
    expect(await post(`runs/${body.runId}/approve`, 'ann')).toMatchObject({ status: 403 });
    const approved = await post(`runs/${body.runId}/approve`, 'staff');
    expect(approved).toMatchObject({ status: 200, body: { answer: 'You have your 25 back.', status: 'completed' } });
    expect(llm.lastRequest.messages.at(-1)).toMatchObject({ content: 'Refunded 25 for the order A1 (A lamp).' });
    expect(await post(`runs/${body.runId}/approve`, 'staff')).toMatchObject({
      status: 409,
      body: { code: 'RUN_NOT_WAITING' },
    });
  });

  it('refuses an unknown user and an empty question', async () => {
    expect(await ask('unknown', 'Hello?')).toMatchObject({ status: 401 });
    expect(await ask('ann', '')).toMatchObject({ status: 400 });
  });
});
