import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Cassette } from '../src/index.js';
import { withoutPersonalData } from '../src/llm/cassette/index.js';
import { cassetteOfRuns, createTestAgent, type TestAgent } from '../src/testing/index.js';
import { parseExportedRun } from '../src/run/replay/index.js';
import { keyHolder } from './support/api-keys.js';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeReply } from './support/fake-llm.types.js';
import { AGENT, CALLS, Desk, LEAD, MARKED, PRIVATE, QUESTION, SECRET } from './support/private-desk.js';
import { type Jackdaw, startJackdaw, type StartOptions } from './support/jackdaw.js';

const LEE = keyHolder('lee-ann7', 'acme', 'user');
const VERA = keyHolder('vera', 'acme', 'viewer');
let llm: FakeLlm;
let production: Jackdaw;
let folder: string;
let file: string;
const agents: TestAgent[] = [];
const servers: Jackdaw[] = [];

async function serve(options: StartOptions): Promise<Jackdaw> {
  const agentOptions = { agents: [{ ...AGENT, description: 'Helps.' }, LEAD] };
  const server = await startJackdaw({ tools: [new Desk()], options: agentOptions, ...options });
  servers.push(server);
  return server;
}

beforeAll(async () => {
  llm = await FakeLlm.start();
  production = await serve({ llm, env: { API_KEYS: `${LEE.entry},${VERA.entry}` } });
});
beforeEach(() => {
  vi.stubEnv('CI', '');
  llm.reset();
  folder = mkdtempSync(join(tmpdir(), 'jackdaw-from-run-'));
  file = join(folder, 'run.jsonl');
  CALLS.length = 0;
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const agent of agents.splice(0)) await agent.close().catch(() => undefined);
  rmSync(folder, { recursive: true });
});
afterAll(async () => {
  for (const server of servers) await server.stop();
  await llm.close();
});

const callOf = (name: string, args: object = {}): FakeReply => ({ calls: [{ name, arguments: { ...args } }] });

interface Production {
  readonly agent?: string;
  readonly body?: object;
}

/** A run in production, with the replies of its model. */
async function run(replies: readonly FakeReply[], { agent = 'desk', body = {} }: Production = {}): Promise<string> {
  llm.reply(...replies);
  const { body: answer, text } = await production.chat({ query: QUESTION, agent, ...body }, LEE.headers);
  expect(text).toContain('run_id');
  return String(answer['run_id']);
}

async function exportOf(id: string, headers = LEE.headers): Promise<string> {
  const { status, text } = await production.get(`/api/runs/${id}/export`, headers);
  expect([id, status]).toEqual([id, 200]);
  return text;
}

/** Writes the cassette of runs. */
async function write(...ids: readonly string[]): Promise<string> {
  const runs = await Promise.all(ids.map(async (id) => parseExportedRun(await exportOf(id))));
  const text = cassetteOfRuns(runs, { mask: ['Carol Danvers'] })
    .lines.map((line) => `${line}\n`)
    .join('');
  writeFileSync(file, text);
  for (const hidden of PRIVATE) expect(text).not.toContain(hidden);
  return text;
}

async function replay(tools: 'real' | 'recorded' = 'recorded'): Promise<TestAgent> {
  const cassette = new Cassette(file, { mode: 'replay', tools });
  const agent = await createTestAgent({
    agent: AGENT,
    tools: [Desk],
    cassette,
  });
  agents.push(agent);
  return agent;
}

/** The recorded events without ids, times and personal data. */
async function eventsOf(server: Jackdaw, id: string, headers = {}): Promise<unknown[]> {
  const { text } = await server.get(`/api/runs/${id}/journal?limit=200`, headers);
  const { events } = JSON.parse(text) as { readonly events: readonly { readonly data: unknown }[] };
  return events.map(({ data }) =>
    withoutPersonalData(JSON.stringify(data))
      .replaceAll('lee-ann7 (Carol Danvers)', '<user> ([redacted])')
      .replaceAll(SECRET, '[redacted]')
      .replaceAll(/person\d+@example\.com/g, '[emails]')
      .replaceAll(/(?<=[":\\])1\d{12}\b|(?<=_ms":)[\d.]+|[\w-]{31}|\d{4}-\d\d-\d\dT[\d:.]+Z/g, '…'),
  );
}

const MAIL = callOf('mail', { to: 'carol@acme.example', phone: '+1 212 555 0142' });

describe('a cassette from a production run', () => {
  it('answers the question with the marks, and the original one, without a provider', async () => {
    const id = await run([MAIL, { text: 'I wrote to carol@acme.example.' }]);
    const text = await write(id);
    expect(text.split('\n')).toHaveLength(4);
    const asked = llm.requests.length;
    for (const query of [QUESTION.replace('lee-ann7 (Carol Danvers)', '<user> ([redacted])'), MARKED]) {
      const agent = await replay();
      expect((await agent.chat(query)).content).toBe('I wrote to person1@example.com.');
      await agent.close();
    }
    expect([llm.requests.length, CALLS]).toEqual([asked, ['mail carol@acme.example']]);
  });

  it('has stand-ins that are valid arguments of real tools', async () => {
    await write(await run([MAIL, { text: 'Done.' }]));
    const agent = await replay('real');
    await agent.chat(MARKED).catch(() => undefined);
    expect(CALLS).toEqual(['mail carol@acme.example', 'mail person1@example.com']);
  });

  it('answers the calls of tools, with approvals, denials, questions, errors and images', async () => {
    const names = ['refund', 'refund', 'fail', 'ask', 'picture', 'unknown', 'mail'];
    const args: Readonly<Record<string, object>> = { refund: { amount: 5 }, mail: { to: 'no address' } };
    const calls = names.map((name, at) => ({ name, arguments: { ...args[name] }, id: `call_${at}` }));
    const again = { calls: [{ name: 'fail', arguments: {} }] };
    const id = await run([{ calls }, again, again, { text: 'Done.' }]);
    const [first, second, question] = ['call_0', 'call_1', 'call_3'];
    const decide = async (verb: string, body: object) => {
      const { status, text: given } = await production.post(`/api/runs/${id}/${verb}`, body, LEE.headers);
      expect([given, status]).toEqual([given, 202]);
      await production.events(id, LEE.headers);
    };
    await decide('approve', { callId: first });
    await decide('deny', { callId: second, reason: 'once is enough' });
    await decide('input', { callId: question, value: 'both' });
    const text = await write(id);
    const tools = text.split('\n').flatMap((line) => /"kind":"tool".*"name":"(\w+)"/.exec(line)?.[1] ?? []);
    expect(tools.toSorted()).toEqual(['ask', 'ask', 'fail', 'fail', 'fail', 'picture', 'refund']);
    CALLS.length = 0;
    const agent = await replay();
    const { runId, waiting } = await agent.chat(MARKED);
    expect(waiting).toHaveLength(3);
    await agent.approve(runId, { callId: first });
    await agent.deny(runId, { callId: second, reason: 'once is enough' });
    expect((await agent.input(runId, { value: 'both', callId: question })).content).toBe('Done.');
    await agent.close();
    expect(CALLS).toEqual([]);
  });

  it('has the structured answer', async () => {
    const format = { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] };
    const body = { responseFormat: { schema: format } };
    await write(await run([{ text: '{"to":1}' }, { text: '{"to":"carol@acme.example"}' }], { body }));
    const agent = await replay();
    const { output } = await agent.chat(MARKED, { responseFormat: { schema: format } });
    expect(output).toEqual({ to: 'person1@example.com' });
    await agent.close();
  });

  it('is made of a fork, with its edited message', async () => {
    const id = await run([MAIL, { text: 'Done.' }]);
    llm.reply({ text: 'No mail is written.' });
    const edit = { fromStep: 'model:1', edit: { message: 'Write no mail.' } };
    const { body } = await production.post(`/api/runs/${id}/fork`, edit, LEE.headers);
    await production.events(String(body['run_id']), LEE.headers);
    await write(String(body['run_id']));
    const agent = await replay();
    expect((await agent.chat('Write no mail.')).content).toBe('No mail is written.');
    await agent.close();
  });

  it('is made of a fork that repeats the calls of its source', async () => {
    const id = await run([MAIL, { text: 'Done.' }]);
    llm.reply({ text: 'Done otherwise.' });
    const { body } = await production.post(`/api/runs/${id}/fork`, { fromStep: 'model:2' }, LEE.headers);
    await production.events(String(body['run_id']), LEE.headers);
    await write(String(body['run_id']));
    const agent = await replay();
    expect((await agent.chat(MARKED)).content).toBe('Done otherwise.');
    await agent.close();
  });

  it('is made of the runs of a session, whose turns follow each other', async () => {
    const body = { sessionId: 'talk' };
    const first = await run([MAIL, { text: 'Done.' }], { body });
    const second = await run([{ text: 'As before.' }], { body });
    await write(first, second);
    const agent = await replay();
    await agent.chat(MARKED);
    expect((await agent.chat(MARKED)).content).toBe('As before.');
    await agent.close();
  });
});

describe('a server with the cassette of a run', () => {
  it('publishes the events of the run in production, without a provider', async () => {
    const id = await run([callOf('ask_desk', { query: QUESTION }), MAIL, { text: 'Written.' }, { text: 'Done.' }], {
      agent: 'lead',
    });
    const parsed = parseExportedRun(await exportOf(id));
    const [child = ''] = Object.keys(parsed.children);
    expect(() => cassetteOfRuns([parsed])).toThrow(`also name ${child}`);
    await write(id, child);
    const asked = llm.requests.length;
    const server = await serve({
      env: {
        LLM_PROVIDER: 'openai',
        LLM_MODEL: 'gpt-4o',
        LLM_CASSETTE: file,
        LLM_CASSETTE_MODE: 'replay',
        LLM_CASSETTE_TOOLS: 'recorded',
      },
    });
    const { body: answer } = await server.chat({ query: MARKED, agent: 'lead' });
    const replayed = await eventsOf(server, String(answer['run_id']));
    const recorded = await eventsOf(production, id, LEE.headers);
    expect(replayed).toEqual(recorded);
    expect(replayed.length).toBeGreaterThan(5);
    expect(llm.requests.length).toBe(asked);
  });
});

describe('runs without a cassette', () => {
  const cassetteOf = (text: string) => cassetteOfRuns([parseExportedRun(text)]);

  it('are refused with the reason and the remedy', async () => {
    const waiting = await run([callOf('refund', { amount: 1 })]);
    const text = await exportOf(waiting);
    expect(() => cassetteOf(text)).toThrow(`Run ${waiting} has not ended: its status is waiting.`);
    const id = await run([{ text: 'Yes.' }]);
    const viewed = await exportOf(id, VERA.headers);
    expect(() => cassetteOf(viewed)).toThrow(/no request of model:1 in its export: a viewer may not read them/);
    const former = JSON.parse(await exportOf(id)) as { requests: { model?: string }[] };
    delete former.requests[0]!.model;
    expect(() => cassetteOf(JSON.stringify(former))).toThrow('is exported by an earlier version');
    const called = await production.post('/api/tools/fail/call', { arguments: {} }, LEE.headers);
    const direct = await exportOf(String(called.body['run_id']));
    expect(() => cassetteOf(direct)).toThrow('is of kind "tool"');
  });

  it('are noted if a replay cannot repeat their end', async () => {
    const id = await run([MAIL, { status: 401, body: {} }]);
    const { lines, notes } = cassetteOf(await exportOf(id));
    expect([lines.length, notes]).toEqual([2, [`Run ${id} is failed: a replay ends with the last recorded call.`]]);
  });
});
