import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { ToolRegistry } from '../../../src/tool/index.js';
import type { Jackdaw } from '../jackdaw.js';
import { freePort } from '../free-port.js';

type RealServer = 'everything' | 'filesystem' | 'memory' | 'sequential-thinking';

/** The program of one of the protocol's reference servers. */
function programOf(name: RealServer): string {
  return resolve(`node_modules/@modelcontextprotocol/server-${name}/dist/index.js`);
}

/** The declaration of a reference server, as in a file. */
export function realServer(name: RealServer, ...args: readonly string[]) {
  return { command: process.execPath, args: [programOf(name), ...args] };
}

/** Writes a file of MCP servers. @returns its path */
export function serversFile(folder: string, mcpServers: Readonly<Record<string, unknown>>): string {
  const path = join(folder, 'mcp-servers.json');
  writeFileSync(path, JSON.stringify({ mcpServers }));
  return path;
}

/** An HTTP server in a process of its own. */
export interface RealHttpServer {
  readonly url: string;
  /** Waits for a line that starts so. @returns the line */
  waitForLine(start: string): Promise<string>;
  stop(): Promise<void>;
}

/** How `server-everything` is started over HTTP: its argument, its first line and its path. */
const HTTP_MODES = {
  streamable: { argument: 'streamableHttp', line: 'MCP Streamable HTTP Server listening', path: '/mcp' },
  sse: { argument: 'sse', line: 'Server is running on port', path: '/sse' },
} as const;

/** Starts `server-everything` over HTTP. @param program by default of the root's installation */
export async function everythingOverHttp(
  given?: number,
  mode: keyof typeof HTTP_MODES = 'streamable',
  program = programOf('everything'),
): Promise<RealHttpServer> {
  const port = given ?? (await freePort());
  const { argument, line: first, path } = HTTP_MODES[mode];
  const child = spawn(process.execPath, [program, argument], {
    env: { PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  const watchers = new Set<() => void>();
  const report = () => {
    for (const watcher of watchers) watcher();
  };
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      report();
    });
  }
  const exited = once(child, 'exit');
  void exited.then(report);
  const waitForLine = async (start: string) => {
    for (;;) {
      const found = lines.find((line) => line.startsWith(start));
      if (found !== undefined) return found;
      if (child.exitCode !== null) throw new Error(`The server ended without "${start}": ${lines.join('\n')}`);
      await new Promise<void>((wake) => watchers.add(wake));
    }
  };
  await waitForLine(first);
  const stop = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  return { url: `http://127.0.0.1:${port}${path}`, waitForLine, stop };
}

/** Waits until a tool exists, or no longer exists. */
export async function untilTool({ app }: Jackdaw, name: string, isThere = true): Promise<void> {
  const tools = app.get(ToolRegistry);
  const { promise, resolve: done } = Promise.withResolvers<void>();
  const check = () => {
    if (tools.has(name) === isThere) done();
  };
  const unsubscribe = tools.changes.add(check);
  check();
  await promise.finally(unsubscribe);
}
