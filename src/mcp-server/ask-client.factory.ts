import type { JsonSchema } from '../common/index.js';
import { suspend, type Suspension } from '../tool/index.js';
import type { McpRequest, McpRequests } from './mcp-protocol.types.js';

/** Where the schema of an answer bears the requests that it answers. */
export const REQUESTS_KEYWORD = 'x-mcp-requests';

/**
 * Asks the MCP client that has called: return it from a tool. The run waits, the client answers by its next request
 * (or, before the protocol of 2026, on the way that is open), and the tool is called again: `answer.value` has every
 * answer under its key, as the protocol has it. Who is no MCP client may answer as any question is answered, by
 * `POST /api/runs/:id/input`.
 *
 *     if (!answer) return askClient({ capital: { method: 'sampling/createMessage', params: { … } } });
 *
 * @throws AppError `TOOL_INVALID` for a schema that cannot be used
 */
export function askClient(requests: McpRequests): Suspension {
  const entries = Object.entries(requests);
  return suspend({
    question: `The MCP client is asked for ${entries.map(([key, request]) => `${key} (${wordsOf(request)})`).join(', ')}.`,
    schema: {
      type: 'object',
      properties: Object.fromEntries(entries.map(([key, request]) => [key, answerSchema(request)])),
      required: Object.keys(requests),
      [REQUESTS_KEYWORD]: requests,
    },
  });
}

function wordsOf(request: McpRequest): string {
  return request.method === 'elicitation/create' ? request.params.message : request.method;
}

/** What of an answer must be there. */
function answerSchema(request: McpRequest): JsonSchema {
  switch (request.method) {
    case 'elicitation/create':
      return elicitedSchema('requestedSchema' in request.params ? request.params.requestedSchema : {});
    case 'sampling/createMessage':
      return {
        type: 'object',
        properties: { role: { enum: ['user', 'assistant'] }, content: { type: ['object', 'array'] } },
        required: ['role', 'content'],
      };
    case 'roots/list':
      return { type: 'object', properties: { roots: { type: 'array' } }, required: ['roots'] };
  }
}

/** Who declines need not give what was asked for. */
function elicitedSchema(content: JsonSchema): JsonSchema {
  return {
    type: 'object',
    required: ['action'],
    anyOf: [
      { properties: { action: { enum: ['decline', 'cancel'] } } },
      { properties: { action: { const: 'accept' }, content } },
    ],
  };
}
