import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clusterStores, describeClusters } from './support/cluster-stores.js';
import { EventStream } from './support/event-stream.js';
import { FakeLlm } from './support/fake-llm.js';
import { buildIfStale, killAll, ServerProcess } from './support/process.js';

const CALL = { id: 'c', name: 'approved_step', arguments: { step: 1 } };

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
  llm.always(({ messages }) => (messages.at(-1)?.role === 'tool' ? { text: 'done' } : { calls: [CALL] }));
  folder = mkdtempSync(join(tmpdir(), 'jackdaw-waiting-'));
});
afterEach(async () => {
  await killAll();
  rmSync(folder, { recursive: true });
});
afterAll(() => llm.close());

async function post(node: ServerProcess, path: string, body: unknown) {
  const reply = await fetch(`${node.url}/api/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
}

async function follow(node: ServerProcess, runId: string): Promise<EventStream> {
  return EventStream.open(`${node.url}/api/runs/${runId}/events`);
}

function effects(): string[] {
  return readFileSync(join(folder, 'effects'), 'utf8').trimEnd().split('\n');
}

describeClusters('a run that waits, in a cluster', await clusterStores(), (store) => {
  let env: Record<string, string>;
  beforeEach(async () => {
    env = {
      ...(await store.open()),
      DATA_DIR: folder,
      EFFECTS_FILE: join(folder, 'effects'),
      LLM_PROVIDER: 'openai',
      OPENAI_API_KEY: 'test',
      OPENAI_BASE_URL: llm.url,
    };
  });
  afterEach(async () => {
    await killAll();
    await store.close();
  });

  const start = () => ServerProcess.serve(env);

  it('goes on when another process is told, also when the one that ran it is dead', async () => {
    const [a, b] = await Promise.all([start(), start()]);
    const { status, body } = await post(a, 'agent/chat', { query: 'go', sessionId: 's' });
    expect([status, body['waiting']]).toMatchObject([202, [{ kind: 'approval' }]]);
    const runId = String(body['run_id']);
    await a.kill();
    expect((await post(b, `runs/${runId}/approve`, {})).status).toBe(202);
    const events = await (await follow(b, runId)).all();
    expect(events.at(-1)).toMatchObject({ event: 'run.completed', data: { result: 'done' } });
    expect(effects()).toEqual(['approved_step 1']);
  });

  it('takes one of many answers that come to all processes at the same time', async () => {
    const [a, b] = await Promise.all([start(), start()]);
    const { body } = await post(a, 'agent/chat', { query: 'go', sessionId: 's' });
    const runId = String(body['run_id']);
    const answers = await Promise.all([a, b, a, b, a, b].map((node) => post(node, `runs/${runId}/approve`, {})));
    const statuses = answers.map(({ status }) => status).toSorted((x, y) => x - y);
    expect(statuses).toEqual([202, 409, 409, 409, 409, 409]);
    const events = await (await follow(a, runId)).all();
    expect(events.filter(({ event }) => event === 'policy.decided')).toHaveLength(1);
    expect([events.at(-1)?.event, effects()]).toEqual(['run.completed', ['approved_step 1']]);
  });
});
