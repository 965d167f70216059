import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventStream } from './support/event-stream.js';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeReply, FakeRequest } from './support/fake-llm.types.js';
import { buildIfStale, killAll, ServerProcess } from './support/process.js';
import { clusterStores, describeClusters } from './support/cluster-stores.js';

const STEPS = 5;
const LEASE_MS = 1_500;
const CHECK_MS = 300;
/** What a takeover may take beyond the lease and the check, in ms. */
const SLACK_MS = 1_000;

// Processes start, and leases run out: on a busy machine that takes its time.
jest.setTimeout(60_000);

let llm: FakeLlm;
let folder: string;

beforeAll(async () => {
  buildIfStale();
  llm = await FakeLlm.start();
}, 120_000);
beforeEach(() => {
  llm.reset();
  folder = mkdtempSync(join(tmpdir(), 'jackdaw-cluster-'));
});
afterEach(async () => {
  await killAll();
  rmSync(folder, { recursive: true });
});
afterAll(() => llm.close());

function stepByStep(tool: string) {
  return (request: FakeRequest): FakeReply => {
    const done = doneIn(request);
    return done < STEPS ? { calls: [{ name: tool, arguments: { step: done + 1 } }] } : { text: 'all done' };
  };
}

function doneIn({ messages }: FakeRequest): number {
  return messages.filter(({ role }) => role === 'tool').length;
}

function effects(): string[] {
  return readFileSync(join(folder, 'effects'), 'utf8').trimEnd().split('\n');
}

interface Chat {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

async function chat(node: ServerProcess, query: string, sessionId?: string): Promise<Chat> {
  const response = await fetch(`${node.url}/api/agent/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, ...(sessionId && { sessionId }) }),
  });
  return { status: response.status, body: (await response.json()) as Chat['body'] };
}

async function ask(node: ServerProcess, query = 'do five steps', sessionId = 'shared') {
  const stream = await EventStream.open(`${node.url}/api/agent/chat/stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: { query, sessionId },
  });
  return { stream, runId: String(stream.headers['x-run-id']) };
}

function follow(node: ServerProcess, runId: string): Promise<EventStream> {
  return EventStream.open(`${node.url}/api/runs/${runId}/events`);
}

async function get<T>(node: ServerProcess, path: string): Promise<T> {
  return (await (await fetch(`${node.url}/api/${path}`)).json()) as T;
}

describeClusters('a cluster', await clusterStores(), (store) => {
  let env: Record<string, string>;
  beforeEach(async () => {
    env = {
      ...(await store.open()),
      DATA_DIR: folder,
      EFFECTS_FILE: join(folder, 'effects'),
      LLM_PROVIDER: 'openai',
      OPENAI_API_KEY: 'test',
      OPENAI_BASE_URL: llm.url,
      CLUSTER_LEASE_MS: String(LEASE_MS),
      CLUSTER_CHECK_MS: String(CHECK_MS),
    };
  });
  afterEach(async () => {
    await killAll();
    await store.close();
  });

  const start = (more: Record<string, string> = {}) => ServerProcess.serve({ ...env, ...more });

  it('goes on elsewhere with the run of a process that was killed, and no finished step is repeated', async () => {
    llm.always(stepByStep('read_step'));
    const [a, b] = await Promise.all([start({ BLOCK_AT: 'read_step 3' }), start()]);
    const { runId } = await ask(a);
    await a.waitForLine('performing read_step 3');
    const stream = await follow(b, runId);
    await stream.waitFor('tool.started', 3);
    const killedAt = performance.now();
    await a.kill();
    await stream.waitFor('run.resumed');
    expect(performance.now() - killedAt).toBeLessThan(LEASE_MS + CHECK_MS + SLACK_MS);
    await stream.waitFor('run.completed');
    expect(effects()).toEqual([1, 2, 3, 3, 4, 5].map((step) => `read_step ${step}`));
    expect(llm.requests.map(doneIn)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('writes nothing and calls no tool after it was frozen and another process took its run over', async () => {
    let thaw = () => undefined as void;
    const frozen = new Promise<void>((resolve) => (thaw = resolve));
    const [a, b] = await Promise.all([start({ LOG_LEVEL: 'error' }), start()]);
    // The frozen process gets its reply, a tool call, when it thaws; the other one is answered at once.
    const script = stepByStep('read_step');
    llm.reply(script, script, (request) => ({ ...script(request), gate: frozen })).always(script);
    const { runId } = await ask(a);
    await llm.waitForRequest(3);
    a.send('SIGSTOP');
    const stream = await follow(b, runId);
    await stream.waitFor('run.completed');
    const before = await get<{ status: string }>(b, `runs/${runId}`);
    const done = effects();
    a.send('SIGCONT');
    thaw();
    await a.waitForLine('{"level":50');
    expect(effects()).toEqual(done);
    expect(await get(b, `runs/${runId}`)).toEqual(before);
    expect((await chat(a, 'and now?', 'other')).status).toBe(200);
  });

  it('cancels from any process', async () => {
    llm.reply({ hang: true });
    const [a, b] = await Promise.all([start(), start()]);
    const { runId, stream } = await ask(a);
    await llm.waitForRequest();
    const cancelledAt = performance.now();
    const answer = await fetch(`${b.url}/api/runs/${runId}/cancel`, { method: 'POST' });
    expect(answer.status).toBe(202);
    await llm.waitForAbort();
    expect(performance.now() - cancelledAt).toBeLessThan(1_000);
    await stream.waitFor('run.cancelled');
    expect(llm.requests).toHaveLength(1);
  });

  it('tells a follower elsewhere every event in order, and text while it comes', async () => {
    let go = () => undefined as void;
    const gate = new Promise<void>((resolve) => (go = resolve));
    llm.reply({ calls: [{ name: 'read_step', arguments: { step: 1 } }] }, { text: 'one two three four five', gate });
    const [a, b] = await Promise.all([start(), start()]);
    const { runId, stream } = await ask(a);
    await llm.waitForRequest(2);
    const other = await follow(b, runId);
    await other.waitFor('tool.completed');
    // Its interest has reached the process that runs the run when it hears of the step that has begun.
    await new Promise((resolve) => setTimeout(resolve, 300));
    go();
    await Promise.all([stream.all(), other.all()]);
    const journaled = ({ events }: EventStream) => events.filter(({ id }) => id !== null && !String(id).includes('.'));
    expect(journaled(other)).toEqual(journaled(stream));
    expect(other.deltas()).toBe('one two three four five');
  });

  it('never interleaves two chats of one session', async () => {
    llm.always(({ messages }) => ({ text: `answer ${messages.length}` }));
    const [a, b] = await Promise.all([start(), start()]);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => chat(i % 2 === 0 ? a : b, `question ${i}`, 'shared')),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
    const { messages } = await get<{ messages: { role: string }[] }>(a, 'sessions/shared/messages');
    expect(messages.map(({ role }) => role)).toEqual(
      Array.from({ length: 20 }, (_, i) => (i % 2 ? 'assistant' : 'user')),
    );
  });

  it('hands over at a stop what has not ended, and others go on with it at once', async () => {
    llm.always(stepByStep('read_step'));
    const [a, b] = await Promise.all([start({ BLOCK_AT: 'read_step 3', SHUTDOWN_TIMEOUT_MS: '0' }), start()]);
    const { runId } = await ask(a);
    await a.waitForLine('performing read_step 3');
    const stream = await follow(b, runId);
    expect(await a.kill('SIGTERM')).toMatchObject({ code: 0 });
    await stream.waitFor('run.completed');
    expect(effects()).toEqual([1, 2, 3, 3, 4, 5].map((step) => `read_step ${step}`));
  });
});
