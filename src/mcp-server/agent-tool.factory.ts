import type { Tool as McpTool } from '@modelcontextprotocol/server';
import type { AgentDefinition } from '../agent/index.js';

const PREFIX = 'ask_';

/** Name of the tool that calls an agent. */
export function agentToolName(agent: string): string {
  return `${PREFIX}${agent}`;
}

/** The agent that the tool calls; undefined for other names. The agent need not exist. */
export function agentOf(tool: string): string | undefined {
  return tool.startsWith(PREFIX) ? tool.slice(PREFIX.length) : undefined;
}

/** The tool for an agent, as MCP clients see it. */
export function toAgentTool({ name, description }: Pick<AgentDefinition, 'name' | 'description'>): McpTool {
  return {
    name: agentToolName(name),
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
