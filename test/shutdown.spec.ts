import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventStream } from './support/event-stream.js';
import { FakeLlm } from './support/fake-llm.js';
import { gate } from './support/jackdaw.js';
import { buildIfStale, killAll, ServerProcess, type ProcessEnd } from './support/process.js';

interface SqliteFile {
  prepare(sql: string): { get(): { runs: number } };
  close(): void;
}
const Sqlite = createRequire(import.meta.url)('better-sqlite3') as new (path: string, options: object) => SqliteFile;

const SESSION = 'closing';
const CLEAN: ProcessEnd = { code: 0, signal: null };
const JSON_TYPE = { 'content-type': 'application/json' };

let llm: FakeLlm;
let folder: string;

beforeAll(async () => {
  llm = await FakeLlm.start();
  buildIfStale();
}, 120_000);
beforeEach(() => {
  llm.reset();
  folder = mkdtempSync(join(tmpdir(), 'jackdaw-shutdown-'));
});
afterEach(async () => {
  await killAll();
  rmSync(folder, { recursive: true });
});
afterAll(() => llm.close());

function env(more: Record<string, string> = {}): Record<string, string> {
  return {
    DATA_DIR: folder,
    EFFECTS_FILE: join(folder, 'effects'),
    LLM_PROVIDER: 'openai',
    OPENAI_API_KEY: 'test',
    OPENAI_BASE_URL: llm.url,
    ...more,
  };
}

interface Reply {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

async function read(reply: Promise<Response>): Promise<Reply> {
  const { status, json } = await reply.then(async (got) => ({ status: got.status, json: await got.json() }));
  return { status, body: json as Record<string, unknown> };
}

function chat(server: ServerProcess, query: string, sessionId = SESSION): Promise<Reply> {
  const body = JSON.stringify({ query, sessionId });
  return read(fetch(`${server.url}/api/agent/chat`, { method: 'POST', headers: JSON_TYPE, body }));
}

function get(server: ServerProcess, path: string): Promise<Reply> {
  return read(fetch(`${server.url}/api/${path}`));
}

function stream(server: ServerProcess, query: string, sessionId: string): Promise<EventStream> {
  const body = { query, sessionId };
  return EventStream.open(`${server.url}/api/agent/chat/stream`, { method: 'POST', headers: JSON_TYPE, body });
}

/** Sends SIGTERM, and asks until the server says that it is not ready: that is as soon as the signal has come. */
async function terminate(server: ServerProcess): Promise<Promise<ProcessEnd>[]> {
  const ended = server.kill('SIGTERM');
  while ((await get(server, 'health/ready')).status !== 503);
  return [ended];
}

/** Waits until the journal of a server holds so many runs; others may read its file. */
async function journaled(server: ServerProcess, runs: number): Promise<void> {
  const database = new Sqlite(join(folder, 'jackdaw.db'), { readonly: true });
  const count = database.prepare('SELECT count(*) AS runs FROM run');
  while (count.get().runs < runs) await get(server, 'health/live');
  database.close();
}

async function contents(server: ServerProcess, sessionId = SESSION): Promise<unknown[]> {
  const { body } = await get(server, `sessions/${sessionId}/messages`);
  return (body['messages'] as { content: unknown }[]).map(({ content }) => content);
}

describe('SIGTERM in the middle of a model call', () => {
  it('is told by readiness at once, refuses new chats, and lets the model answer', async () => {
    const server = await ServerProcess.serve(env());
    const reply = gate();
    llm.reply({ gate: reply.opened, text: 'in time' });
    const running = chat(server, 'hold on');
    await llm.waitForRequest();

    const [ended] = await terminate(server);
    expect((await get(server, 'health/live')).status).toBe(200);
    expect(await chat(server, 'me too', 'other')).toMatchObject({ status: 503, body: { code: 'SHUTTING_DOWN' } });

    reply.open();
    expect(await running).toMatchObject({ status: 200, body: { result: 'in time', is_complete: true } });
    expect(await ended).toEqual(CLEAN);
    expect(llm.requests).toHaveLength(1);
  });

  it('hands the run over when the model takes too long: every client is told, the next start ends it', async () => {
    const server = await ServerProcess.serve(env({ SHUTDOWN_TIMEOUT_MS: '100' }));
    llm.reply({ hang: true }, { hang: true });
    const asked = chat(server, 'answered later');
    await llm.waitForRequest(1);
    const streamed = await stream(server, 'streamed later', 'streaming');
    await llm.waitForRequest(2);
    const queued = chat(server, 'queued');
    await journaled(server, 3);
    const behind = await stream(server, 'queued and streamed', SESSION);

    const from = performance.now();
    expect(await server.kill('SIGTERM')).toEqual(CLEAN);
    expect(performance.now() - from).toBeLessThan(10_000);
    const { status, body } = await asked;
    expect([status, body]).toMatchObject([503, { code: 'SHUTTING_DOWN', run_id: expect.any(String) }]);
    expect(await queued).toMatchObject({ status: 503, body: { code: 'SHUTTING_DOWN', run_id: expect.any(String) } });
    for (const one of [streamed, behind]) {
      const events = await one.all();
      expect(events.at(-1)).toMatchObject({ event: 'stream.closed', data: { code: 'SHUTTING_DOWN' } });
      expect(one.rest).toBe('');
    }

    llm.always(({ messages }) => ({ text: `re: ${String(messages.at(-1)?.content)}` }));
    const second = await ServerProcess.serve(env());
    for (const runId of [body['run_id'], streamed.headers['x-run-id'], behind.headers['x-run-id']]) {
      const events = await (await EventStream.open(`${second.url}/api/runs/${String(runId)}/events`)).all();
      expect(events.at(-1)).toMatchObject({ event: 'run.completed' });
    }
    expect(await contents(second, 'streaming')).toEqual(['streamed later', 're: streamed later']);
    expect(await contents(second)).toEqual(
      ['answered later', 'queued', 'queued and streamed'].flatMap((query) => [query, `re: ${query}`]),
    );
  });

  it('does not wait for a tool that does not listen', async () => {
    const server = await ServerProcess.serve(env({ SHUTDOWN_TIMEOUT_MS: '0', BLOCK_AT: 'read_step 1' }));
    llm.reply({ calls: [{ name: 'read_step', arguments: { step: 1 } }] }, { text: 'done' });
    const asked = chat(server, 'block');
    await server.waitForLine('performing read_step 1');
    expect(await server.kill('SIGTERM')).toEqual(CLEAN);
    expect(await asked).toMatchObject({ status: 503, body: { code: 'SHUTTING_DOWN' } });

    const second = await ServerProcess.serve(env());
    const { body } = await asked;
    await (await EventStream.open(`${second.url}/api/runs/${String(body['run_id'])}/events`)).all();
    expect(await contents(second)).toEqual(['block', '', 'did step 1', 'done']);
    expect(llm.requests).toHaveLength(2);
  });
});

describe('a start', () => {
  it('on the data of a running server is refused, and the first one is not disturbed', async () => {
    const first = await ServerProcess.serve(env());
    const second = ServerProcess.start('dist/main.js', env({ PORT: '0' }));
    expect((await second.ended).code).toBe(1);
    expect(second.stderr).toContain(`The database ${join(folder, 'jackdaw.db')} belongs to another running Jackdaw`);
    expect(second.stderr).not.toContain('    at ');
    llm.reply({ text: 'still here' });
    expect(await chat(first, 'are you there?')).toMatchObject({ status: 200, body: { result: 'still here' } });
  });

  it('with a wrong configuration is refused, naming every mistake at once', async () => {
    const wrong = { PORT: '99999', LLM_PROVIDER: 'openal', AGENT_MAX_ITERATIONS: 'ten', DATABASE_URL: 'oracle://db/x' };
    const server = ServerProcess.start('dist/main.js', { DATA_DIR: folder, ...wrong });
    expect(await server.ended).toEqual({ code: 1, signal: null });
    for (const name of Object.keys(wrong)) expect(server.stderr).toContain(name);
    expect(server.stderr).not.toContain('    at ');
  });
});
