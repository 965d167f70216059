import { describe, expect, it } from 'vitest';
import { gate } from './support/jackdaw.js';
import type { Answer } from './support/jackdaw-client.js';
import type { ServerProcess } from './support/process.js';
import { ProcessWorld } from './support/process-world.js';
import { inShortForm } from './support/long-form.js';

/** Longer than the tests: another signal ends the processes. */
const LONG = { SHUTDOWN_GRACE_MS: '9000', SHUTDOWN_TIMEOUT_MS: '9000' };

const world = ProcessWorld.prepare();

/** Sends a signal and waits until the server is not ready: the signal has arrived. */
async function stop(server: ServerProcess, signal: NodeJS.Signals): Promise<void> {
  void server.kill(signal);
  while ((await server.get('/api/health/ready')).status !== 503);
}

function isAlive(server: ServerProcess): Promise<boolean> {
  return server.get('/api/health/live').then(
    () => true,
    () => false,
  );
}

const summary = ({ status, body, headers }: Answer) => [status, body['code'], headers.get('connection')];

describe('a server with SHUTDOWN_GRACE_MS', () => {
  it('rejects new runs and sessions after SIGTERM, and serves reads and executing runs', async () => {
    const server = await world.start(LONG);
    const { body: exported } = await server.post('/api/sessions', { id: 'earlier' });
    const reply = gate();
    world.llm.reply({ gate: reply.opened, text: 'in time' });
    const running = server.chat({ query: 'hold on', sessionId: 'earlier' });
    await world.llm.waitForRequest();
    await stop(server, 'SIGTERM');

    const rejected = await Promise.all([
      server.chat({ query: 'me too' }),
      server.post('/api/agent/chat/stream', { query: 'me too' }),
      server.post('/api/agent/runs', { query: 'me too' }),
      server.post('/api/sessions', {}),
      server.post('/api/sessions/import', { session: { session: exported, turns: [] } }),
    ]);
    expect(rejected.map(summary)).toEqual(rejected.map(() => [503, 'SHUTTING_DOWN', 'close']));
    for (const { headers } of rejected) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(summary(await server.get('/api/sessions/earlier'))).toEqual([200, undefined, 'close']);
    expect(summary(await server.get('/nowhere'))).toEqual([404, 'NOT_FOUND', 'close']);

    reply.open();
    const answer = await running;
    expect([...summary(answer), answer.body['result']]).toEqual([200, undefined, 'close', 'in time']);
    // No run is left: only the grace holds the listener open.
    const events = await server.follow(String(answer.body['run_id']));
    expect((await events.all()).at(-1)).toMatchObject({ event: 'run.completed' });
    expect((await server.get('/api/health/live')).status).toBe(200);
    expect(await server.kill('SIGTERM')).toEqual({ code: 143, signal: null });
  });

  it('ends after that time', async () => {
    const server = await world.start({ SHUTDOWN_GRACE_MS: '100' });
    expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  });
});

describe('a second signal', () => {
  it.each<[NodeJS.Signals, NodeJS.Signals, number]>(
    inShortForm(2, [
      ['SIGTERM', 'SIGTERM', 143],
      ['SIGINT', 'SIGINT', 130],
      ['SIGTERM', 'SIGINT', 130],
      ['SIGHUP', 'SIGTERM', 143],
    ]),
  )('ends the server at once after %s: %s with the exit code %i; its run resumes', async (first, second, code) => {
    const server = await world.start({ SHUTDOWN_TIMEOUT_MS: '9000' });
    world.llm.reply({ hang: true }, { text: 'later' });
    const { runId } = await server.stream({ query: 'hold on' });
    await world.llm.waitForRequest();
    await stop(server, first);
    const ended = server.kill(second);
    // A second SIGINT within 20 ms counts as that of npm.
    if (first === 'SIGINT') while (await isAlive(server)) void server.kill(second);
    expect(await ended).toEqual({ code, signal: null });

    const next = await world.start();
    expect((await next.events(runId)).at(-1)).toMatchObject({ event: 'run.completed' });
  });
});
