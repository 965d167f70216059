import type { InputRequest } from '@modelcontextprotocol/server';
import type { McpRequests } from './mcp-protocol.types.js';

/** Requests to a client in the SDK's type, which is mutable. */
export function toWireRequests(requests: McpRequests): Record<string, InputRequest> {
  return { ...requests } as Record<string, InputRequest>;
}
