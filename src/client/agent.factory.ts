import 'reflect-metadata';
import { Agent, type AgentBehaviour } from './agent.client.js';
import { AgentApplication } from './agent-application.js';
import { toModuleOptions } from './create-agent.mapper.js';
import { AgentLog } from '../errors/index.js';
import type { CreateAgentOptions } from './create-agent.types.js';
import type { Principal } from '../kernel/index.js';
import { JackdawModule } from '../jackdaw.module.js';
import { createNestContext } from './nest-context.factory.js';

/**
 * Creates an agent for a script. It reads the environment, where Jackdaw's own variables have the prefix `JACKDAW_`. If it
 * fails, it shuts down everything that it started.
 * @throws AppError `CONFIG_INVALID`, `AGENT_INVALID`, `TOOL_DUPLICATE`, `EXTENSION_INVALID`, `DATABASE_LOCKED`,
 *   `MCP_SERVER_NOT_FOUND`; McpError if the connection to the server that `mcp` names fails
 */
export async function createAgent(options: CreateAgentOptions = {}): Promise<Agent> {
  return new Agent(...(await openAgent(options)));
}

/** Starts the application of an agent. @returns the arguments of `Agent` @throws as `createAgent` */
export async function openAgent(
  options: CreateAgentOptions,
): Promise<readonly [AgentApplication, Principal, AgentBehaviour]> {
  const module = JackdawModule.forRoot(toModuleOptions(options));
  const log = AgentLog.open(options.logger);
  const context = await createNestContext(module).catch((error: unknown) => {
    log.close();
    throw error;
  });
  const application = new AgentApplication(context, log);
  try {
    const { mcp } = options;
    if (mcp?.enabled) await application.services.mcpRegistry.get(mcp.name).offered();
    await application.runs.recover('own');
  } catch (error) {
    await application.close();
    throw error;
  }
  const principal = options.principal ?? { id: 'local', tenant: 'default', roles: ['admin'] };
  const { agent, onIterationLimit } = options;
  const responseFormat = agent ? agent.responseFormat : options.responseFormat;
  return [application, principal, { responseFormat, onIterationLimit }];
}
