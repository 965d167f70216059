import 'reflect-metadata';
import { AgentLog } from '../errors/index.js';
import { JackdawModule } from '../jackdaw.module.js';
import type { Principal } from '../kernel/index.js';
import { AgentApplication } from './agent-application.js';
import { Agent, type AgentBehaviour } from './agent.client.js';
import { toModuleOptions } from './create-agent.mapper.js';
import type { CreateAgentOptions } from './create-agent-options.js';
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

type Given<Key extends keyof CreateAgentOptions> = NonNullable<CreateAgentOptions[Key]>;

/**
 * Builds an agent step by step. Every step returns a new builder, so one builder can be the base of several agents.
 *
 *     const agent = await new AgentBuilder().withLlm('openai', key, 'gpt-4o').withMaxIterations(20).build();
 */
export class AgentBuilder {
  constructor(private readonly options: CreateAgentOptions = {}) {}

  /** Sets the whole agent definition, such as the result of `parseAgent`. */
  withAgent(agent: Given<'agent'>): AgentBuilder {
    return this.with({ agent });
  }

  withName(name: string): AgentBuilder {
    return this.with({ name });
  }

  /** @param apiType as in `LLM_PROVIDER` @param apiUrl by default the provider's own URL */
  withLlm(apiType: string, apiKey?: string, model?: string, apiUrl?: string): AgentBuilder {
    const llm = { apiType, apiKey, ...(model !== undefined && { model }), ...(apiUrl !== undefined && { apiUrl }) };
    return this.with({ llm });
  }

  /** Model settings that differ from the environment. */
  withModel(model: Given<'model'>): AgentBuilder {
    return this.with({ model });
  }

  /** A custom chat model; replaces every provider. */
  withChatModel(chatModel: Given<'chatModel'>): AgentBuilder {
    return this.with({ chatModel });
  }

  withSystemPrompt(prompt: string): AgentBuilder {
    return this.with({ prompt });
  }

  /** Maximum number of model calls in a run. */
  withMaxIterations(maxIterations: number): AgentBuilder {
    return this.withLimits({ maxIterations });
  }

  /** What `chat` does at the limit of iterations: returns the incomplete answer, or throws an `IterationLimitError`. */
  onIterationLimit(onIterationLimit: Given<'onIterationLimit'>): AgentBuilder {
    return this.with({ onIterationLimit });
  }

  /** Merges limits into the present ones. */
  withLimits(limits: Given<'limits'>): AgentBuilder {
    return this.with({ limits: { ...this.options.limits, ...limits } });
  }

  /** Adds providers with `@Tool` methods. */
  withTools(...tools: Given<'tools'>): AgentBuilder {
    return this.with({ tools: [...(this.options.tools ?? []), ...tools] });
  }

  withBuiltinTools(builtinTools: CreateAgentOptions['builtinTools'] = true): AgentBuilder {
    return this.with({ builtinTools });
  }

  /** Adds extensions. */
  withExtensions(...extensions: Given<'extensions'>): AgentBuilder {
    return this.with({ extensions: [...(this.options.extensions ?? []), ...extensions] });
  }

  /** Uses the tools of a declared MCP server. */
  withMcp(name: string): AgentBuilder {
    return this.with({ mcp: { enabled: true, name } });
  }

  withMemory(memory: Given<'memory'>): AgentBuilder {
    return this.with({ memory });
  }

  withResponseFormat(responseFormat: Given<'responseFormat'>): AgentBuilder {
    return this.with({ responseFormat });
  }

  /** Sets spending limits. */
  withBudgets(budgets: Given<'budgets'>): AgentBuilder {
    return this.with({ budgets });
  }

  /** Sets restrictions in addition to the security policy. */
  withGuardrails(guardrails: Given<'guardrails'>): AgentBuilder {
    return this.with({ guardrails });
  }

  /** Adds names of tools whose calls all need approval. */
  withApprovals(...approvals: Given<'approvals'>): AgentBuilder {
    return this.with({ approvals: [...(this.options.approvals ?? []), ...approvals] });
  }

  /** Adds names of skills; `*` matches any characters. @param skillsDir the folder of the skills */
  withSkills(skillsDir: Given<'skillsDir'>, ...skills: Given<'skills'>): AgentBuilder {
    return this.with({ skillsDir, ...(skills.length > 0 && { skills }) });
  }

  withSecurityPolicy(securityPolicy: Given<'securityPolicy'>): AgentBuilder {
    return this.with({ securityPolicy });
  }

  /** Sets the principal of the agent's requests. */
  withPrincipal(principal: Given<'principal'>): AgentBuilder {
    return this.with({ principal });
  }

  withLogger(logger: Given<'logger'>): AgentBuilder {
    return this.with({ logger });
  }

  /** Sets a listener for everything that runs record. */
  withTelemetry(telemetry: Given<'telemetry'>): AgentBuilder {
    return this.with({ telemetry });
  }

  /** Merges variables that override the environment. */
  withConfig(config: Given<'config'>): AgentBuilder {
    return this.with({ config: { ...this.options.config, ...config } });
  }

  /** @deprecated The former name of `withConfig`. */
  withEnv(env: Given<'config'>): AgentBuilder {
    return this.withConfig(env);
  }

  /** @throws AppError as `createAgent` */
  build(): Promise<Agent> {
    return createAgent(this.options);
  }

  private with(more: CreateAgentOptions): AgentBuilder {
    return new AgentBuilder({ ...this.options, ...more });
  }
}
