import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rmSync } from 'node:fs';
import { McpRegistry } from '../src/mcp/index.js';
import { FakeLlm } from './support/fake-llm.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { callTool } from './support/direct-calls.js';
import { everythingOverHttp, serversFile, type RealHttpServer } from './support/mcp/real-servers.js';
import { listed, scripted, untilStatus } from './support/mcp/scripted-servers.js';
import { resultsIn } from './support/waiting-run.js';

const LONG = 'e__trigger-long-running-operation';

describe('a real server over Streamable HTTP', () => {
  const folder = newFolder();
  let llm: FakeLlm;
  let server: RealHttpServer;
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    [llm, server] = await Promise.all([FakeLlm.start(), everythingOverHttp()]);
    const entry = { type: 'streamable-http', url: '${MCP_EVERYTHING}', trusted: true };
    const MCP_SERVERS_FILE = serversFile(folder, { e: entry });
    jackdaw = await startJackdaw({
      llm,
      env: { MCP_SERVERS_FILE, MCP_EVERYTHING: server.url },
      options: { mcpServers: [scripted('s', { tools: [listed('hang'), listed('cancels')] })] },
    });
    await Promise.all(['e', 's'].map((name) => untilStatus(jackdaw, name)));
  });
  afterAll(async () => {
    await jackdaw.stop();
    await Promise.all([llm.close(), server.stop()]);
    rmSync(folder, { recursive: true });
  });

  const ask = (name: string, args: object = {}) => {
    llm.reset();
    llm.reply({ calls: [{ id: 'c', name, arguments: { ...args } }] }, { text: 'the end' });
    return jackdaw.stream({ query: 'go' });
  };
  const result = async (name: string, args: object = {}) => resultsIn(await (await ask(name, args)).all())['c'];

  it('returns texts and structured values', async () => {
    expect(await result('e__echo', { message: 'hello' })).toBe('Echo: hello');
    expect(await result('e__get-structured-content', { location: 'New York' })).toMatchObject({ humidity: 82 });
    expect((await jackdaw.get('/api/mcp/servers/e')).body).toMatchObject({ transport: 'http', protocol: '2025-11-25' });
  });

  it('reports the progress of a call in the stream of the run', async () => {
    const events = await (await ask(LONG, { duration: 0.3, steps: 3 })).all();
    const progress = events.filter(({ event }) => event === 'tool.progress');
    expect(progress.map(({ id, data }) => ({ id, ...data }))).toEqual(
      [1, 2, 3].map((n) => expect.objectContaining({ id: null, call_id: 'c', tool: LONG, progress: n, total: 3 })),
    );
    expect(resultsIn(events)).toEqual({ c: 'Long running operation completed. Duration: 0.3 seconds, Steps: 3.' });
  });

  it('is released at once when the run is cancelled, and keeps serving', async () => {
    const stream = await ask(LONG, { duration: 3600, steps: 36_000 });
    await stream.waitFor('tool.progress');
    await jackdaw.post(`/api/runs/${stream.runId}/cancel`);
    const events = await stream.all();
    expect(events.at(-1)!.event).toBe('run.cancelled');
    expect(await result('e__echo', { message: 'still there' })).toBe('Echo: still there');
  });

  it('is notified of a cancelled call, over standard input too', async () => {
    const stream = await ask('s__hang');
    await stream.waitFor('tool.started');
    await jackdaw.post(`/api/runs/${stream.runId}/cancel`);
    expect((await stream.all()).at(-1)!.event).toBe('run.cancelled');
    expect((await callTool(jackdaw, 's__cancels')).body).toMatchObject({ result: '1' });
  });

  it('is reconnected after it restarted and lost the session', async () => {
    await server.stop();
    server = await everythingOverHttp(Number(new URL(server.url).port));
    expect(await result('e__echo', { message: 'first' })).toBe('Echo: first');
    expect(jackdaw.app.get(McpRegistry).get('e').state).toMatchObject({ status: 'ready', connects: 2 });
  });

  it('is notified of the end of the session', async () => {
    await jackdaw.app.close();
    expect(await server.waitForLine('Received session termination request')).toMatch(/for session \S+$/);
  });
});
