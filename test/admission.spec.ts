import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { connect } from 'node:net';
import { Database } from '../src/persistence/index.js';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeRequest } from './support/fake-llm.types.js';
import { gate, startJackdaw, type Answer, type Jackdaw } from './support/jackdaw.js';

/** Longer than any test. */
const LONG = { RUN_QUEUE_WAIT_MS: '60000' };

describe('a chat without capacity', () => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    llm = await FakeLlm.start();
  });
  afterEach(async () => {
    await jackdaw.stop();
    llm.reset();
  });
  afterAll(() => llm.close());

  const queryOf = ({ messages }: FakeRequest) => String(messages.findLast(({ role }) => role === 'user')?.content);
  const asked = () => llm.requests.map(queryOf);
  const runCount = async () => {
    const [row] = await jackdaw.app.get(Database).query<{ n: number }>('SELECT COUNT(*) AS n FROM run');
    return row!.n;
  };

  /** Starts a server whose model holds its replies until the returned gate opens. */
  async function start(env: Record<string, string>) {
    const held = gate();
    llm.always(async () => {
      await held.opened;
      return { text: 'done' };
    });
    jackdaw = await startJackdaw({ llm, env: { RUN_CONCURRENCY: '1', ...env } });
    return held;
  }

  function expectRefused({ status, body, headers }: Answer): void {
    expect([status, body['code']]).toEqual([503, 'RUN_QUEUE_FULL']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(body['run_id']).toBeUndefined();
  }

  it('waits, and is answered when a run has ended', async () => {
    const held = await start(LONG);
    const chats = ['one', 'two'].map((query) => jackdaw.chat({ query }));
    await llm.waitForRequest();
    held.open();
    expect((await Promise.all(chats)).map(({ status }) => status)).toEqual([200, 200]);
  });

  it('is refused after its limit, and not stored', async () => {
    const held = await start({ RUN_QUEUE_WAIT_MS: '50' });
    const first = jackdaw.chat({ query: 'one' });
    await llm.waitForRequest();
    expectRefused(await jackdaw.chat({ query: 'two' }));
    expect(await runCount()).toBe(1);
    held.open();
    expect((await first).status).toBe(200);
    expect(asked()).toEqual(['one']);
  });

  it('is refused after its deadline, if that is earlier', async () => {
    const held = await start(LONG);
    const first = jackdaw.chat({ query: 'one' });
    await llm.waitForRequest();
    expectRefused(await jackdaw.chat({ query: 'two', deadlineMs: 50 }));
    expectRefused(
      await jackdaw.post('/api/tools/calculator/call', { arguments: { expression: '1+1' }, deadlineMs: 50 }),
    );
    held.open();
    await first;
  });

  it('is refused at once, before its body is read, if too many are ahead', async () => {
    const held = await start(LONG);
    const chats = ['one', 'two'].map((query) => jackdaw.chat({ query }));
    await llm.waitForRequest();
    const { port } = new URL(jackdaw.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(
      `POST /api/agent/chat HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 999999\r\n\r\n{`,
    );
    const [answer] = await new Promise<Buffer[]>((resolve) => socket.once('data', (data) => resolve([data])));
    expect(String(answer)).toMatch(/^HTTP\/1\.1 503 [^]*retry-after: \d+[^]*RUN_QUEUE_FULL/i);
    socket.destroy();
    expectRefused(await jackdaw.chat({ query: 'three' }));
    held.open();
    await Promise.all(chats);
    expect(asked()).toEqual(['one', 'two']);
  });

  it('is not executed if its client leaves first, and is with an Idempotency-Key', async () => {
    const held = await start({ ...LONG, RUN_CONCURRENCY: '2' });
    const chats = ['one', 'two'].map((query) => jackdaw.chat({ query }));
    await llm.waitForRequest(2);
    const leave = async (query: string, headers: Record<string, string>) => {
      const client = new AbortController();
      const body = JSON.stringify({ query });
      const sent = fetch(`${jackdaw.url}/api/agent/chat`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
        signal: client.signal,
      });
      await jackdaw.get('/api/health/live');
      client.abort();
      await expect(sent).rejects.toThrow('aborted');
    };
    await leave('left', {});
    await leave('left with a key', { 'idempotency-key': 'key' });
    await jackdaw.get('/api/health/live');
    held.open();
    await Promise.all(chats);
    await llm.waitForRequest(3);
    expect((await jackdaw.chat({ query: 'last' })).status).toBe(200);
    expect(asked().slice(2)).toEqual(['left with a key', 'last']);
  });

  it.each([
    ['calculator', { expression: '1+1' }],
    ['ask_default', { message: 'two' }],
  ])('is refused after its limit as a call of %s by an MCP client', async (name, args) => {
    const held = await start({ RUN_QUEUE_WAIT_MS: '50', MCP_SERVER: 'on' });
    const first = jackdaw.chat({ query: 'one' });
    await llm.waitForRequest();
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 't', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const { body } = await jackdaw.post(
      '/mcp',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, _meta: meta } },
      {
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': name,
      },
    );
    expect(JSON.stringify(body)).toContain('RUN_QUEUE_FULL');
    expect(await runCount()).toBe(1);
    held.open();
    await first;
  });

  it('is not limited behind the run of its session, nor as a replay', async () => {
    const held = await start({ RUN_QUEUE_WAIT_MS: '0' });
    const key = { 'idempotency-key': 'replayed' };
    const first = jackdaw.chat({ query: 'one', sessionId: 's' }, key);
    await llm.waitForRequest();
    const second = jackdaw.chat({ query: 'two', sessionId: 's' }, { 'idempotency-key': 'behind' });
    const replay = jackdaw.chat({ query: 'one', sessionId: 's' }, key);
    expectRefused(await jackdaw.chat({ query: 'elsewhere' }));
    held.open();
    expect((await Promise.all([first, second, replay])).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(asked()).toEqual(['one', 'two']);
  });

  it('is refused at a shutdown, which does not wait for its turn', async () => {
    await start({ ...LONG, SHUTDOWN_TIMEOUT_MS: '0' });
    const first = jackdaw.chat({ query: 'one' });
    await llm.waitForRequest();
    const second = jackdaw.chat({ query: 'two' });
    await jackdaw.get('/api/health/live');
    await jackdaw.app.close();
    expect(await second).toMatchObject({ status: 503, body: { code: 'SHUTTING_DOWN' } });
    expect((await first).status).toBe(503);
  });

  it('takes turns with background runs', async () => {
    const held = await start(LONG);
    const first = jackdaw.chat({ query: 'first' });
    await llm.waitForRequest();
    const background = ['queued 1', 'queued 2', 'queued 3'];
    for (const query of background) await jackdaw.post('/api/agent/runs', { query });
    const chat = jackdaw.chat({ query: 'chat' });
    held.open();
    await Promise.all([first, chat]);
    await llm.waitForRequest(5);
    expect(asked()).toEqual(['first', 'queued 1', 'chat', 'queued 2', 'queued 3']);
  });
});
