import type { Agent } from './agent.client.js';
import { createAgent } from './agent.factory.js';
import type { CreateAgentOptions } from './create-agent.types.js';

type Given<Key extends keyof CreateAgentOptions> = NonNullable<CreateAgentOptions[Key]>;

/**
 * An agent, described step by step; every step gives a new builder, so that one may be the beginning of several.
 *
 *     const agent = await new AgentBuilder().withLlm('openai', key, 'gpt-4o').withMaxIterations(20).build();
 */
export class AgentBuilder {
  constructor(private readonly options: CreateAgentOptions = {}) {}

  /** The agent as one, such as `parseAgent` gives it. */
  withAgent(agent: Given<'agent'>): AgentBuilder {
    return this.with({ agent });
  }

  withName(name: string): AgentBuilder {
    return this.with({ name });
  }

  /** @param apiType as in `LLM_PROVIDER` @param apiUrl the provider's own address when left out */
  withLlm(apiType: string, apiKey?: string, model?: string, apiUrl?: string): AgentBuilder {
    const llm = { apiType, apiKey, ...(model !== undefined && { model }), ...(apiUrl !== undefined && { apiUrl }) };
    return this.with({ llm });
  }

  /** What of the model is not as the environment says. */
  withModel(model: Given<'model'>): AgentBuilder {
    return this.with({ model });
  }

  /** A model of one's own; takes the place of every provider. */
  withChatModel(chatModel: Given<'chatModel'>): AgentBuilder {
    return this.with({ chatModel });
  }

  withSystemPrompt(prompt: string): AgentBuilder {
    return this.with({ prompt });
  }

  /** Model calls a run may make. */
  withMaxIterations(maxIterations: number): AgentBuilder {
    return this.withLimits({ maxIterations });
  }

  /** They come to those that are there. */
  withLimits(limits: Given<'limits'>): AgentBuilder {
    return this.with({ limits: { ...this.options.limits, ...limits } });
  }

  /** Providers with `@Tool` methods, to those that are there. */
  withTools(...tools: Given<'tools'>): AgentBuilder {
    return this.with({ tools: [...(this.options.tools ?? []), ...tools] });
  }

  withBuiltinTools(builtinTools = true): AgentBuilder {
    return this.with({ builtinTools });
  }

  /** To those that are there. */
  withExtensions(...extensions: Given<'extensions'>): AgentBuilder {
    return this.with({ extensions: [...(this.options.extensions ?? []), ...extensions] });
  }

  /** The tools of a declared MCP server. */
  withMcp(name: string): AgentBuilder {
    return this.with({ mcp: { enabled: true, name } });
  }

  withMemory(memory: Given<'memory'>): AgentBuilder {
    return this.with({ memory });
  }

  withResponseFormat(responseFormat: Given<'responseFormat'>): AgentBuilder {
    return this.with({ responseFormat });
  }

  /** What it may spend. */
  withBudgets(budgets: Given<'budgets'>): AgentBuilder {
    return this.with({ budgets });
  }

  /** What it may not do, beside what the security policy says. */
  withGuardrails(guardrails: Given<'guardrails'>): AgentBuilder {
    return this.with({ guardrails });
  }

  /** Tools of which every call needs a person, to those that are there. */
  withApprovals(...approvals: Given<'approvals'>): AgentBuilder {
    return this.with({ approvals: [...(this.options.approvals ?? []), ...approvals] });
  }

  withSecurityPolicy(securityPolicy: Given<'securityPolicy'>): AgentBuilder {
    return this.with({ securityPolicy });
  }

  /** Who asks. */
  withPrincipal(principal: Given<'principal'>): AgentBuilder {
    return this.with({ principal });
  }

  withLogger(logger: Given<'logger'>): AgentBuilder {
    return this.with({ logger });
  }

  /** Hears everything that runs record. */
  withTelemetry(telemetry: Given<'telemetry'>): AgentBuilder {
    return this.with({ telemetry });
  }

  /** Variables that win over the environment, to those that are there. */
  withEnv(env: Given<'env'>): AgentBuilder {
    return this.with({ env: { ...this.options.env, ...env } });
  }

  /** @throws AppError as `createAgent` */
  build(): Promise<Agent> {
    return createAgent(this.options);
  }

  private with(more: CreateAgentOptions): AgentBuilder {
    return new AgentBuilder({ ...this.options, ...more });
  }
}
