import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ToolRegistry } from '../src/tool/index.js';
import { callTool } from './support/direct-calls.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { listed, scripted, untilStatus } from './support/mcp/scripted-servers.js';

const OUTPUT = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
const TOOLS = [
  listed('echo', {
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    annotations: { readOnlyHint: true },
  }),
  listed('fail'),
  listed('structured', { outputSchema: OUTPUT }),
  listed('crooked', { outputSchema: OUTPUT }),
  listed('bare', { outputSchema: OUTPUT }),
  listed('env'),
  listed('hang'),
  listed('exit'),
  listed('pid', { annotations: { idempotentHint: true } }),
  listed('broken', { inputSchema: { type: 'object', properties: { x: { $ref: 'https://example.com/x.json' } } } }),
  listed('has space'),
  listed('dotted.name'),
];

describe('tools of an MCP server', () => {
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    jackdaw = await startJackdaw({
      env: { AGENT_RUN_TIMEOUT_MS: '20000' },
      options: {
        mcpServers: [
          scripted('one', { tools: TOOLS }, { hints: 'ignore' }),
          scripted('slow', { tools: [listed('hang'), listed('echo')] }, { timeoutMs: 2000 }),
          scripted('trusted', { tools: TOOLS, diesOfDiscovery: true }, { trusted: true, effects: { fail: 'read' } }),
          scripted('ancient', { tools: [listed('echo')], version: '2024-11-05' }),
          scripted('off', {}, { enabled: false }),
          { name: 'dead', enabled: true, type: 'stdio', stdio: { command: '/no/such/program' } },
        ],
      },
    });
    await Promise.all([
      untilStatus(jackdaw, 'one'),
      untilStatus(jackdaw, 'slow'),
      untilStatus(jackdaw, 'trusted'),
      untilStatus(jackdaw, 'ancient'),
      untilStatus(jackdaw, 'dead', 'failed'),
    ]);
  });
  afterAll(() => jackdaw.stop());

  const call = async (tool: string, args: object = {}) => (await callTool(jackdaw, tool, { arguments: args })).body;
  const effectOf = (name: string) => jackdaw.app.get(ToolRegistry).get(name).metadata.effect;

  it('are called like other tools', async () => {
    expect(await call('one__echo', { text: 'hi' })).toMatchObject({ success: true, result: 'hi' });
    expect(await call('one__echo', { text: 1 })).toMatchObject({ status: 400, code: 'TOOL_INVALID_ARGUMENTS' });
    expect(await call('one__fail')).toMatchObject({
      code: 'TOOL_FAILED',
      error: expect.stringContaining('It broke.'),
    });
  });

  it('are called in the protocol version of the server', async () => {
    expect(await call('ancient__echo', { text: 'hi' })).toMatchObject({ result: 'hi' });
    expect((await jackdaw.get('/api/mcp/servers/ancient')).body).toMatchObject({ protocol: '2024-11-05' });
  });

  it('fail if a result does not match the declared output schema', async () => {
    expect(await call('one__structured')).toMatchObject({ result: { n: 1 } });
    expect(await call('one__crooked')).toMatchObject({ code: 'TOOL_INVALID_RESULT' });
    expect(await call('one__bare')).toMatchObject({ code: 'TOOL_INVALID_RESULT' });
  });

  it('are not repeated if the operator ignores the hints of the server, unless the operator declares it', () => {
    const names = ['one__echo', 'one__pid', 'trusted__echo', 'trusted__pid', 'trusted__fail', 'trusted__env'];
    expect(names.map(effectOf)).toEqual(['once', 'once', 'read', 'idempotent', 'read', 'once']);
  });

  it('are refused when they are unusable or have an ambiguous name', () => {
    const tools = jackdaw.app.get(ToolRegistry);
    expect(tools.has('one__broken')).toBe(false);
    expect(tools.list().filter(({ definition }) => definition.name.includes('space'))).toEqual([]);
    expect(tools.has('one__dotted_name')).toBe(true);
  });

  it('see only the environment variables that every program needs', async () => {
    const env = JSON.parse(String((await call('one__env'))['result'])) as object;
    const allowed = ['HOME', 'JACKDAW_MCP_CHILD', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER'];
    expect(Object.keys(env).filter((name) => !allowed.includes(name) && !name.startsWith('__'))).toEqual([]);
  });

  it('end at their timeout, and the next call succeeds', async () => {
    expect(await call('slow__hang')).toMatchObject({ code: 'TOOL_TIMEOUT' });
    expect(await call('slow__echo', { text: 'again' })).toMatchObject({ result: 'again' });
  });

  it('fail when their server exits, and the server is restarted', async () => {
    const before = (await call('trusted__pid'))['result'];
    expect(await call('trusted__exit')).toMatchObject({
      code: 'TOOL_FAILED',
      error: expect.stringContaining('it exited with 3'),
    });
    await untilStatus(jackdaw, 'trusted', 'failed');
    expect(await call('trusted__echo', { text: 'x' })).toMatchObject({
      code: 'TOOL_FAILED',
      error: expect.stringMatching(/is not connected: it exited with 3; the next attempt is in \d+ s/),
    });
    await untilStatus(jackdaw, 'trusted');
    expect((await call('trusted__pid'))['result']).not.toBe(before);
  });

  it('are counted in health by connected servers, and unusable ones degrade it', async () => {
    const { body } = await jackdaw.get('/api/agent/health');
    expect(body['info']).toMatchObject({
      mcp: { status: 'degraded', connected: 4, enabled: 5, refused: 4, quarantined: 0 },
    });
    const { servers } = (await jackdaw.get('/api/mcp/servers')).body as unknown as { servers: object[] };
    expect(servers).toMatchObject([
      { name: 'one', transport: 'stdio', status: 'ready' },
      { name: 'slow', status: 'ready' },
      { name: 'trusted', status: 'ready', connects: 2 },
      { name: 'ancient', status: 'ready' },
      { name: 'off', status: 'disabled', tools: [] },
      { name: 'dead', tools: [] },
    ]);
  });

  it('leave no program behind', async () => {
    const folder = join(jackdaw.dataDir, 'mcp-children');
    expect(readdirSync(folder)).toHaveLength(4);
    const pid = Number((await call('one__pid'))['result']);
    await jackdaw.app.close();
    expect(readdirSync(folder)).toEqual([]);
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});
