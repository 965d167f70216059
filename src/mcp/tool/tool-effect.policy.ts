import type { Tool as McpTool } from '@modelcontextprotocol/client';
import type { ToolEffect } from '../../tool/index.js';
import type { McpServer } from '../mcp-server.types.js';

/**
 * What may happen when a call of a server's tool is repeated: as the operator says; as the server hints, if it is
 * trusted; else the call must not be repeated.
 */
export function effectOf({ name, annotations = {} }: McpTool, { effects, isTrusted }: McpServer): ToolEffect {
  const said = Object.hasOwn(effects, name) ? effects[name] : undefined;
  if (said) return said;
  if (!isTrusted) return 'once';
  if (annotations.readOnlyHint) return 'read';
  return annotations.idempotentHint ? 'idempotent' : 'once';
}

/** Whether a call can carry data out: as the operator says; else what must not be repeated, and what a trusted server says of itself. */
export function egressOf({ annotations = {} }: McpTool, { egress, isTrusted }: McpServer, effect: ToolEffect): boolean {
  return egress ?? (effect === 'once' || (isTrusted && annotations.openWorldHint === true));
}
