import type { Tool as McpTool } from '@modelcontextprotocol/server';
import type { AgentDefinition } from '../agent/index.js';

/** The tool for an agent, as MCP clients see it. */
export function toAgentTool(
  { name, description }: Pick<AgentDefinition, 'name' | 'description'>,
  tool: string,
): McpTool {
  return {
    name: tool,
    description: `Asks the agent "${name}"${description === '' ? '' : `: ${description}`}`,
    inputSchema: {
      type: 'object',
      properties: {
        message: { type: 'string', minLength: 1, description: 'The message to the agent.' },
        session_id: { type: 'string', description: 'Session to continue; if omitted, a new one.' },
      },
      required: ['message'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: {
        answer: { type: 'string' },
        session_id: { type: 'string', description: 'Session of the conversation; pass it to continue.' },
        run_id: { type: 'string' },
        output: { description: 'Value of the answer, if the agent returns one.' },
      },
      required: ['answer', 'session_id', 'run_id'],
    },
    annotations: { readOnlyHint: false, idempotentHint: false, destructiveHint: true, openWorldHint: true },
  };
}
