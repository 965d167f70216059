import type { Tool as McpTool } from '@modelcontextprotocol/server';
import type { AgentDefinition } from '../agent/index.js';

const PREFIX = 'ask_';

/** The name of the tool that asks an agent. */
export function agentToolName(agent: string): string {
  return `${PREFIX}${agent}`;
}

/** The agent that a tool of this name asks, if there is such a one. */
export function agentOf(tool: string): string | undefined {
  return tool.startsWith(PREFIX) ? tool.slice(PREFIX.length) : undefined;
}

/** An agent as MCP clients are shown it. */
export function toAgentTool({ name, description }: Pick<AgentDefinition, 'name' | 'description'>): McpTool {
  return {
    name: agentToolName(name),
    description: `Asks the agent "${name}"${description === '' ? '' : `: ${description}`}`,
    inputSchema: {
      type: 'object',
      properties: {
        message: { type: 'string', minLength: 1, description: 'What to ask or tell it.' },
        session_id: { type: 'string', description: 'A conversation to go on with; a new one when left out.' },
      },
      required: ['message'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: {
        answer: { type: 'string' },
        session_id: { type: 'string', description: 'To go on with this conversation.' },
        run_id: { type: 'string' },
        output: { description: 'The answer’s value, where the agent gives one.' },
      },
      required: ['answer', 'session_id', 'run_id'],
    },
    annotations: { readOnlyHint: false, idempotentHint: false, destructiveHint: true, openWorldHint: true },
  };
}
