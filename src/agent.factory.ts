import 'reflect-metadata';
import { Agent } from './agent.client.js';
import { toModuleOptions } from './create-agent.mapper.js';
import type { CreateAgentOptions } from './create-agent.types.js';
import { JackdawModule } from './jackdaw.module.js';
import { McpRegistry } from './mcp/index.js';
import { createNestContext } from './nest-context.factory.js';
import { RunService } from './run/index.js';

/**
 * Makes an agent that can be asked from a script. The environment and `.env` are read as the server reads them. When it fails, all
 * that had begun is ended.
 * @throws AppError `CONFIG_INVALID`, `AGENT_INVALID`, `TOOL_DUPLICATE`, `EXTENSION_INVALID`, `DATABASE_LOCKED`, `MCP_SERVER_NOT_FOUND`;
 *   McpError when the server that `mcp` names cannot be connected to
 */
export async function createAgent(options: CreateAgentOptions = {}): Promise<Agent> {
  const module = JackdawModule.forRoot(toModuleOptions(options));
  const context = await createNestContext(module, options.logger ?? ['warn', 'error']);
  try {
    const { mcp } = options;
    if (mcp?.enabled) await context.get(McpRegistry, { strict: false }).get(mcp.name).offered();
    await context.get(RunService, { strict: false }).recover('own');
  } catch (error) {
    await context.close();
    throw error;
  }
  const principal = options.principal ?? { id: 'local', tenant: 'default', roles: ['admin'] };
  return new Agent(context, principal, options.agent ? options.agent.responseFormat : options.responseFormat);
}
