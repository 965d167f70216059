import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Server } from '@modelcontextprotocol/server';
import { SessionRegistry } from './session.registry.js';

const ANN = { id: 'ann', tenant: 'a', roles: ['user'] };
const IDLE_MS = 60_000;
const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
};
const PING = { jsonrpc: '2.0', id: 2, method: 'ping' };

let sessions: SessionRegistry;
beforeEach(() => {
  vi.useFakeTimers();
  const connect = () => ({
    server: new Server({ name: 'x', version: '1' }, { capabilities: {} }),
    subscriptions: new Set<string>(),
  });
  sessions = new SessionRegistry(connect, { maxSessions: 2, sessionIdleMs: IDLE_MS });
});
afterEach(async () => {
  await sessions.close();
  vi.useRealTimers();
});

function ask(body: unknown, id?: string): Promise<Response> {
  const headers = { ...HEADERS, ...(id !== undefined && { 'mcp-session-id': id }) };
  const request = new Request('http://localhost/mcp', { method: 'POST', headers, body: JSON.stringify(body) });
  return sessions.handle(request, ANN, { parsedBody: body });
}

async function initialize(): Promise<string> {
  return (await ask(INITIALIZE)).headers.get('mcp-session-id') ?? '';
}

describe('SessionRegistry', () => {
  it('closes a session after the idle time', async () => {
    const id = await initialize();
    await vi.advanceTimersByTimeAsync(IDLE_MS / 2);
    sessions.use(id, ANN)();
    await vi.advanceTimersByTimeAsync(IDLE_MS * 0.9);
    expect((await ask(PING, id)).status).toBe(200);
    await vi.advanceTimersByTimeAsync(IDLE_MS / 2);
    expect((await ask(PING, id)).status).toBe(404);
    expect(sessions.connections).toEqual([]);
  });

  it('does not find a session after the idle time, before the timer closes it', async () => {
    const id = await initialize();
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + IDLE_MS);
    sessions.use(id, ANN)();
    expect((await ask(PING, id)).status).toBe(404);
    expect(sessions.connections).toHaveLength(1);
    vi.restoreAllMocks();
    expect((await ask(PING, id)).status).toBe(200);
  });

  it('keeps a session while one of its requests or streams is open', async () => {
    const id = await initialize();
    const release = sessions.use(id, ANN);
    await vi.advanceTimersByTimeAsync(IDLE_MS * 3);
    expect((await ask(PING, id)).status).toBe(200);
    release();
    await vi.advanceTimersByTimeAsync(IDLE_MS * 1.5);
    expect((await ask(PING, id)).status).toBe(404);
  });

  it('does not evict a session in use', async () => {
    for (const id of [await initialize(), await initialize()]) sessions.use(id, ANN);
    expect((await ask(INITIALIZE)).status).toBe(503);
  });

  it('creates no session for a request that the protocol rejects', async () => {
    expect((await ask({ ...INITIALIZE, id: undefined, params: {} })).ok).toBe(false);
    expect(sessions.connections).toEqual([]);
  });
});
