import { afterEach, describe, expect, it } from 'vitest';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { callTool } from '../support/direct-calls.js';
import { hostile } from '../support/mcp/hostile-servers.js';
import { processesWith } from '../support/mcp/process-list.js';
import type { ServerProcess } from '../support/process.js';
import { ProcessWorld } from '../support/process-world.js';

const world = ProcessWorld.prepare();
const PRELOAD = pathToFileURL(join(import.meta.dirname, '..', 'support', 'without-proc.mjs')).href;

const ledger = () => join(world.folder, 'mcp-children');

/** Starts a server without /proc, with these programs. */
async function started(modes: readonly string[], env: Record<string, string> = {}): Promise<ServerProcess> {
  const path = join(world.folder, 'mcp.json');
  const mcpServers = Object.fromEntries(modes.map((mode) => [mode, hostile(mode, 'legacy', world.folder).stdio]));
  writeFileSync(path, JSON.stringify({ mcpServers }));
  const server = await world.start({ NODE_OPTIONS: `--import=${PRELOAD}`, MCP_SERVERS_FILE: path, ...env });
  for (const mode of modes) {
    while ((await callTool(server, `${mode}__echo`, { arguments: { text: 'x' } })).body['success'] !== true);
  }
  return server;
}

afterEach(() => {
  for (const pid of processesWith(world.folder)) process.kill(pid, 'SIGKILL');
});

describe('a server without /proc', () => {
  it('starts after one that was killed with an open program, and removes its entry', async () => {
    const first = await started(['deaf']);
    const [entry] = readdirSync(ledger());
    await first.kill();
    const second = await started([]);
    expect(readdirSync(ledger())).not.toContain(entry);
    expect(await second.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  });

  it('ends a program that ignores its end and SIGTERM, also where groups get no signals', async () => {
    const server = await started(['deaf']);
    expect(processesWith(world.folder)).toHaveLength(1);
    expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(processesWith(world.folder)).toEqual([]);
    expect(readdirSync(ledger())).toEqual([]);
  });

  it('stores tool states in files again and again, although it cannot sync their folder', async () => {
    const server = await started([], { BUILTIN_TOOLS: 'sequentialthinking', TOOL_STATE_MANAGER: 'persistent' });
    const { body: session } = await server.post('/api/sessions', {});
    const sessionId = String(session['id']);
    for (const thoughtNumber of [1, 2, 3]) {
      const thought = { thought: 'x', nextThoughtNeeded: true, thoughtNumber, totalThoughts: 3 };
      const { body } = await callTool(server, 'sequentialthinking', { arguments: thought, sessionId });
      expect(body).toMatchObject({ success: true });
    }
  });
});
