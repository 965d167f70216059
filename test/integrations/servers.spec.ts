import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { McpRegistry } from '../../src/mcp/index.js';
import { FakeLlm } from '../support/fake-llm.js';
import { newFolder, startJackdaw, type Jackdaw } from '../support/jackdaw.js';
import { strictModelEnv } from '../support/provider-world.js';
import { STRICT_MODELS, strictProviderOf } from '../support/provider-session-plan.js';
import { callTool } from '../support/direct-calls.js';
import { everythingOverHttp, type RealHttpServer, serversFile, untilTool } from '../support/mcp/real-servers.js';
import { ToolRegistry } from '../../src/tool/index.js';
import { untilStatus } from '../support/mcp/scripted-servers.js';
import { EARLIER_DEVTOOLS, entryOf, publishedServers, versionOf } from './servers.js';
import { type ServerRow, withServers } from './servers-table.js';

const IS_LONG = process.env['INTEGRATIONS_LONG'] === '1';
/** Writes the measured rows instead of comparing them. */
const IS_WRITING = process.env['INTEGRATIONS_WRITE'] === '1';
const ROWS = new URL('servers.json', import.meta.url).pathname;
const PAGE = 'docs/integrations.md';
const FOLDER = newFolder();

const work = newFolder();
const servers = publishedServers(work).filter(({ isLong }) => IS_LONG || !isLong);
const recorded = new Map((JSON.parse(readFileSync(ROWS, 'utf8')) as ServerRow[]).map((row) => [row.name, row]));

/** The first warning of each tool, by its name on the server. */
function warningsOf({ app }: Jackdaw, names: readonly string[], server: string): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const [warning] = app.get(ToolRegistry).get(name).metadata.warnings ?? [];
      return warning ? [[name.slice(server.length + 2), warning.what]] : [];
    }),
  );
}

describe('published MCP servers', () => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    llm = await FakeLlm.start({ strict: ({ model }) => strictProviderOf(model) });
    llm.always({ text: 'the end' });
    const entries = Object.fromEntries(servers.map((server) => [server.name, entryOf(server)]));
    jackdaw = await startJackdaw({
      env: { ...strictModelEnv(llm), MCP_SERVERS_FILE: serversFile(work, entries) },
      options: {
        agents: servers.map(({ name }) => ({
          name,
          tools: [`${name}__*`],
          model: { provider: 'openai-compatible' },
        })),
      },
    });
    await Promise.all(servers.map(({ name }) => untilStatus(jackdaw, name)));
  });
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
    rmSync(work, { recursive: true });
    if (IS_WRITING) writeFileSync(ROWS, `${JSON.stringify([...recorded.values()], null, 2)}\n`);
  });

  it.each(servers.map((server) => [server.name, server] as const))(
    '%s lists its tools, and answers calls that need no network',
    async (name, { npm, calls, last }) => {
      if (last !== undefined) await untilTool(jackdaw, `${name}__${last}`);
      const { tools, quarantined } = jackdaw.app.get(McpRegistry).get(name);
      const outcomes: string[] = [];
      for (const { tool, args } of calls) {
        const { body } = await callTool(jackdaw, `${name}__${tool}`, { arguments: args });
        outcomes.push(String(body['code'] ?? (body['status'] === 'completed' ? 'ok' : body['status'])));
      }
      expect(calls.map(({ tool }, at) => [tool, outcomes[at]])).toEqual(
        calls.map(({ tool, outcome }) => [tool, outcome]),
      );
      const row: ServerRow = {
        name,
        npm,
        version: versionOf(npm),
        tools: tools.names.length + tools.refused.size + quarantined.filter(({ isHidden }) => isHidden).length,
        imported: tools.names.length,
        refused: Object.fromEntries(tools.refused),
        hidden: Object.fromEntries(quarantined.map(({ tool, findings }) => [tool, String(findings[0]?.what)])),
        warned: warningsOf(jackdaw, tools.names, name),
        calls: calls.length,
      };
      expect(row.hidden).toEqual({});
      if (IS_WRITING) recorded.set(name, row);
      expect(row).toEqual(recorded.get(name));
    },
  );

  it.each(STRICT_MODELS.map(({ provider, model }) => [`${provider}:${model}`]))(
    'have tools that %s accepts',
    async (model) => {
      for (const { name } of servers) {
        const { body } = await jackdaw.chat({ query: 'go', agent: name, model });
        expect([name, body['result'], body['error']]).toEqual([name, 'the end', undefined]);
        const offered = llm.lastRequest.tools ?? [];
        expect(offered).toHaveLength(jackdaw.app.get(McpRegistry).get(name).tools.names.length);
      }
      expect(llm.broken).toEqual([]);
    },
  );
});

describe('server-everything over HTTP with Server-Sent Events', () => {
  const everything = servers.find(({ name }) => name === 'everything')!;
  let old: RealHttpServer;
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    old = await everythingOverHttp(undefined, 'sse', entryOf(everything).args[0]);
    // It lists its last tools after the connection.
    const pins = 'follow';
    const entries = { declared: { type: 'sse', url: old.url, pins }, detected: { url: old.url, pins } };
    jackdaw = await startJackdaw({ env: { MCP_SERVERS_FILE: serversFile(FOLDER, entries) } });
  });
  afterAll(async () => {
    await jackdaw.stop();
    await old.stop();
    rmSync(FOLDER, { recursive: true });
  });

  it.each(['declared', 'detected'])('has the same tools as a program, and answers: %s', async (name) => {
    await untilStatus(jackdaw, name);
    await untilTool(jackdaw, `${name}__${everything.last}`);
    const { tools, connection } = jackdaw.app.get(McpRegistry).get(name);
    expect([connection.transport, tools.names.length]).toEqual(['sse', recorded.get('everything')!.imported]);
    for (const { tool, args } of everything.calls) {
      const { body } = await callTool(jackdaw, `${name}__${tool}`, { arguments: args });
      expect([tool, body['status']]).toEqual([tool, 'completed']);
    }
  });
});

(IS_LONG ? describe : describe.skip)('chrome-devtools-mcp', () => {
  it('keeps 32 usable tools after its update from 1.10.1', async () => {
    const devtools = servers.find(({ name }) => name === 'chrome-devtools')!;
    const dataDir = newFolder();
    const listedBy = async (npm: string) => {
      const entry = entryOf({ ...devtools, npm });
      const jackdaw = await startJackdaw({
        dataDir,
        env: { MCP_SERVERS_FILE: serversFile(dataDir, { devtools: entry }) },
      });
      await untilStatus(jackdaw, 'devtools');
      const connected = jackdaw.app.get(McpRegistry).get('devtools');
      const facts = { names: [...connected.tools.names], quarantined: connected.quarantined };
      await jackdaw.stop();
      return facts;
    };
    await listedBy(EARLIER_DEVTOOLS);
    const { names, quarantined } = await listedBy(devtools.npm);
    expect([names.length, quarantined]).toEqual([32, []]);
    rmSync(dataDir, { recursive: true });
  });
});

it('docs/integrations.md has their table', () => {
  const page = readFileSync(PAGE, 'utf8');
  const current = withServers(page, [...recorded.values()]);
  if (IS_WRITING) writeFileSync(PAGE, current);
  expect(IS_WRITING ? current : page).toBe(current);
});
