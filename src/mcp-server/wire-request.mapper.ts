import type { InputRequest } from '@modelcontextprotocol/server';
import type { McpRequests } from './mcp-protocol.types.js';

/** What a client is asked for, as the SDK has it: the same, but that it may be written to. */
export function toWireRequests(requests: McpRequests): Record<string, InputRequest> {
  return { ...requests } as Record<string, InputRequest>;
}
