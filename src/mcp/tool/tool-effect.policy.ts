import type { Tool as McpTool } from '@modelcontextprotocol/client';
import type { ToolEffect } from '../../tool/index.js';
import type { McpServer } from '../mcp-server.types.js';

/** The effect of a tool: the operator's statement; else the hint of a trusted server; else `once`. */
export function effectOf({ name, annotations = {} }: McpTool, { effects, isTrusted }: McpServer): ToolEffect {
  const declared = Object.hasOwn(effects, name) ? effects[name] : undefined;
  if (declared) return declared;
  if (!isTrusted) return 'once';
  if (annotations.readOnlyHint) return 'read';
  return annotations.idempotentHint ? 'idempotent' : 'once';
}

/**
 * Whether a call can carry data out: the operator's statement; else true for `once`, and for the hint of a trusted
 * server.
 */
export function egressOf({ annotations = {} }: McpTool, { egress, isTrusted }: McpServer, effect: ToolEffect): boolean {
  return egress ?? (effect === 'once' || (isTrusted && annotations.openWorldHint === true));
}
