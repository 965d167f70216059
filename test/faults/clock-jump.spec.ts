import { describe, expect, it } from 'vitest';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ProcessWorld } from '../support/process-world.js';
import type { ServerProcess } from '../support/process.js';
import { until } from './served-world.js';

const HOUR_MS = 3_600_000;
const MONTH_MS = 30 * 24 * HOUR_MS;
/** Requests that a circuit breaker needs to open. */
const CALLS = 24;

describe('a jump of the wall clock', () => {
  const world = ProcessWorld.prepare();
  const moveClock = (ms: number) => writeFileSync(join(world.folder, 'clock'), String(ms));

  function start(env: Record<string, string> = {}): Promise<ServerProcess> {
    moveClock(0);
    return world.start({
      NODE_OPTIONS: '--import=./test/support/movable-clock.mjs',
      CLOCK_FILE: join(world.folder, 'clock'),
      LLM_MAX_ATTEMPTS: '1',
      LLM_BREAKER_FAILURES: '5',
      ...env,
    });
  }

  const succeeds = (server: ServerProcess) => async () => (await server.chat({ query: 'hello' })).status === 200;

  it.each([HOUR_MS, -HOUR_MS])('of %i ms does not prolong the pause of a circuit breaker', async (jumpMs) => {
    world.llm.always({ status: 503 });
    const server = await start();
    const chats = await Promise.all(Array.from({ length: CALLS }, () => server.chat({ query: 'hello' })));
    expect(chats.map(({ status }) => status)).not.toContain(200);
    expect((await server.chat({ query: 'hello' })).body).toMatchObject({ code: 'MODEL_CIRCUIT_OPEN' });
    moveClock(jumpMs);
    world.llm.always({ text: 'works again' });
    await until(succeeds(server));
  });

  it.each([HOUR_MS, -HOUR_MS])('of %i ms does not prolong the pause of a key', async (jumpMs) => {
    world.llm.always({ status: 429, headers: { 'retry-after': '1' } });
    const server = await start({ LLM_API_KEYS: 'key-one,key-two' });
    expect((await server.chat({ query: 'hello' })).body).toMatchObject({ code: 'MODEL_RATE_LIMITED' });
    moveClock(jumpMs);
    world.llm.always({ text: 'works again' });
    await until(succeeds(server));
  });

  it.each([HOUR_MS, -HOUR_MS])('of %i ms during a chat does not end it', async (jumpMs) => {
    const gate = Promise.withResolvers<undefined>();
    world.llm.always({ text: 'answered', gate: gate.promise });
    const server = await start();
    const chat = server.chat({ query: 'hello' });
    await world.llm.waitForRequest(1);
    moveClock(jumpMs);
    gate.resolve(undefined);
    expect(await chat).toMatchObject({ status: 200, body: { result: 'answered' } });
  });

  it('of a month leaves the stored sessions as they were', async () => {
    world.llm.always({ text: 'answered' });
    const server = await start({ SESSION_STORE: 'file', SESSION_TTL_SECONDS: '86400' });
    await server.chat({ query: 'hello', sessionId: 'talk' });
    const before = (await server.get('/api/sessions/talk/messages')).body;
    moveClock(MONTH_MS);
    await server.get('/api/sessions/talk');
    await server.get('/api/sessions');
    moveClock(0);
    expect((await server.get('/api/sessions/talk/messages')).body).toEqual(before);
  });
});
