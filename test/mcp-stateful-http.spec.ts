import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { McpRegistry } from '../src/mcp/index.js';
import { callTool } from './support/direct-calls.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { CountingServer } from './support/mcp/counting-server.js';
import { untilStatus } from './support/mcp/scripted-servers.js';
import { IS_LONG_FORM } from './support/long-form.js';

/** In the whole form, the maximum number of concurrent sessions. */
const MANY = IS_LONG_FORM ? 1000 : 200;
/** Sessions that are used at the same time. */
const AT_ONCE = 20;

describe('a stateful server over HTTP', () => {
  let counting: CountingServer;
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    counting = await CountingServer.start();
    const server = { name: 'c', enabled: true, type: 'http', http: { url: counting.url }, stateful: true } as const;
    jackdaw = await startJackdaw({ options: { mcpServers: [server] } });
    await untilStatus(jackdaw, 'c');
  });
  afterEach(async () => {
    counting.isRefusing = false;
    await forgetAll();
  });
  afterAll(async () => {
    await jackdaw.stop();
    await counting.close();
  });

  const connected = () => jackdaw.app.get(McpRegistry).get('c').sessionCount;
  const newSession = async () => String((await jackdaw.post('/api/sessions', {})).body['id']);
  const ask = async (sessionId: string) => (await callTool(jackdaw, 'c__count', { sessionId })).body;
  const count = async (sessionId: string) => (await ask(sessionId))['result'] as unknown;
  const forgetAll = async () => (await jackdaw.post('/api/sessions/prune', { olderThanDays: 0 })).body;

  it(`keeps neither session nor socket of ${MANY} sessions that are over`, async () => {
    const before = counting.open;
    const sessions: string[] = [];
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        while (sessions.length < MANY) {
          const session = await newSession();
          sessions.push(session);
          await count(session);
        }
      }),
    );
    expect(connected()).toBe(Math.min(sessions.length, 1000));
    expect(counting.open.sessions).toBeGreaterThanOrEqual(MANY);
    expect(await forgetAll()).toMatchObject({ deleted: sessions.length });
    expect(connected()).toBe(0);
    await counting.until(({ sessions: left, sockets }) => left <= 1 && sockets <= before.sockets);
    expect(counting.open).toEqual(before);
  });

  it('starts one session for concurrent calls', async () => {
    const { started } = counting;
    const session = await newSession();
    const counts = await Promise.all([count(session), count(session), count(session)]);
    expect(new Set(counts)).toEqual(new Set(['1', '2', '3']));
    expect(counting.started - started).toBe(1);
  });

  it('gets a new session with the next call after it has lost its session', async () => {
    const session = await newSession();
    expect([await count(session), await count(session)]).toEqual(['1', '2']);
    counting.forget();
    expect(await ask(session)).toMatchObject({ error: expect.stringContaining('disconnected during the call') });
    expect(await count(session)).toBe('1');
  });

  it('is asked for a session again by the next call after it refused one', async () => {
    counting.isRefusing = true;
    const session = await newSession();
    expect(await ask(session)).toMatchObject({ error: expect.stringContaining('MCP server "c" is not connected') });
    expect(connected()).toBe(0);
    counting.isRefusing = false;
    expect(await count(session)).toBe('1');
  });
});
