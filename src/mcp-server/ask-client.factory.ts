import type { JsonSchema } from '../kernel/index.js';
import { suspend, type Suspension } from '../tool/index.js';
import type { McpRequest, McpRequests } from './mcp-protocol.types.js';

/** Keyword of an answer's schema that contains the requests to the client. */
export const REQUESTS_KEYWORD = 'x-mcp-requests';

/**
 * Asks the MCP client that called the tool: return the result from the tool. The run waits, and the client answers with
 * its next request (or, before the protocol of 2026, on the open connection). The tool is then called again:
 * `answer.value` has each answer under its key, in the format of the protocol. Callers that are not MCP clients can
 * answer by `POST /api/runs/:id/input`, as for any question.
 *
 *     if (!answer) return askClient({ capital: { method: 'sampling/createMessage', params: { … } } });
 *
 * @throws AppError `TOOL_INVALID` for a schema that cannot be used
 */
export function askClient(requests: McpRequests): Suspension {
  const entries = Object.entries(requests);
  return suspend({
    question: `The MCP client is asked for ${entries.map(([key, request]) => `${key} (${descriptionOf(request)})`).join(', ')}.`,
    schema: {
      type: 'object',
      properties: Object.fromEntries(entries.map(([key, request]) => [key, answerSchema(request)])),
      required: Object.keys(requests),
      [REQUESTS_KEYWORD]: requests,
    },
  });
}

function descriptionOf(request: McpRequest): string {
  return request.method === 'elicitation/create' ? request.params.message : request.method;
}

/** Schema of the required parts of an answer. */
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

/** An answer that declines needs no content. */
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
