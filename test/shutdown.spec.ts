import { describe, expect, it } from 'vitest';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { gate } from './support/jackdaw.js';
import type { Answer } from './support/jackdaw-client.js';
import { ServerProcess, type ProcessEnd } from './support/process.js';
import { ProcessWorld } from './support/process-world.js';

interface SqliteFile {
  prepare(sql: string): { get(): { runs: number } };
  close(): void;
}
const Sqlite = createRequire(import.meta.url)('better-sqlite3-v13') as new (
  path: string,
  options: object,
) => SqliteFile;

const SESSION = 'closing';
const CLEAN: ProcessEnd = { code: 0, signal: null };

const world = ProcessWorld.prepare();

function chat(server: ServerProcess, query: string, sessionId = SESSION): Promise<Answer> {
  return server.chat({ query, sessionId });
}

/** Sends a signal, and polls readiness until the server reports that it is not ready: the signal has arrived. */
async function terminate(server: ServerProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<Promise<ProcessEnd>[]> {
  const ended = server.kill(signal);
  while ((await server.get('/api/health/ready')).status !== 503);
  return [ended];
}

/** Waits until the journal of a server holds this number of runs; the file may be read concurrently. */
async function journaled(server: ServerProcess, runs: number): Promise<void> {
  const database = new Sqlite(join(world.folder, 'jackdaw.db'), { readonly: true });
  const count = database.prepare('SELECT count(*) AS runs FROM run');
  while (count.get().runs < runs) await server.get('/api/health/live');
  database.close();
}

async function contents(server: ServerProcess, sessionId = SESSION): Promise<unknown[]> {
  return (await server.messages(sessionId)).map(({ content }) => content);
}

describe('a closed terminal', () => {
  it('stops the server as SIGTERM does: the model answers', async () => {
    const server = await world.start();
    const reply = gate();
    world.llm.reply({ gate: reply.opened, text: 'in time' });
    const running = chat(server, 'hold on');
    await world.llm.waitForRequest();

    const [ended] = await terminate(server, 'SIGHUP');
    reply.open();
    expect(await running).toMatchObject({ status: 200, body: { result: 'in time' } });
    expect(await ended).toEqual(CLEAN);
  });
});

describe('SIGTERM in the middle of a model call', () => {
  it('makes the server unready at once, refuses new chats, and lets the model answer', async () => {
    const server = await world.start();
    const reply = gate();
    world.llm.reply({ gate: reply.opened, text: 'in time' });
    const running = chat(server, 'hold on');
    await world.llm.waitForRequest();

    const [ended] = await terminate(server);
    expect((await server.get('/api/health/live')).status).toBe(200);
    const refused = await chat(server, 'me too', 'other');
    expect(refused).toMatchObject({ status: 503, body: { code: 'SHUTTING_DOWN' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);

    reply.open();
    expect(await running).toMatchObject({ status: 200, body: { result: 'in time', is_complete: true } });
    expect(await ended).toEqual(CLEAN);
    expect(world.llm.requests).toHaveLength(1);
  });

  it('hands the run over when the model is too slow: every client is notified, the next start ends it', async () => {
    const server = await world.start({ SHUTDOWN_TIMEOUT_MS: '100' });
    world.llm.reply({ hang: true }, { hang: true });
    const asked = chat(server, 'answered later');
    await world.llm.waitForRequest(1);
    const streamed = await server.stream({ query: 'streamed later', sessionId: 'streaming' });
    await world.llm.waitForRequest(2);
    const queued = chat(server, 'queued');
    await journaled(server, 3);
    const behind = await server.stream({ query: 'queued and streamed', sessionId: SESSION });

    expect(await server.kill('SIGTERM')).toEqual(CLEAN);
    const { status, body } = await asked;
    expect([status, body]).toMatchObject([503, { code: 'SHUTTING_DOWN', run_id: expect.any(String) }]);
    expect(await queued).toMatchObject({ status: 503, body: { code: 'SHUTTING_DOWN', run_id: expect.any(String) } });
    for (const one of [streamed, behind]) {
      const events = await one.all();
      expect(events.at(-1)).toMatchObject({ event: 'stream.closed', data: { code: 'SHUTTING_DOWN' } });
      expect(one.rest).toBe('');
    }

    world.llm.always(({ messages }) => ({ text: `re: ${String(messages.at(-1)?.content)}` }));
    const second = await world.start();
    for (const runId of [String(body['run_id']), streamed.runId, behind.runId]) {
      const events = await second.events(runId);
      expect(events.at(-1)).toMatchObject({ event: 'run.completed' });
    }
    expect(await contents(second, 'streaming')).toEqual(['streamed later', 're: streamed later']);
    expect(await contents(second)).toEqual(
      ['answered later', 'queued', 'queued and streamed'].flatMap((query) => [query, `re: ${query}`]),
    );
  });

  it('does not wait for a tool that ignores the abort', async () => {
    const server = await world.start({ SHUTDOWN_TIMEOUT_MS: '0', BLOCK_AT: 'read_step 1' });
    world.llm.reply({ calls: [{ name: 'read_step', arguments: { step: 1 } }] }, { text: 'done' });
    const asked = chat(server, 'block');
    await server.waitForLine('performing read_step 1');
    expect(await server.kill('SIGTERM')).toEqual(CLEAN);
    expect(await asked).toMatchObject({ status: 503, body: { code: 'SHUTTING_DOWN' } });

    const second = await world.start();
    const { body } = await asked;
    await second.events(String(body['run_id']));
    expect(await contents(second)).toEqual(['block', '', 'did step 1', 'done']);
    expect(world.llm.requests).toHaveLength(2);
  });
});

describe('a start', () => {
  it('is refused on the data of a running server, which continues undisturbed', async () => {
    const first = await world.start();
    const second = ServerProcess.start('dist/main.js', world.env({ PORT: '0' }));
    expect((await second.ended).code).toBe(78);
    expect(second.stderr).toContain(
      `The database ${join(world.folder, 'jackdaw.db')} belongs to another running Jackdaw`,
    );
    expect(second.stderr).not.toContain('    at ');
    world.llm.reply({ text: 'still here' });
    expect(await chat(first, 'are you there?')).toMatchObject({ status: 200, body: { result: 'still here' } });
  });

  it('is refused with a wrong configuration, and the error names every mistake', async () => {
    const wrong = {
      PORT: '99999',
      LLM_PROVIDER: 'No Body',
      AGENT_MAX_ITERATIONS: 'ten',
      DATABASE_URL: 'oracle://db/x',
    };
    const server = ServerProcess.start('dist/main.js', { DATA_DIR: world.folder, ...wrong });
    expect(await server.ended).toEqual({ code: 1, signal: null });
    for (const name of Object.keys(wrong)) expect(server.stderr).toContain(name);
    expect(server.stderr).not.toContain('    at ');
  });
});
