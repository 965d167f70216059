import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTool } from '../support/direct-calls.js';
import { type Declared, hostile, HostileWeb } from '../support/mcp/hostile-servers.js';
import { processesWith } from '../support/mcp/process-list.js';
import type { ServerProcess } from '../support/process.js';
import { ProcessWorld } from '../support/process-world.js';
import { IS_LONG_FORM } from '../support/long-form.js';

const MIB = 1024 * 1024;
/** Maximum growth of the process, in bytes. */
const MAX_GROWTH = 200 * MIB;
/** Timeout of a call that floods, in ms. */
const FLOOD_TIMEOUT_MS = IS_LONG_FORM ? 3000 : 1500;
const world = ProcessWorld.prepare();

const CALLS = {
  stdio: ['dense', 'huge', 'endless-line', 'progress', 'notifications', 'requests', 'junk', 'foreign', 'stderr-flood'],
  http: [
    'dense',
    'huge',
    'huge-event',
    'endless-line',
    'endless-body',
    'gzip-bomb',
    'progress',
    'junk',
    'endless-fault',
  ],
};
const LISTS = ['endless-pages', 'huge-pages', 'many-tools'];

let web: HostileWeb;
beforeAll(async () => {
  web = await HostileWeb.start();
});
afterAll(() => web.stop());

/** Starts a server process with these MCP servers in its `mcp.json`. */
function start(servers: readonly Declared[]): Promise<ServerProcess> {
  const path = join(world.folder, 'mcp.json');
  const mcpServers = Object.fromEntries(
    servers.map(({ name, stdio, http, timeoutMs }) => [name, { ...stdio, ...http, timeoutMs }]),
  );
  writeFileSync(path, JSON.stringify({ mcpServers }));
  return world.start({ MCP_SERVERS_FILE: path });
}

function declared(kind: 'stdio' | 'http', mode: string): Declared {
  const server = kind === 'stdio' ? hostile(mode, 'modern', world.folder) : web.server(mode, 'modern');
  return { ...server, timeoutMs: FLOOD_TIMEOUT_MS };
}

/** @param field `VmRSS`: current memory; `VmHWM`: peak memory since `forgetPeak`; in bytes */
function memoryOf({ pid }: ServerProcess, field: 'VmRSS' | 'VmHWM'): number {
  const [, kib] = new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!;
  return Number(kib) * 1024;
}

function forgetPeak({ pid }: ServerProcess): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

async function untilItAnswers(server: ServerProcess, name: string): Promise<void> {
  while ((await callTool(server, `${name}__echo`, { arguments: { text: 'x' } })).body['success'] !== true);
}

describe.each(['stdio', 'http'] as const)('endless data of servers over %s', (kind) => {
  it('does not accumulate in memory', async () => {
    const modes = ['steady', ...CALLS[kind]];
    const server = await start(modes.map((mode) => declared(kind, mode)));
    for (const mode of modes) await untilItAnswers(server, mode);
    forgetPeak(server);
    const before = memoryOf(server, 'VmRSS');
    for (const mode of CALLS[kind]) {
      await callTool(server, `${mode}__strike`);
      await untilItAnswers(server, 'steady');
    }
    expect(memoryOf(server, 'VmHWM') - before).toBeLessThan(MAX_GROWTH);
    expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(processesWith(world.folder)).toEqual([]);
  });

  it('is not accepted as a tool list', async () => {
    const calm = await start([declared(kind, 'steady')]);
    await untilItAnswers(calm, 'steady');
    const before = memoryOf(calm, 'VmRSS');
    await calm.kill('SIGTERM');

    const server = await start(['steady', ...LISTS].map((mode) => declared(kind, mode)));
    await untilItAnswers(server, 'steady');
    for (const mode of LISTS) {
      while ((await server.get(`/api/mcp/servers/${mode}`)).body['status'] !== 'failed');
    }
    expect(memoryOf(server, 'VmHWM') - before).toBeLessThan(MAX_GROWTH);
    await untilItAnswers(server, 'steady');
  });
});
