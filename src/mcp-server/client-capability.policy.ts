import type { McpClientCapabilities, McpRequest, McpRequests } from './mcp-protocol.types.js';

/** Whether a client declares the capabilities for all of these requests. */
export function canAnswer(capabilities: McpClientCapabilities, requests: McpRequests): boolean {
  return Object.values(requests).every((request) => covers(capabilities, request));
}

function covers({ elicitation, sampling, roots }: McpClientCapabilities, request: McpRequest): boolean {
  switch (request.method) {
    case 'elicitation/create':
      // A client that names no mode supports forms.
      return elicitation !== undefined && (request.params.mode !== 'url' || elicitation.url !== undefined);
    case 'sampling/createMessage':
      return sampling !== undefined;
    case 'roots/list':
      return roots !== undefined;
  }
}
