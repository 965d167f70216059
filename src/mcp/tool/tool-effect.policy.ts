import type { Tool as McpTool } from '@modelcontextprotocol/client';
import type { ToolEffect, ToolOrigin } from '../../tool/index.js';
import type { McpServer } from '../mcp-server.types.js';

/** The effect of a tool: the operator's statement; else the believed hint of its server; else `once`. */
export function effectOf({ name, annotations = {} }: McpTool, { effects, areHintsBelieved }: McpServer): ToolEffect {
  const declared = Object.hasOwn(effects, name) ? effects[name] : undefined;
  if (declared) return declared;
  if (!areHintsBelieved) return 'once';
  if (annotations.readOnlyHint) return 'read';
  return annotations.idempotentHint ? 'idempotent' : 'once';
}

/**
 * Whether a call can carry data out or change something. The operator's setting decides. Without one, only a tool is
 * exempt that a program on this machine hints to be reading and not to reach the world outside.
 */
export function egressOf({ annotations = {} }: McpTool, { egress, areHintsBelieved, transport }: McpServer): boolean {
  if (egress !== undefined) return egress;
  const isLocal = transport.kind === 'stdio' && urlsOf(transport.args).length === 0;
  const isHinted = annotations.readOnlyHint === true && annotations.openWorldHint === false;
  return !(isLocal && areHintsBelieved && isHinted);
}

/** @param isReadOnly whether calls of the tool only read */
export function originOf({ name, transport }: McpServer, isReadOnly: boolean): ToolOrigin {
  const urls = transport.kind === 'http' ? [new URL(transport.url)] : urlsOf(transport.args);
  return { name: `MCP server "${name}"`, hosts: urls.map(({ hostname }) => hostname), isReadOnly };
}

/** HTTP addresses among the arguments of a program, which is then a bridge to another server. */
function urlsOf(args: readonly string[]): URL[] {
  return args.flatMap((argument) => (/^https?:/i.test(argument) ? (URL.parse(argument) ?? []) : []));
}
