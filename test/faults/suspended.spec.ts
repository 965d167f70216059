import { describe, expect, it } from 'vitest';
import { setTimeout as pause } from 'node:timers/promises';
import { ProcessWorld } from '../support/process-world.js';
import type { ServerProcess } from '../support/process.js';

/** Requests that a circuit breaker needs to open. */
const CALLS = 24;

/** Suspends the process for twice the limit of its model calls. */
async function suspend(server: ServerProcess, meanwhile: () => void): Promise<void> {
  server.signal('SIGSTOP');
  meanwhile();
  await pause(2_000);
  server.signal('SIGCONT');
}

describe('a suspended process', () => {
  const world = ProcessWorld.prepare();
  const env = { LLM_TIMEOUT_MS: '1000', LLM_BREAKER_FAILURES: '5' };

  it('accepts the replies that arrived in the meantime', async () => {
    const gate = Promise.withResolvers<undefined>();
    world.llm.always({ text: 'in time', gate: gate.promise });
    const server = await world.start({ ...env, LLM_MAX_ATTEMPTS: '1' });
    const chats = Array.from({ length: CALLS }, () => server.chat({ query: 'hello' }));
    await world.llm.waitForRequest(CALLS);
    await suspend(server, () => gate.resolve(undefined));
    for (const { status, body } of await Promise.all(chats))
      expect({ status, body }).toMatchObject({ status: 200, body: { result: 'in time' } });
    expect(world.llm.requests).toHaveLength(CALLS);
  });

  it('retries calls without a reply, and leaves the circuit closed', async () => {
    world.llm.always(() => (world.llm.requests.length <= CALLS ? { hang: true } : { text: 'retried' }));
    const server = await world.start({ ...env, LLM_MAX_ATTEMPTS: '2' });
    const chats = Array.from({ length: CALLS }, () => server.chat({ query: 'hello' }));
    await world.llm.waitForRequest(CALLS);
    await suspend(server, () => undefined);
    const replies = await Promise.all(chats);
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    expect(JSON.stringify((await server.get('/api/agent/health')).body)).not.toContain('circuits');
  });
});
