import 'reflect-metadata';
import { Agent } from './agent.client.js';
import { AgentApplication } from './agent-application.js';
import { toModuleOptions } from './create-agent.mapper.js';
import type { CreateAgentOptions } from './create-agent.types.js';
import { JackdawModule } from '../jackdaw.module.js';
import { createNestContext } from './nest-context.factory.js';

/**
 * Creates an agent for a script. It reads the environment, where Jackdaw's own variables have the prefix `JACKDAW_`. If it
 * fails, it shuts down everything that it started.
 * @throws AppError `CONFIG_INVALID`, `AGENT_INVALID`, `TOOL_DUPLICATE`, `EXTENSION_INVALID`, `DATABASE_LOCKED`,
 *   `MCP_SERVER_NOT_FOUND`; McpError if the connection to the server that `mcp` names fails
 */
export async function createAgent(options: CreateAgentOptions = {}): Promise<Agent> {
  const module = JackdawModule.forRoot(toModuleOptions(options));
  const context = await createNestContext(module, options.logger);
  const application = new AgentApplication(context);
  try {
    const { mcp } = options;
    if (mcp?.enabled) await application.services.mcpRegistry.get(mcp.name).offered();
    await application.runs.recover('own');
  } catch (error) {
    await context.close();
    throw error;
  }
  const principal = options.principal ?? { id: 'local', tenant: 'default', roles: ['admin'] };
  const { agent, onIterationLimit } = options;
  const responseFormat = agent ? agent.responseFormat : options.responseFormat;
  return new Agent(application, principal, { responseFormat, onIterationLimit });
}
