import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rmSync } from 'node:fs';
import { McpClients, ToolRegistry } from '../src/index.js';
import { keyHolder } from './support/api-keys.js';
import { FakeLlm } from './support/fake-llm.js';
import { gate, newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { McpTestTools } from './support/mcp.tool.js';
import { serversFile, untilTool } from './support/mcp/real-servers.js';
import { untilStatus } from './support/mcp/scripted-servers.js';
import { resultsIn, WaitingRun } from './support/waiting-run.js';
import { WaitingTools } from './support/waiting.tool.js';

const ANN = keyHolder('ann', 'a', 'user');

describe('another Jackdaw as a server', () => {
  const folder = newFolder();
  const tools = new McpTestTools();
  let llm: FakeLlm;
  let server: Jackdaw;
  let jackdaw: Jackdaw;
  let sessions = 0;
  beforeAll(async () => {
    llm = await FakeLlm.start();
    server = await startJackdaw({ tools: [tools, new WaitingTools()], env: { API_KEYS: ANN.entry } });
    tools.clients = server.app.get(McpClients);
    const headers = { Authorization: 'Bearer ${PEER_KEY}' };
    const MCP_SERVERS_FILE = serversFile(folder, {
      peer: { url: '${PEER_URL:-http://127.0.0.1:1}/mcp', headers, trusted: true, egress: false, pins: 'follow' },
      untrusted: { url: '${PEER_URL}/mcp', auth: { type: 'bearer', token: 'a-key-of-none' } },
    });
    jackdaw = await startJackdaw({ llm, env: { MCP_SERVERS_FILE, PEER_URL: server.url, PEER_KEY: ANN.key } });
    await untilStatus(jackdaw, 'peer');
  });
  beforeEach(() => {
    llm.reset();
    tools.held = gate();
    tools.aborted = gate();
  });
  afterAll(async () => {
    await jackdaw.stop();
    await Promise.all([server.stop(), llm.close()]);
    rmSync(folder, { recursive: true });
  });

  const begin = (name: string, args: object = {}) => {
    llm.reply({ calls: [{ id: 'c', name, arguments: { ...args } }] }, { text: 'the end' });
    return jackdaw.stream({ query: 'go', sessionId: `s${++sessions}` });
  };
  const result = async (name: string, args: object = {}) => resultsIn(await (await begin(name, args)).all())['c'];

  it('is connected in the newest protocol, with its key, and its hints are trusted', async () => {
    const { body } = await jackdaw.get('/api/mcp/servers/peer');
    expect(body).toMatchObject({ status: 'ready', protocol: '2026-07-28', quarantine: [], refused: [] });
    const effectOf = (name: string) => jackdaw.app.get(ToolRegistry).get(name).metadata.effect;
    expect(['weigh', 'count', 'pay'].map((name) => effectOf(`peer__${name}`))).toEqual(['read', 'idempotent', 'once']);
  });

  it('refuses an unknown key, and shows the operator the reason', async () => {
    await untilStatus(jackdaw, 'untrusted', 'failed');
    const { body } = await jackdaw.get('/api/mcp/servers/untrusted');
    // The next attempt may have started.
    expect(body).toMatchObject({
      status: expect.stringMatching(/failed|connecting/),
      tools: [],
      error: expect.any(String),
    });
    expect(JSON.stringify(body)).not.toContain('a-key-of-none');
  });

  it('returns values and error messages', async () => {
    expect(await result('peer__weigh', { thing: 'salt' })).toEqual({ grams: 4 });
    expect(await result('peer__count')).toEqual([1, 2, 3]);
    expect(await result('peer__weigh', { thing: 'nothing' })).toEqual([
      'TOOL_FAILED',
      expect.stringContaining('empty'),
    ]);
    expect(await result('peer__ask_default', { message: 'What is 2 + 3?' })).toMatchObject({
      answer: expect.stringContaining('5'),
    });
  });

  it('reports the progress of a call', async () => {
    const events = await (await begin('peer__walk')).all();
    const published = events.flatMap(({ event, data }) => (event === 'tool.progress' ? [data] : []));
    expect(published).toMatchObject([1, 2, 3].map((progress) => ({ progress, total: 3, message: `step ${progress}` })));
  });

  it('cancels its own run when the calling run is cancelled', async () => {
    const stream = await begin('peer__hold');
    await tools.held.opened;
    await jackdaw.post(`/api/runs/${stream.runId}/cancel`);
    expect((await stream.all()).at(-1)!.event).toBe('run.cancelled');
    await tools.aborted.opened;
    const events = await (await server.follow(tools.heldRun, undefined, ANN.headers)).all();
    expect(events.at(-1)!.event).toBe('run.cancelled');
  });

  it('has its questions answered by a person of the client', async () => {
    llm.reply({ calls: [{ id: 'c', name: 'peer__choose', arguments: { text: 'rome' } }] }, { text: 'the end' });
    const run = await WaitingRun.begin(jackdaw, 'asked');
    const [request] = await run.requests();
    expect(request).toMatchObject({ kind: 'input', question: 'MCP server "peer" asks: Which one for rome?' });
    const { c } = resultsIn(await run.after('input', { value: { answer: 'KL2' } }));
    expect(c).toBe('rome: KL2, says ann');
  });

  it('is followed when tools are added or removed', async () => {
    const registry = server.app.get(ToolRegistry);
    registry.register({ name: 'passing', description: 'Comes and goes.', handler: () => 'there' });
    await untilTool(jackdaw, 'peer__passing');
    expect(await result('peer__passing')).toBe('there');
    registry.unregister('passing');
    await untilTool(jackdaw, 'peer__passing', false);
  });
});
