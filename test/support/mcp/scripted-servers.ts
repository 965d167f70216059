import type { McpConfig } from '../../../src/mcp/index.js';
import type { Jackdaw } from '../jackdaw.js';
import { McpRegistry } from '../../../src/mcp/index.js';

const PROGRAM = new URL('scripted-server.mjs', import.meta.url).pathname;

/** A tool as a server lists it; `scripted-server.mjs` implements `echo` and others. */
export function listed(name: string, more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return { name, description: `Does ${name}.`, inputSchema: { type: 'object' }, ...more };
}

/** A scripted server. @param script the script for `scripted-server.mjs` */
export function scripted(name: string, script: Readonly<Record<string, unknown>>, more: object = {}): McpConfig {
  const stdio = { command: process.execPath, args: [PROGRAM, JSON.stringify(script)] };
  return { name, enabled: true, type: 'stdio', stdio, ...more };
}

/** Waits until a server has the status; polls every few ms. */
export async function untilStatus(jackdaw: Jackdaw, server: string, status = 'ready'): Promise<void> {
  const { connection } = jackdaw.app.get(McpRegistry, { strict: false }).get(server);
  await connection.until((state) => state.status === status);
}
