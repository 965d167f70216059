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
