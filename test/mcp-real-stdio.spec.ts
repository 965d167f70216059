import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ToolRegistry } from '../src/tool/index.js';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeCall } from './support/fake-llm.types.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { realServer, serversFile, untilTool } from './support/mcp/real-servers.js';
import { untilStatus } from './support/mcp/scripted-servers.js';
import { resultsIn, WaitingRun } from './support/waiting-run.js';

const FOLDER = newFolder();
const FILES = join(FOLDER, 'files');
const GRAPH = join(FOLDER, 'graph.jsonl');
/** Secrets in the environment of the application. */
const SECRETS = {
  OPENAI_API_KEY: 'secret-of-openai',
  LLM_API_KEYS: 'secret-of-llm',
  API_KEYS_PEPPER: 'secret-pepper',
  TOOL_SECRETS: 'CRM_TOKEN',
  CRM_TOKEN: 'secret-of-crm',
  ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
};

const SERVERS = {
  everything: {
    ...realServer('everything'),
    env: { GIVEN: '${MCP_GIVEN}', ELSE: '${MCP_UNSET:-instead}' },
    trusted: true,
  },
  files: { ...realServer('filesystem', '${MCP_FILES}'), trusted: true, egress: false },
  graph: { ...realServer('memory'), env: { MEMORY_FILE_PATH: '${MCP_GRAPH:-/nowhere}' }, egress: false },
  thinking: { ...realServer('sequential-thinking'), trusted: true, disabled: false },
  off: { ...realServer('everything'), disabled: true },
};

describe('real servers over standard input and output', () => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  const start = async () => {
    const MCP_SERVERS_FILE = serversFile(FOLDER, SERVERS);
    jackdaw = await startJackdaw({
      llm,
      dataDir: join(FOLDER, 'data'),
      env: {
        ...llm.env,
        ...SECRETS,
        MCP_SERVERS_FILE,
        MCP_GIVEN: 'given',
        MCP_FILES: FILES,
        MCP_GRAPH: GRAPH,
        // The scripted model searches no tools.
        AGENT_MAX_TOOLS: '1000',
        AGENT_MAX_TOOL_TOKENS: '1000000',
      },
    });
    await Promise.all(['everything', 'files', 'graph', 'thinking'].map((name) => untilStatus(jackdaw, name)));
  };
  beforeAll(async () => {
    mkdirSync(FILES);
    writeFileSync(join(FOLDER, 'private.txt'), 'not for them');
    llm = await FakeLlm.start();
    await start();
  });
  afterEach(() => llm.reset());
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
    rmSync(FOLDER, { recursive: true });
  });

  /** Plays a run in which each reply of the model makes these calls. @returns the results by call id */
  async function play(...replies: readonly (readonly FakeCall[])[]) {
    llm.reply(...replies.map((calls) => ({ calls })), { text: 'the end' });
    const { body } = await jackdaw.chat({ query: 'go' });
    return resultsIn(await new WaitingRun(jackdaw, String(body['run_id'])).events());
  }
  const call = (id: string, name: string, args: object = {}): FakeCall => ({ id, name, arguments: { ...args } });

  it('are all usable except for unsupported tools, and none is quarantined', async () => {
    await untilTool(jackdaw, 'everything__trigger-url-elicitation');
    const { body } = await jackdaw.get('/api/mcp/servers');
    expect(body['servers']).toMatchObject([
      { name: 'everything', status: 'ready', quarantined: 0 },
      { name: 'files', status: 'ready', quarantined: 0 },
      { name: 'graph', status: 'ready', quarantined: 0 },
      { name: 'thinking', status: 'ready', quarantined: 0, tools: ['thinking__sequentialthinking'] },
      { name: 'off', status: 'disabled', tools: [] },
    ]);
    const { body: detail } = await jackdaw.get('/api/mcp/servers/everything');
    expect(detail).toMatchObject({
      protocol: '2025-11-25',
      server_info: { name: 'mcp-servers/everything' },
      refused: [{ tool: 'simulate-research-query', why: expect.stringContaining('runs only as a task') }],
    });
  });

  it('return texts and structures, which the model reads', async () => {
    const results = await play(
      [call('e', 'everything__echo', { message: 'hello' }), call('s', 'everything__get-sum', { a: 2, b: 40 })],
      [call('w', 'everything__get-structured-content', { location: 'Chicago' })],
    );
    const weather = { temperature: 36, conditions: 'Light rain / drizzle', humidity: 82 };
    expect(results).toEqual({ e: 'Echo: hello', s: 'The sum of 2 and 40 is 42.', w: weather });
    const read = llm.lastRequest.messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : []));
    expect(read).toEqual(['Echo: hello', 'The sum of 2 and 40 is 42.', JSON.stringify(weather)]);
    const offered = llm.lastRequest.tools!.find(({ function: { name } }) => name === 'everything__get-sum')!.function;
    expect(offered.parameters).toMatchObject({ properties: { a: { type: 'number' } }, required: ['a', 'b'] });
  });

  it('see the variables that the file gives them, and no secret', async () => {
    const { v } = await play([call('v', 'everything__get-env')]);
    const { PATH, HOME, ...seen } = JSON.parse(String(v)) as Record<string, string>;
    expect([PATH, HOME]).toEqual([process.env['PATH'], process.env['HOME']]);
    const { LOGNAME: _l, SHELL: _s, TERM: _t, USER: _u, ...rest } = seen;
    expect(rest).toEqual({ GIVEN: 'given', ELSE: 'instead', JACKDAW_MCP_CHILD: expect.any(String) });
  });

  it('have the effects of their hints, which are believed by default', () => {
    const effectOf = (name: string) => jackdaw.app.get(ToolRegistry).get(name).metadata.effect;
    expect(
      ['everything__echo', 'files__read_text_file', 'files__write_file', 'files__move_file', 'graph__read_graph'].map(
        effectOf,
      ),
    ).toEqual(['read', 'read', 'idempotent', 'once', 'read']);
  });

  it('write files in their allowed folder only', async () => {
    const path = join(FILES, 'note.txt');
    const results = await play(
      [call('w', 'files__write_file', { path, content: 'grüße' })],
      [call('r', 'files__read_text_file', { path }), call('l', 'files__list_directory', { path: FILES })],
      [call('x', 'files__read_text_file', { path: join(FOLDER, 'private.txt') })],
      [call('y', 'files__read_text_file', { path: join(FILES, '..', 'private.txt') })],
    );
    expect(results).toMatchObject({ r: { content: 'grüße' }, l: { content: '[FILE] note.txt' } });
    expect(readFileSync(path, 'utf8')).toBe('grüße');
    const refused = ['TOOL_FAILED', expect.stringContaining('Access denied - path outside allowed directories')];
    expect([results['x'], results['y']]).toEqual([refused, refused]);
    expect(JSON.stringify(llm.lastRequest)).not.toContain('not for them');
  });

  it('think step by step in one process, which knows the thoughts before', async () => {
    const thought = (thoughtNumber: number, isMore: boolean) =>
      call(`t${thoughtNumber}`, 'thinking__sequentialthinking', {
        thought: `thought ${thoughtNumber}`,
        nextThoughtNeeded: isMore,
        thoughtNumber,
        totalThoughts: 3,
      });
    const results = await play([thought(1, true)], [thought(2, true)], [thought(3, false)]);
    expect(results).toMatchObject({
      t1: { thoughtHistoryLength: 1, nextThoughtNeeded: true },
      t2: { thoughtHistoryLength: 2 },
      t3: { thoughtHistoryLength: 3, nextThoughtNeeded: false },
    });
  });

  it('keep in their file the data of before a restart', async () => {
    const entities = [{ name: 'Ann', entityType: 'person', observations: ['likes tea'] }];
    await play([call('c', 'graph__create_entities', { entities })]);
    await jackdaw.stop();
    await start();
    const { g } = await play([call('g', 'graph__read_graph')]);
    expect(g).toMatchObject({ entities, relations: [] });
  });

  it('ask a person in the middle of a call', async () => {
    await untilTool(jackdaw, 'everything__trigger-elicitation-request');
    llm.reply({ calls: [call('a', 'everything__trigger-elicitation-request')] }, { text: 'the end' });
    const run = await WaitingRun.begin(jackdaw, 'asked');
    expect(await run.requests()).toMatchObject([
      { kind: 'input', question: 'MCP server "everything" asks: Please provide inputs for the following fields:' },
    ]);
    const { a } = resultsIn(await run.after('input', { value: { name: 'Ann', check: true } }));
    expect(a).toContain('User provided the requested information!');
    expect(a).toContain('- Name: Ann');
  });

  it('ask the user of an MCP client by a form, also for several choices', async () => {
    await untilTool(jackdaw, 'everything__trigger-elicitation-request');
    const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } });
    const forms: unknown[] = [];
    client.setRequestHandler('elicitation/create', ({ params }) => {
      forms.push('requestedSchema' in params && params.requestedSchema);
      return { action: 'accept', content: { name: 'Ann', untitledMultipleSelectEnum: ['Piano', 'Violin'] } };
    });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${jackdaw.url}/mcp`)));
    const { content } = await client.callTool({ name: 'everything__trigger-elicitation-request', arguments: {} });
    await client.close();
    const choice = { type: 'array', items: { enum: expect.arrayContaining(['Piano', 'Violin']) } };
    expect(forms).toMatchObject([{ properties: { untitledMultipleSelectEnum: choice } }]);
    expect(JSON.stringify(content)).toContain('Piano');
  });
});
